import Foundation
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

private enum CheckoutError: Error {
    case soldOut
    case rejected(reason: String)
    case network(URLError)
    case store(attempt: Int, underlying: any Error)
}

/// The enum in another version of the app: one case got a payload, and Swift renumbers all of them.
private enum Renumbered {
    enum CheckoutError: Error, CustomNSError {
        case rejected(reason: String)
        case soldOut(sku: String)
        static var errorDomain: String { "Shop.CheckoutError" }
    }
}

private struct Hidden: Error {}

private enum Said: Error, RecordableError {
    case declined(String)
    static var recordedDomain: String { "bank" }
    var recordedCode: Int { 51 }
    var recordedName: String? { "declined by the bank" }
    var recordedUnderlying: (any Error)? { nil }
}

private enum ByDefault: Error, RecordableError {
    case offline(URLError)
}

private enum Described: Error, CustomStringConvertible {
    case plain, loaded(Int)
    var description: String { "card 4711 of Ada" }
}

private enum Worded: LocalizedError, CustomNSError {
    case empty
    static var errorDomain: String { "Bank" }
    var errorCode: Int { 7 }
    var errorDescription: String? { "The account is empty." }
}

private final class Behind: NSError, @unchecked Sendable {
    override var userInfo: [String: Any] { [NSUnderlyingErrorKey: self] }
}

/// The record of an error, which lets people count errors and not the cases of an enum. Breaks when an update of the
/// app or a new launch puts the same error into another group, or when the underlying error is missing.
@Suite(.timeLimit(.minutes(5))) struct ErrorIdentityTests {
    private func recorded(_ error: any Error, text: Bool = false) -> RecordedError {
        RecordedError(error, includingText: text)
    }

    @Test func aCaseIsRecordedByItsNameWithoutItsPayload() {
        #expect(recorded(CheckoutError.soldOut).name == "soldOut")
        let rejected = recorded(CheckoutError.rejected(reason: "card of Ada Lovelace"))
        #expect(rejected.name == "rejected")
        #expect(!"\(rejected)".contains("Ada"))
    }

    @Test func aPrivateOrLocalTypeHasTheSameDomainAtEveryLaunch() {
        enum Local: Error { case here }
        #expect(recorded(Hidden()).domain == "WaybillTests.Hidden")
        #expect(recorded(CheckoutError.soldOut).domain == "WaybillTests.CheckoutError")
        #expect(recorded(Local.here).domain.hasSuffix("Local"))
        for error in [Hidden(), Local.here, CheckoutError.soldOut] as [any Error] {
            #expect(!recorded(error).domain.contains("$"), "an address is another one at every launch")
            #expect(!recorded(error).domain.contains("context"))
        }
    }

    @Test func theErrorsBehindItAreRecordedAndNoMoreThanFour() {
        let timedOut = URLError(.timedOut)
        let expected = RecordedError.Underlying(domain: NSURLErrorDomain, code: -1001)
        #expect(recorded(CheckoutError.network(timedOut)).underlying == [expected])
        #expect(
            recorded(CheckoutError.store(attempt: 2, underlying: CheckoutError.network(timedOut))).underlying.map(
                \.name)
                == ["network", nil])
        let disk = NSError(domain: "Disk", code: 28)
        let wrapped = NSError(domain: "Store", code: 1, userInfo: [NSUnderlyingErrorKey: disk])
        #expect(recorded(wrapped).underlying == [.init(domain: "Disk", code: 28)])
        let chain = (1...6).reduce(disk) {
            NSError(domain: "Layer", code: $1, userInfo: [NSUnderlyingErrorKey: $0])
        }
        #expect(recorded(chain).underlying.map(\.code) == [5, 4, 3, 2])
        #expect(recorded(Behind(domain: "Circle", code: 1)).underlying == [], "an error that stands behind itself")
    }

    @Test func aTypeSaysItsOwnDomainCodeAndName() {
        #expect(
            recorded(Said.declined("4111")) == RecordedError(domain: "bank", code: 51, name: "declined by the bank"))
        let offline = recorded(ByDefault.offline(URLError(.notConnectedToInternet)))
        #expect(offline.domain == "WaybillTests.ByDefault" && offline.name == "offline" && offline.code == 0)
        #expect(offline.underlying == [.init(domain: NSURLErrorDomain, code: -1009)])
    }

    @Test func whatATypeSaysToFoundationIsRespected() {
        #expect(recorded(Worded.empty) == RecordedError(domain: "Bank", code: 7, name: "empty"))
        #expect(recorded(Worded.empty, text: true).text == "The account is empty.")
        let said = NSError(domain: "Bank", code: 7, userInfo: [NSLocalizedDescriptionKey: "closed"])
        #expect(recorded(said, text: true).text == "closed")
        #expect(recorded(CheckoutError.soldOut, text: true).text == "soldOut")
    }

    @Test func aDescriptionOfTheAppsOwnIsNoName() {
        #expect(recorded(Described.plain).name == nil, "it may say what is no name, and what nobody may see")
        #expect(recorded(Described.loaded(1)).name == "loaded")
    }

    @Test func namesAreRedactedAndCutAsTheyAreRecorded() throws {
        let transactions = TransactionManager.testing()
        let login = transactions.begin(Login.self)
        let secret = "Bearer abcdefgh"
        login.log(
            .initiated,
            error: RecordedError(
                domain: "D", code: 1, name: secret,
                underlying: Array(repeating: .init(domain: secret, code: 1, name: secret), count: 9)))
        login.finish(.failed, error: RecordedError(code: 1, name: String(repeating: "n", count: 1_000)))
        let record = try #require(transactions.transactions(Login.self).first)
        let error = try #require(record.timeline.first { $0.kind == .event }?.error)
        #expect(!"\(error)".contains("abcdefgh"))
        #expect(error.underlying.count == 4)
        #expect(record.summary.error?.name?.count == 256)
    }

    @Test func anErrorOfTwoVersionsOfTheAppIsOneGroup() async throws {
        let transactions = TransactionManager.testing()
        let domain = "Shop.CheckoutError"
        transactions.begin(Login.self).finish(.failed, error: RecordedError(domain: domain, code: 3, name: "rejected"))
        let renumbered = Renumbered.CheckoutError.rejected(reason: "")
        #expect(throws: Renumbered.CheckoutError.self) {
            try transactions.perform(Login.self) { _ in throw renumbered }
        }
        transactions.begin(Login.self).finish(.failed, error: RecordedError(domain: domain, code: 3))
        let errors = try #require(try await transactions.answer(SummaryQuestion()).useCases.first).errors
        #expect(errors.map(\.name) == ["rejected", nil])
        #expect(errors.map(\.count) == [2, 1], "an error without a name stays a group by its number")
    }

    @Test(
        arguments: [
            ("rejected", 1), ("CheckoutError", 2), (#""WaybillTests.CheckoutError rejected""#, 1),
            (#""NSURLErrorDomain -1001""#, 1), ("-1001", 1), ("*", 2), ("absent", 0),
        ])
    func aFilterFindsNameDomainAndWhatIsBehind(pattern: String, count: Int) async throws {
        let transactions = TransactionManager.testing()
        transactions.begin(Login.self).finish(.failed, error: CheckoutError.rejected(reason: "x"))
        transactions.begin(Login.self).finish(.failed, error: CheckoutError.network(URLError(.timedOut)))
        let filter: TransactionFilter = try FilterExpression("error:\(pattern)").filter(names: [], now: 0)
        #expect(try await transactions.transactions(matching: filter).page().rows.count == count)
    }
}
