import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 1
}

/// The samples of Look.md about filters and records, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct LookGuideTests {
    @Test func finding() async throws {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(clock: clock)
        let login = transactions.begin(Login.self)
        login.log(.requestSent)
        clock.advance(by: .seconds(3))
        login.finish(.failed)
        var printed: [String] = []
        func print(_ items: any CustomStringConvertible...) {
            printed.append(items.map(\.description).joined(separator: " "))
        }

        let page = try await transactions.transactions(matching: "outcome:failed took>2s sort:longest").page()
        for transaction in page.rows { print(transaction.useCaseName, transaction.id.supportCode) }
        #expect(printed == page.rows.map { "login \($0.id.supportCode)" } && printed.count == 1)

        // for reports, exports and answers
        let filter = try await transactions.filter(parsing: "outcome:failed event:requestSent")
        #expect(try await transactions.transactions(matching: filter).page().rows == page.rows)
        // for lists and exports of exchanges
        let failing = try await transactions.exchangeFilter(parsing: "host:example.com status:5xx took>1s")
        #expect(try await transactions.exchanges(matching: failing).rows.isEmpty)
    }

    @Test func theSampleReadsATransactionOfOneSource() async throws {
        let transactions = TransactionManager.testing()
        let login = transactions.begin(useCase: 0)
        login.finish()
        let id = login.id
        guard let record = try await transactions.transaction(id) else { return }
        for entry in record.aligned.timeline { print(entry.time, entry.label) }
        for offset in record.clocks?.offsets ?? [] { print(offset.source, offset.duration, offset.uncertainty) }
        #expect(record.aligned == record && record.clocks == nil)
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsTheSamplesThatAreTested() throws {
        let here = URL(filePath: #filePath)
        // The collector's routes and the inspector's controls have their own tests.
        let shown = try GuideSamples("Look.md").samples.filter { $0.contains("transactions.transaction") }
        #expect(shown.count == 2)
        #expect(try GuideSamples.lines(of: shown, notIn: here) == [])
    }
}

/// The Swift samples of a DocC guide in this checkout.
struct GuideSamples {
    let samples: [String]

    init(_ guide: String) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Waybill/Waybill.docc/\(guide)")
        let text = try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
        samples = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    /// Returns the lines of samples that a file lacks, ignoring whitespace.
    static func lines(of samples: [String], notIn file: URL) throws -> [String] {
        let tested = try String(contentsOf: file, encoding: .utf8).filter { !$0.isWhitespace }
        return samples.flatMap { $0.components(separatedBy: "\n") }.filter { line in
            let code = line.components(separatedBy: "  //")[0].filter { !$0.isWhitespace }
            return !code.isEmpty && !tested.contains(code)
        }
    }
}
