import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillTesting

/// Exchanges that an app reads and exports.
@Suite(.timeLimit(.minutes(5))) struct ManagerExchangeTests {
    enum Login: Int, UseCase {
        static let code = 0
        case initiated = 0
    }

    private let folder: TemporaryDirectory
    private let transactions: TransactionManager

    init() throws {
        folder = try TemporaryDirectory()
        transactions = TransactionManager(store: .directory(folder.file("store"))) { options in
            options.privacy.additionalSecretNames = ["iban"]
        }
    }

    private func record(_ path: String, status: Int? = 200) {
        var request = ExchangeRequest(
            method: "GET", url: URL(string: "https://api.example.com\(path)") ?? URL(filePath: "/"))
        request.headerFields = [HeaderField(name: "Accept", value: "text/plain")]
        let exchange = transactions.openExchange(request)
        guard let status else { return exchange.cancel() }
        exchange.responded(ExchangeResponse(status: status))
        exchange.received(Data("ok".utf8))
        exchange.finish()
    }

    @Test func anAppListsItsExchangesNewestFirstAPageAtATime() async throws {
        #expect(try await transactions.exchanges().rows.isEmpty)
        transactions.perform(Login.self) { _ in record("/in") }
        record("/out", status: 503)
        record("/cancelled", status: nil)
        let first = try await transactions.exchanges(limit: 2)
        #expect(first.rows.map(\.exchange.url) == ["https://api.example.com/cancelled", "https://api.example.com/out"])
        #expect(first.rows.map(\.state) == [.cancelled, .completed])
        let second = try await transactions.exchanges(limit: 2, after: first.next)
        #expect(second.rows.map(\.useCaseName) == ["login"] && second.next == nil)
        let filter = ExchangeFilter([.status(500...599)])
        let failed = try await transactions.exchanges(matching: filter).rows
        #expect(failed.map(\.exchange.url) == ["https://api.example.com/out"])
        let id = try #require(failed.first?.id)
        #expect(try await transactions.exchange(id) == failed.first)
        #expect(try await transactions.exchange(FactID(source: GUID(), sequence: 1)) == nil)
    }

    @Test(arguments: ExchangeFormat.allCases) func exchangesAreOneFileTheOldestFirst(format: ExchangeFormat)
        async throws
    {
        record("/first?iban=DE02120300000000202051")
        record("/second", status: 404)
        let file = folder.file("exchanges")
        let summary = try await transactions.export(as: format, to: file)
        #expect(summary.factCount == 4)
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.utf8.count == summary.byteCount)
        let (first, second) = (try #require(text.range(of: "/first")), try #require(text.range(of: "/second")))
        #expect(first.lowerBound < second.lowerBound)
        #expect(text.contains("[redacted]") && !text.contains("DE0212"))
        if [.har, .rules, .json].contains(format) {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
        }
        let compressed = folder.file("exchanges.gz")
        _ = try await transactions.export(as: format, to: compressed)
        #expect(try Data(contentsOf: compressed).prefix(2) == Data([0x1F, 0x8B]))
    }

    @Test(arguments: ExchangeFormat.allCases) func oneExchangeIsTextToShare(format: ExchangeFormat) async throws {
        record("/only")
        let id = try #require(try await transactions.exchanges().rows.first?.id)
        let text = try #require(try await transactions.exchange(id, as: format))
        #expect(text.contains("https://api.example.com/only"))
        let file = folder.file("one")
        _ = try await transactions.export(as: format, to: file)
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
        #expect(try await transactions.exchange(FactID(source: GUID(), sequence: 1), as: format) == nil)
    }

    @Test func theGuidesSampleDoesWhatItSays() async throws {
        let logs = folder.url
        record("/only", status: 503)

        let filter = ExchangeFilter([.status(500...599)])
        let page = try await transactions.exchanges(matching: filter)
        try await transactions.export(as: .har, matching: filter, to: logs.appending(path: "failed.har"))
        if let first = page.rows.first {
            let command = try await transactions.exchange(first.id, as: .curl)
            #expect(command?.hasPrefix("curl 'https://api.example.com/only'") == true)
        }
        #expect(page.rows.count == 1)
        #expect(FileManager.default.fileExists(atPath: folder.file("failed.har").path))
    }

    /// Every format contains the bodies that the policy kept, without secrets, and marks a cut body.
    @Test(arguments: ExchangeFormat.allCases) func keptBodiesAreHandedOver(format: ExchangeFormat) async throws {
        var options = TransactionManager.Options()
        options.privacy.additionalSecretNames = ["iban"]
        var policy = BodyPolicy()
        policy.maximumByteCount = 100
        options.network.bodies = policy
        let transactions = TransactionManager(store: .directory(folder.file("bodies"))) { $0 = options }
        let field = HeaderField(name: "Content-Type", value: "application/json")
        let url = try #require(URL(string: "https://api.example.com/kept"))
        let exchange = transactions.openExchange(ExchangeRequest(method: "POST", url: url, headerFields: [field]))
        exchange.sent(Data(#"{"name":"it's","iban":"DE02120300000000202051"}"#.utf8))
        exchange.responded(ExchangeResponse(status: 200, headerFields: [field]))
        exchange.received(Data(#"{"list":"\#(String(repeating: "long ", count: 100))"}"#.utf8))
        exchange.finish()
        let id = try #require(try await transactions.exchanges().rows.first?.id)
        let text = try #require(try await transactions.exchange(id, as: format))
        #expect(!text.contains("DE0212"))
        switch format {
        case .curl: #expect(text.contains(#"--data-raw '{"name":"it'\''s","iban":"[redacted]"}'"#))
        case .text: #expect(text.contains(#"  "name": "it's","#) && text.contains("of 511 B were kept.)"))
        case .har: #expect(text.contains(#""_omission":"limit""#) && text.contains(#"{\"name\":\"it's\","#))
        case .rules: #expect(text.contains("of 511 B were kept.)") && text.contains(#"{\"list\":"#))
        case .json: #expect(text.contains(#""omission" : "limit""#) && text.contains(#"{\"name\":\"it's\","#))
        }
        let report = try await transactions.report(to: folder.file("report.html"))
        #expect(try !String(contentsOf: report, encoding: .utf8).contains("DE0212"))
    }

    @Test func nothingToExportLeavesNoFile() async throws {
        record("/only")
        let filter = ExchangeFilter([.method(["POST"])])
        let file = folder.file("none.har")
        let error = await #expect(throws: WaybillError.self) {
            try await transactions.export(as: .har, matching: filter, to: file)
        }
        #expect(error?.code == .notFound)
        #expect(error?.message == "Nothing was exported. The only exchange here does not pass the filter.")
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func withRecordingOffThereIsNothing() async throws {
        #expect(try await TransactionManager.disabled.exchanges().rows.isEmpty)
        #expect(try await TransactionManager.disabled.exchange(FactID(source: GUID(), sequence: 1), as: .curl) == nil)
        await #expect(throws: WaybillError.self) {
            try await TransactionManager.disabled.export(as: .har, to: folder.file("x.har"))
        }
    }
}
