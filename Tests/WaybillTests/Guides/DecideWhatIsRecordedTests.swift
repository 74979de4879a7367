import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The snippet of the guide on the app's own hook, compiled and run as it stands there.
@Suite(.timeLimit(.minutes(5))) struct DecideWhatIsRecordedTests {
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

    /// Broken, the guide would show what nobody has compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        // In a test the store lies elsewhere.
        let elsewhere = "let transactions = TransactionManager(store: .default) { options in"
        let file = URL(filePath: #filePath)
        #expect(try Guide.linesOfSnippets("DecideWhatIsRecorded.md", notIn: [file]).filter { $0 != elsewhere } == [])
    }
}
