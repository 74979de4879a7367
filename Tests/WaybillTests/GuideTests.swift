import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

/// The snippets of the guide for app developers, compiled and run as they stand there.
@Suite(.timeLimit(.minutes(5))) struct GuideTests {
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

    @Test func askingFirst() async throws {
        func make() -> TransactionManager {
            let transactions = TransactionManager(store: .directory(folder.url)) { options in
                options.recording = .off
                options.remembersRecording = true
                options.offErasesPending = true
            }
            return transactions
        }
        let transactions = make()
        #expect(transactions.begin(Login.self).log(.initiated) == .off)
        transactions.recording = .on
        transactions.perform(Login.self) { _ in }
        try await transactions.sync()
        #expect(make().recording == .on)
        transactions.recording = .off
        try await transactions.sync()
        #expect(make().recording == .off)
        #expect(try await transactions.transactions().page().rows.isEmpty)
    }

    private enum Checkout: Int, UseCase {
        static let code = 20
        case paid = 0
    }
    private enum Payment: Int, UseCase {
        static let code = 21
        case authorized = 0
    }
    private enum Sync: Int, UseCase {
        static let code = 22
        case done = 0
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

    @Test func beginningOneBelowAnother() async throws {
        let transactions = TransactionManager.testing()
        let order = GUID()
        func authorize(_ order: GUID) async throws {}
        try await transactions.perform(Checkout.self) { checkout in
            try await transactions.perform(Payment.self) { payment in
                try await authorize(order)
                payment.log(.authorized)
            }
        }
        let first = try #require(transactions.transactions(Checkout.self).first)
        #expect(try transactions.transactions(Payment.self).map(\.summary.parent) == [first.summary.id])
        let checkout = transactions.begin(Checkout.self)
        let payment = transactions.begin(Payment.self, parent: .transaction(checkout))
        let sync = transactions.begin(Sync.self, parent: nil)
        payment.finish()
        sync.finish()
        #expect(try transactions.transactions(Payment.self).last?.summary.parent == checkout.id)
        #expect(try transactions.transactions(Sync.self).first?.summary.parent == nil)
    }

    @Test func limitingIt() {
        var options = TransactionManager.Options()
        options.retention.maximumBytes = 16 << 20
        options.retention.maximumAge = .seconds(7 * 86_400)
        options.retention.maximumTransactions = 1_000
        #expect(options.retention.maximumBytes == 16_777_216 && options.retention.maximumAge == .seconds(604_800))
        options.retention = .thisLaunchOnly
        #expect(options.retention.isForThisLaunchOnly && options.retention.maximumBytes == 64 << 20)
    }

    @Test func knowingWhyItDied() async throws {
        var options = TransactionManager.Options()
        #expect(!options.catchesSignals, "handlers belong to the whole process")
        options.catchesSignals = true
        // A store in memory has no journal, and sets no handlers.
        let transactions = TransactionManager(store: .inMemory) { $0 = options }
        transactions.perform(Login.self) { _ in }
        #expect(try await transactions.transactions().page().rows.first?.endedBy == nil)
        try await transactions.erase(.networkLogs)
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

    @Test func namesOfYourOwn() throws {
        let transactions = TransactionManager.testing { options in
            options.privacy.additionalSecretNames = ["customer-number"]
            options.privacy.visibleNames = ["code"]
            options.sourceAttributes = ["environment": "staging"]
        }
        transactions.perform(Login.self, attributes: ["Customer_Number": 4711, "code": "ac4e8b21"]) { _ in }
        #expect(
            try transactions.transactions(Login.self).first?.summary.attributes
                == ["Customer_Number": "[redacted]", "code": "ac4e8b21"])
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
        let counts = try await transactions.summary  // open, failed, pending
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

    @Test func clearing() async throws {
        let transactions = TransactionManager.testing()
        let login = transactions.begin(Login.self)
        transactions.perform(Purchase.self) { _ in }
        try await transactions.erase(.ids([login.id]))
        #expect(try await transactions.transactions().page().rows.count == 1)
        try await transactions.erase(.before(.now - 86_400))
        try await transactions.erase(.installation)
        #expect(try await transactions.transactions().page().rows.isEmpty)
        try await transactions.erase(.all)
        try await transactions.resetInstallation()
        #expect(transactions.health.isGood)
    }

    /// Broken, the guide would show what nobody has compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        let here = URL(filePath: #filePath)
        let root = here.appending(path: "../../..").standardizedFileURL
        let guide = try String(
            contentsOf: root.appending(path: "Sources/Waybill/Waybill.docc/InstrumentAnApp.md"), encoding: .utf8)
        // The first three sections show the README's sample, which ReadmeTests has, but for what stands in this.
        let below = try #require(guide.range(of: "### Begin one below another")).lowerBound
        let delivery = try #require(guide.range(of: "## Deliver it")).lowerBound
        let start = try #require(guide.range(of: "## Ask first")).lowerBound
        let end = try #require(guide.range(of: "## Test it")).lowerBound
        let tested = Set(
            try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        // "Test it" shows what the guide for Apple platforms has.
        let last = try #require(guide.range(of: "## What is kept of errors and secrets")).lowerBound
        let snippets = [guide[below..<delivery], guide[start..<end], guide[last...]].flatMap { part in
            part.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }
        #expect(snippets.count == 21)
        for line in snippets.flatMap({ $0.split(separator: "\n").dropFirst() }) {
            // In a test the store lies elsewhere.
            let code = line.trimmingCharacters(in: .whitespaces)
            let candidates = ["directory(folder.url)", "inMemory"].map { code.replacing(".default", with: ".\($0)") }
            #expect(candidates.contains { tested.contains($0) }, "\(code)")
        }
    }
}
