import Testing
import WaybillCore

@testable import WaybillQueries

/// Lists from a third-party server.
@Suite(.timeLimit(.minutes(5))) struct PageCountTests {
    private func pages(of rows: Int, _ cursor: (Int) -> String?) throws(WaybillError) -> Int {
        var pages = PageCount()
        for number in 1...100_000 {
            let page = RecordPage(rows: Array(repeating: 0, count: rows), next: cursor(number))
            guard try pages.next(after: page) != nil else { return number }
        }
        return .max
    }

    @Test func aListThatEndsIsReadToItsEnd() throws {
        #expect(try pages(of: ListRequest.limits.upperBound) { $0 == 1_500 ? nil : "\($0)" } == 1_500)
        #expect(try pages(of: 3) { $0 == 900 ? nil : "\($0)" } == 900, "A search gives short pages.")
    }

    /// Breaks when `verify URL` runs forever, and with it a script that waits for it.
    @Test(arguments: [0, 1, 500]) func aListThatNeverEndsIsGivenUp(rows: Int) {
        #expect(throws: WaybillError.self) { try pages(of: rows) { "\($0)" } }
        #expect(throws: WaybillError.self) { try pages(of: rows) { _ in "the same" } }
    }

    /// Breaks when anybody who sends sets can make one lookup return megabytes.
    @Test func ofManyTransactionsWithOneCodeAFewAreNamed() {
        let ids = (0..<30).map { GUID(high: UInt64($0), low: 7) }
        let failure = QueryFailure.ambiguous(SupportCode(ids[0]), Array(ids.prefix(QueryFailure.namedTransactions + 1)))
        #expect(failure.description.hasPrefix("More than 20 transactions share the support code"))
        #expect(failure.description.contains("\(ids[19])") && !failure.description.contains("\(ids[20])"))
        let few = QueryFailure.ambiguous(SupportCode(ids[0]), Array(ids.prefix(2)))
        #expect(few.description.hasPrefix("2 transactions share"))
    }
}
