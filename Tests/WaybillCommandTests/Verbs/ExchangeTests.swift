#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries

/// `list --network`, `show` of an exchange, `export` as HAR and cURL: on a store and through a collector.
@Suite(.timeLimit(.minutes(5))) struct ExchangeTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    private var store: String { folder.url.path }
    private var exchange: FactID { FactID(source: login.client.id, sequence: 3) }

    @Test func aListOfTheNetworkHasALineForEachExchange() async throws {
        let list = try await Command.waybill("list", store, "--network")
        #expect(list.status == 0)
        #expect(list.errors.isEmpty)
        #expect(
            list.text == """
                EXCHANGE     OPENED (UTC)             METHOD  STATUS  DURATION  RECEIVED  USE CASE  TRANSACTION  HOST AND PATH
                \(exchange.code)  2026-03-01 12:00:00.001  POST    401      13.0 ms         -  login     \(login.transaction.supportCode)    api.example.com/login
                """)
        let serve = try await ServeProcess.start(folder)
        #expect(try await Command.waybill("list", serve.url, "--network").output == list.output)
        let json = try await Command.waybill("list", store, "--network", "--json")
        #expect(try await Command.waybill("list", serve.url, "--network", "--json").output == json.output)
        #expect(
            try JSONDecoder.waybill().decode(RecordPage<ExchangeRecord>.self, from: Data(json.output.utf8)).rows.map(
                \.id) == [exchange])
    }

    @Test func aListOfTheNetworkIsFiltered() async throws {
        for arguments in [
            ["--method", "post"], ["--status", "4xx"], ["--state", "completed"], ["--use-case", "login"],
            ["--outcome", "failed"],
            ["--text", "example.com"], ["--since", "2026-03-01"], ["host:example.com path:/login method:POST took<1s"],
            ["outcome:failed -size>1kB", "--status", "401"],
        ] {
            #expect(try await Command.waybill(["list", store, "--network"] + arguments).status == 0, "\(arguments)")
        }
        let none = try await Command.waybill("list", store, "--network", "--status", "5xx")
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.errors == "The only exchange here does not pass the filter.\n")
        #expect(try await Command.waybill("list", store, "--network", "--state", "done").status == 64)
        #expect(
            try await Command.waybill("list", store, "--status", "5xx").status == 64,
            "of transactions that means nothing")
    }

    @Test func aMistakeInAFilterIsMarkedAlikeFromAStoreAndThroughACollector() async throws {
        let serve = try await ServeProcess.start(folder)
        for place in [store, serve.url] {
            let unknown = try await Command.waybill("list", place, "--network", "host:x event:requestsend")
            // A problem document gives the offset of a mistake, but not its length.
            #expect(unknown.errors.contains("  host:x event:requestsend\n               ^"), "\(unknown.errors)")
            #expect(unknown.errors.contains("did you mean “requestSent”?"))
        }
        let misspelt = try await Command.waybill("list", store, "--network", "state:faild")
        #expect(misspelt.status == 64 && misspelt.errors.contains("  state:faild\n        ^^^^^"))
        #expect(try await Command.waybill("export", store, "status:401", "--format", "har").status == 0)
        #expect(try await Command.waybill("export", store, "status:5xx", "--format", "har").status == 1)
        #expect(try await Command.waybill("ask", "network", store, "host:example.com").status == 0)
        #expect(try await Command.waybill("ask", "network", store, "host:other.test").status == 1)
    }

    @Test func anExchangeIsShownByItsCodeAndByItsID() async throws {
        let show = try await Command.waybill("show", store, exchange.code)
        #expect(show.status == 0)
        #expect(show.errors.isEmpty)
        #expect(
            show.text == """
                POST https://api.example.com/login

                state        401, completed after 13.0 ms
                opened       2026-03-01 12:00:00.001 UTC
                sizes        sent 42 B
                transaction  login \(login.transaction.supportCode)  \(login.transaction)
                source       app 1.2
                exchange     \(exchange.code)  \(exchange)
                """)
        #expect(try await Command.waybill("show", store, "\(exchange)").output == show.output)
        #expect(
            try await Command.waybill("show", store, "\(exchange.code.prefix(4).lowercased()):3").output == show.output)
        let serve = try await ServeProcess.start(folder)
        #expect(try await Command.waybill("show", serve.url, exchange.code).output == show.output)
        let json = try await Command.waybill("show", store, exchange.code, "--json")
        #expect(try JSONDecoder.waybill().decode(ExchangeRecord.self, from: Data(json.output.utf8)).id == exchange)
        for place in [store, serve.url] {
            let missing = try await Command.waybill("show", place, "\(login.client.id):4")
            #expect(missing.status == 1)
            #expect(missing.errors == "Error: There is no exchange \(login.client.id):4 here.\n")
        }
    }

    @Test(arguments: ["har", "curl", "rules"]) func exchangesAreExportedAlikeFromAStoreAndThroughACollector(
        format: String
    )
        async throws
    {
        let export = try await Command.waybill("export", store, "--format", format)
        #expect(export.status == 0 && export.errors.isEmpty)
        #expect(export.output.contains("https://api.example.com/login"))
        let serve = try await ServeProcess.start(folder)
        #expect(try await Command.waybill("export", serve.url, "--format", format).output == export.output)
        let file = folder.file("out.\(format)")
        for place in [store, serve.url] {
            #expect(try await Command.waybill("export", place, "--format", format, "--output", file.path).status == 0)
            #expect(try String(contentsOf: file, encoding: .utf8) == export.output)
            let none = try await Command.waybill(
                "export", place, "--format", format, "--status", "5xx", "--output", folder.file("none").path)
            #expect(none.status == 1)
            #expect(none.errors.hasPrefix("Error: Nothing was exported"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("none").path))
        #expect(
            try await Command.waybill("export", store, "--format", format, "--gzip", "--output", file.path).status == 0)
        #expect(try Data(contentsOf: file).prefix(2) == Data([0x1F, 0x8B]))
    }

    @Test func conditionsOfExchangesGoWithTheirFormats() async throws {
        #expect(try await Command.waybill("export", store, "--format", "csv", "--method", "GET").status == 64)
    }
}
#endif
