import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The snippets of the guide on privacy, compiled and run as they appear there.
@Suite(.timeLimit(.minutes(5))) struct PrivacyGuideTests {
    private func options() -> TransactionManager.Options {
        var options = TransactionManager.Options()
        options.willRecord = { draft in
            switch draft {
            case .event(var event):
                event.attributes["note"] = nil
                return .event(event)
            case .exchangeOpened(var request):
                guard !request.url.contains("/medical/") else { return nil }
                request.headerFields.removeAll { $0.name == "X-Device-Name" }
                return .exchangeOpened(request)
            case .body(let body) where body.request.url.contains("/chat/"):
                return nil
            default:
                return draft
            }
        }
        return options
    }

    @Test func theHookOfTheGuide() async throws {
        let folder = try TemporaryDirectory()
        do {
            let options = options()
            let transactions = TransactionManager(store: .directory(folder.url)) { $0 = options }
            #expect(transactions.health.isGood)
        }
        var options = options()
        options.network.bodies = BodyPolicy()
        let transactions = TransactionManager.testing { $0 = options }
        let login = transactions.begin(Login.self)
        login.log(.initiated, attributes: ["note": "private", "screen": "login"])
        let device = HeaderField(name: "X-Device-Name", value: "Ada's phone")
        for path in ["medical/17", "chat/1", "other"] {
            let url = try #require(URL(string: "https://api.example.com/\(path)/"))
            let exchange = transactions.openExchange(
                ExchangeRequest(url: url, headerFields: [device]), in: login)
            exchange.responded(
                ExchangeResponse(status: 200, headerFields: [.init(name: "Content-Type", value: "text/plain")]))
            exchange.received(Data("hello".utf8))
            exchange.finish()
        }
        let record = try #require(transactions.transactions(Login.self).first)
        #expect(record.timeline.first { $0.kind == .event }?.attributes == ["screen": "login"])
        #expect(record.exchanges.map { URL(string: $0.url)?.path() } == ["/chat/1/", "/other/"])
        #expect(record.exchanges.allSatisfy { $0.requestHeaderFields.isEmpty })
        var kept: [Bool] = []
        for exchange in record.exchanges {
            kept.append(try await transactions.body(of: exchange.id, .response) != nil)
        }
        #expect(kept == [false, true])
        #expect(transactions.health.withheld == 2)
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

    @Test func askingFirst() async throws {
        let folder = try TemporaryDirectory()
        func make() -> TransactionManager {
            let transactions = TransactionManager(store: .directory(folder.url)) { options in
                options.recording = .off
                options.remembersRecording = true
                options.erasesPendingWhenOff = true
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

    @Test func clearing() async throws {
        let transactions = TransactionManager.testing()
        let login = transactions.begin(Login.self)
        transactions.perform(Purchase.self) { _ in }
        try await transactions.erase(.ids([login.id]))
        #expect(try await transactions.transactions().page().rows.count == 1)
        try await transactions.erase(.before(.now - 86_400))
        try await transactions.erase(.networkLogs)
        try await transactions.erase(.installation)
        #expect(try await transactions.transactions().page().rows.isEmpty)
        try await transactions.erase(.all)
        try await transactions.resetInstallation()
        #expect(transactions.health.isGood)
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        // In a test the store is elsewhere.
        let elsewhere = "let transactions = TransactionManager(store: .default) { options in"
        let file = URL(filePath: #filePath)
        #expect(try Guide.linesOfSnippets("Privacy.md", notIn: [file]).filter { $0 != elsewhere } == [])
    }
}
