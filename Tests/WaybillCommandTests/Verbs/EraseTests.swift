#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct EraseTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet(), LoginHistory().clientSet())
    }

    private func count() async throws -> Int {
        let list = try await Command.waybill("list", folder.url.path, "--json")
        return try JSONDecoder.waybill().decode(RecordPage<TransactionSummary>.self, from: Data(list.output.utf8)).rows
            .count
    }

    /// Breaks when a script erases data without confirmation.
    @Test func withoutATerminalAndWithoutYesNothingIsErased() async throws {
        let result = try await Command.waybill("erase", folder.url.path, "--all")
        #expect(result.status == 1)
        #expect(result.errors == "Error: Nothing was erased: without a terminal to ask at, --yes has to be given.\n")
        #expect(try await count() == 2)
    }

    @Test func aTransactionIsErasedBySupportCode() async throws {
        let result = try await Command.waybill(
            "erase", folder.url.path, "--id", login.transaction.supportCode.description, "--yes")
        #expect(result.status == 0)
        #expect(result.text == "1 transaction erased, 9 facts.")
        #expect(try await count() == 1)
        #expect(try await Command.waybill("verify", folder.url.path).status == 0)
    }

    @Test func everythingIsErasedBeforeATimeAndAtOnce() async throws {
        let old = try await Command.waybill("erase", folder.url.path, "--before", "2026-03-01", "--yes", "--json")
        #expect(old.output.contains(#""transaction_count" : 0"#))
        let all = try await Command.waybill("erase", folder.url.path, "--all", "--yes")
        #expect(all.text == "2 transactions erased, 15 facts.")
        #expect(try await count() == 0)
    }

    @Test func whatAShortProgramRecordedIsErased() async throws {
        let place = folder.file("short").path
        #expect(try ChildProcess("TestProcess", ["short-end", place]).finish().status == 0)
        let all = try await Command.waybill("erase", place, "--all", "--yes")
        #expect(all.status == 0 && all.text.hasPrefix("1 transaction erased"), "\(all)")
        let list = try await Command.waybill("list", place)
        #expect(list.status == 1 && list.output.isEmpty, "\(list)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place).allSatisfy { !$0.hasPrefix("journal-") })
    }

    @Test func aCollectorIsAskedOverHTTP() async throws {
        let (read, admin) = (try await folder.addToken("read"), try await folder.addToken("admin"))
        let serve = try await ServeProcess.start(folder, asksForToken: true)
        let arguments = ["erase", serve.url, "--id", "\(login.transaction)", "--yes"]
        let refused = try await Command.waybill(arguments, environment: ["WAYBILL_TOKEN": read])
        #expect(refused.status == 1 && refused.errors.contains("takes the role admin"))
        let result = try await Command.waybill(arguments, environment: ["WAYBILL_TOKEN": admin])
        #expect(result.text == "1 transaction erased, 9 facts.")
    }

    @Test func aMistypedFolderIsNotMadeIntoAStore() async throws {
        let result = try await Command.waybill("erase", folder.file("colected").path, "--all", "--yes")
        #expect(result.status == 1)
        #expect(try !folder.names().contains("colected"))
    }
}
#endif
