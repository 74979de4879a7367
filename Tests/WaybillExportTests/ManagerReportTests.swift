import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillExport
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0
}

@Suite(.timeLimit(.minutes(5))) struct ManagerReportTests {
    @Test func aReportHasWhatWasJustRecorded() async throws {
        let folder = try TemporaryDirectory()
        let transactions = TransactionManager(store: .directory(folder.file("store")))
        let login = transactions.begin(Login.self, attributes: ["variant": "B"])
        login.log(.initiated)
        let file = try await transactions.report(last: .seconds(900), to: folder.file("report.html"))
        let html = try String(contentsOf: file, encoding: .utf8)
        #expect(html.contains(">initiated"))
        #expect(html.contains("variant=B"))
        #expect(try folder.names() == ["report.html", "store"])
        login.finish()
    }

    @Test func onlyWhatBeganWithinTheTimeIsInIt() async throws {
        let folder = try TemporaryDirectory()
        let clock = ManualClock()
        let transactions = TransactionManager.testing(clock: clock)
        let early = transactions.begin(Login.self)
        early.finish()
        clock.advance(by: .seconds(3_600))
        let late = transactions.begin(Login.self)
        late.finish(.failed)
        let file = try await transactions.report(last: .seconds(900), to: folder.file("report.html"))
        let html = try String(contentsOf: file, encoding: .utf8)
        #expect(!html.contains("\(early.id.supportCode)"))
        #expect(html.contains("\(late.id.supportCode)"))
    }

    @Test func aReportOfNothingSaysSo() async throws {
        let folder = try TemporaryDirectory()
        let transactions = TransactionManager.testing()
        let file = try await transactions.report(to: folder.file("report.html"))
        #expect(
            try String(contentsOf: file, encoding: .utf8).contains("There is no transaction here: the store is empty."))
    }

    @Test func withoutAFileTheNameTellsTheAppAndTheTime() async throws {
        let transactions = TransactionManager.testing { $0.app = "My Shop/../é" }
        let file = try await transactions.report()
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(file.lastPathComponent.wholeMatch(of: /waybill-My-Shop-\.\.---\d{4}-\d\d-\d\d-\d{6}\.html/) != nil)
    }

    @Test func aPlaceThatCannotBeWrittenIsOneSentenceAndLeavesNothing() async throws {
        let folder = try TemporaryDirectory()
        try Data().write(to: folder.file("file"))
        let transactions = TransactionManager.testing()
        let error = await #expect(throws: WaybillError.self) {
            try await transactions.report(to: folder.file("file/report.html"))
        }
        #expect(error?.message.contains("file/report.html cannot be written: there is no folder ") == true)
        #expect(try folder.names() == ["file"])
    }

    @Test func recordingThatIsOffHasNoReport() async {
        await #expect(throws: WaybillError.self) { try await TransactionManager.disabled.report() }
    }
}
