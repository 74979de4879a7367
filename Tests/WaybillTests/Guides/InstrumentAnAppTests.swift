import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

private enum Checkout: Int, UseCase {
    static let code = 4
    case itemAdded = 0
    case paymentTried = 1
}

private struct PaymentError: Error {
    var status: Int
    var isFinal: Bool
}

extension PaymentError: RecordableError {
    static var recordedDomain: String { "payment" }
    var recordedCode: Int { status }
    var recordedName: String? { isFinal ? "declined" : "postponed" }
}

private struct Money {
    var amount: Decimal
    var currency: String
}

extension Money: AttributeConvertible {
    var attributeValue: AttributeValue? { .string("\(amount) \(currency)") }
}

private struct Account {
    var id = "u-4711"
    var tenant = "acme"
}

private struct Coupon { var code = "SUMMER" }

/// The snippets of the guide for app developers, compiled and run as they appear there.
@Suite(.timeLimit(.minutes(5))) struct InstrumentAnAppTests {
    enum Plan: String, AttributeConvertible { case free, paid }

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func knowingWhatSurvives() async throws {
        let transactions = TransactionManager(store: .directory(folder.url))
        let purchase = transactions.begin(Purchase.self)
        purchase.finish()
        try await transactions.sync()
        let next = transactions.begin(Purchase.self)
        #expect(next.log(Purchase.allCases[0]) == .journaled, "once there is a journal")
        #expect(transactions.health.isGood)
    }

    private enum Launch: String, UseCase { case processStarted, imageDecoded }
    private enum Upload: String, UseCase {
        case initiated, requestSent, responseReceived
    }

    @Test func whatHappenedBeforeOrElsewhere() throws {
        let transactions = TransactionManager.testing()
        let launch = transactions.begin(Launch.self)
        let (processStart, start, end, count) = (Date.distantPast, Date(timeIntervalSince1970: 0), Date.now, 7)
        launch.log(.processStarted, at: processStart)
        launch.record(.imageDecoded, from: start, to: end)
        transactions.record(Upload.self, from: start, to: end, attributes: ["bytes": count])
        let (firstAttempt, upload) = (transactions.begin(Upload.self), transactions.begin(Upload.self))
        upload.link(to: firstAttempt.id, as: "retry of")
        #expect(try transactions.last(Launch.self)?.events.map(\.event) == [.processStarted, .imageDecoded])
        let uploads = try transactions.transactions(Upload.self)
        #expect(uploads.map(\.summary.outcome) == [.succeeded, .open, .open])
        #expect(uploads.last?.links.map(\.transaction) == [firstAttempt.id])
    }

    /// Breaks when a screen's transaction does not end with its handle.
    @Test func aHandleOfAScreen() throws {
        let transactions = TransactionManager.testing()
        do {
            let login = transactions.begin(Login.self)
            login.log(.initiated)
            login.finish()
        }
        #expect(try transactions.last(Login.self)?.outcome == .succeeded)
        _ = transactions.begin(Login.self)
        #expect(try transactions.last(Login.self)?.outcome == .abandoned)
    }

    @Test func anErrorIsRecorded() throws {
        let transactions = TransactionManager.testing()
        enum CheckoutError: Error {
            case soldOut
            case rejected(reason: String)
            case network(URLError)
        }

        let checkout = transactions.begin(Checkout.self)
        checkout.log(.paymentTried, error: CheckoutError.rejected(reason: "limit of card reached"))
        checkout.finish(.failed, error: CheckoutError.network(URLError(.timedOut)))
        let record = try #require(transactions.transactions(Checkout.self).first)
        let tried = try #require(record.timeline.first { $0.kind == .event }?.error)
        #expect(tried.name == "rejected" && tried.code == 0 && tried.text == nil)
        let outcome = try #require(record.summary.error)
        #expect(outcome.name == "network" && outcome.code == 1)
        #expect(outcome.underlying == [.init(domain: "NSURLErrorDomain", code: -1001)])
    }

    @Test func aTypeSaysWhatIsRecorded() throws {
        let transactions = TransactionManager.testing()
        transactions.begin(Checkout.self).finish(.failed, error: PaymentError(status: 51, isFinal: true))
        #expect(
            try transactions.transactions(Checkout.self).first?.summary.error
                == RecordedError(domain: "payment", code: 51, name: "declined"))
    }

    @Test func variablesAreAttributes() throws {
        let transactions = TransactionManager.testing()
        let (sku, attempt, price, coupon) = ("A-1", 2, 9.5, nil as Coupon?)
        let checkout = transactions.begin(Checkout.self)
        checkout.log(.itemAdded, attributes: ["sku": sku, "attempt": attempt, "price": price, "coupon": coupon?.code])
        let labels = ["color": "red"]
        var attributes = Attributes(labels)  // [String: String]
        attributes["attempt"] = attempt
        checkout.log(.itemAdded, attributes)
        checkout.log(.itemAdded, attributes: ["plan": Plan.paid, "sum": Money(amount: 3, currency: "EUR")])
        let record = try #require(transactions.transactions(Checkout.self).first)
        #expect(
            record.timeline.filter { $0.kind == .event }.map(\.attributes)
                == [
                    ["sku": "A-1", "attempt": 2, "price": 9.5], ["color": "red", "attempt": 2],
                    ["plan": "paid", "sum": "3 EUR"],
                ])
    }

    @Test func whatIsTrueFromNowOn() throws {
        let transactions = TransactionManager.testing()
        let account = Account()
        transactions.context.setUser(account.id)  // hashed
        transactions.context.set(account.tenant, forKey: "tenant")
        transactions.context.set("beta", forKey: "channel", remembered: true)  // later launches have it, too
        transactions.context.remove("tenant")
        #expect(transactions.context.attributes.keys.sorted() == ["channel", "user"])
        transactions.exposed("layout", "B")
        let checkout = transactions.begin(Checkout.self)
        transactions.feedback("Card refused", about: checkout)
        let record = try #require(transactions.transactions(Checkout.self).first)
        #expect(record.summary.attributes["flag.layout"] == "B" && record.timeline.last?.label == "feedback")
    }

    @Test func afterTheBeginning() throws {
        let transactions = TransactionManager.testing()
        let (coupon, basket, isExpress) = (Coupon(), [1, 2], true)
        let checkout = transactions.begin(Checkout.self)
        checkout.set(coupon.code, forKey: "coupon")
        checkout.set(["items": basket.count, "express": isExpress])
        checkout.set(nil, forKey: "coupon")
        let record = try #require(transactions.transactions(Checkout.self).first)
        #expect(record.summary.attributes == ["items": 2, "express": true])
    }

    @Test func limitingIt() {
        var options = TransactionManager.Options()
        options.retention.maximumByteCount = 16 << 20
        options.retention.maximumAge = .seconds(7 * 86_400)
        options.retention.maximumTransactionCount = 1_000
        #expect(options.retention.maximumByteCount == 16_777_216 && options.retention.maximumAge == .seconds(604_800))
        options.retention = .thisLaunchOnly
        #expect(options.retention.isForThisLaunchOnly && options.retention.maximumByteCount == 64 << 20)
    }

    @Test func knowingWhyItDied() async throws {
        var options = TransactionManager.Options()
        #expect(!options.catchesSignals, "handlers belong to the whole process")
        options.catchesSignals = true
        // A store in memory has no journal, and sets no handlers.
        let transactions = TransactionManager(store: .inMemory) { $0 = options }
        transactions.perform(Login.self) { _ in }
        #expect(try await transactions.transactions().page().rows.first?.endedBy == nil)
    }

    @Test func keepingItOutAndSteeringIt() {
        func make() -> TransactionManager {
            let transactions = TransactionManager.isDebugBuild ? TransactionManager(store: .inMemory) : .disabled
            return transactions
        }
        #expect(make().recording == (TransactionManager.isDebugBuild ? .on : .off))
        #expect(
            TransactionManager(store: .inMemory) { options in
                options.obeysLaunchSettings = true
            }.recording == .on)
    }

    @Test func looking() async throws {
        let transactions = TransactionManager.testing()
        let login = transactions.begin(Login.self)
        login.log(.initiated)
        login.finish(.failed)
        let filter = TransactionFilter(useCase: Login.self, outcomes: [.failed])
        let page = try await transactions.transactions(matching: filter).page(limit: 20)
        let more = try await transactions.transactions(matching: filter).page(limit: 20, after: page.next)
        var shown: [TransactionSummary] = []
        func show(_ login: TransactionSummary) { shown.append(login) }
        for try await login in transactions.transactions(matching: filter) { show(login) }
        #expect(shown == page.rows)
        #expect(page.rows.map(\.id) == [login.id])
        #expect(page.next == nil && more.rows == page.rows)
        let record = try await transactions.transaction(login.id)
        let counts = try await transactions.counts  // open, failed, pending
        #expect(record?.timeline.count == 3)
        #expect(counts == TransactionCounts(open: 0, failed: 1, pending: 3))
    }

    @Test func aBadgeThatStaysUpToDate() async {
        let transactions = TransactionManager.testing()
        transactions.begin(Login.self).finish(.failed)
        var badge = ""
        for await state in transactions.live {
            badge = "\(state.counts.failed)"
            if badge == "1" { break }
        }
        #expect(badge == "1")
    }

    @Test func aScreenThatStaysUpToDate() async throws {
        let shown = Gate()
        let reader: Task<Int, any Error>
        do {
            let transactions = TransactionManager.testing()
            reader = Task { [weak transactions] in
                guard let transactions else { return 0 }
                let changes = transactions.changes
                var rows = try await transactions.transactions().page().rows
                shown.open()
                for await _ in changes {
                    rows = try await transactions.transactions().page().rows
                    if rows.count == 3 { break }
                }
                return rows.count
            }
            await shown.opened()
            for _ in 0..<3 {
                transactions.perform(Login.self) { _ in }
                try await transactions.sync()
            }
        }
        #expect(try await reader.value == 3)
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        let here = URL(filePath: #filePath)
        let others = ["ReadmeTests.swift", "UseCases.swift"].map { name in
            here.appending(path: "../../\(name)").standardizedFileURL
        }
        // In a test the store is elsewhere.
        let elsewhere = "? TransactionManager(store: .default) : .disabled"
        let untested = try Guide.linesOfSnippets("InstrumentAnApp.md", notIn: [here] + others)
        #expect(untested.filter { !$0.contains(elsewhere) } == [])
    }
}
