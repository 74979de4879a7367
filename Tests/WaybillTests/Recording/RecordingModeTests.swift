import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Consent: without it, nothing is recorded; data that was recorded with it stays usable.
@Suite(.timeLimit(.minutes(5))) struct RecordingModeTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func store(_ name: String = "store") -> URL { folder.file(name) }

    private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path()) }

    @Test func offTakesNothingAlsoFromHandlesBegunBefore() async throws {
        let transactions = TransactionManager.testing(correlatedHosts: ["api.example.com"])
        let login = transactions.begin(Login.self)
        #expect(login.log(.initiated) == .inMemory)
        transactions.recording = .off
        #expect(transactions.recording == .off)
        #expect(login.log(.requestSent) == .off)
        #expect(login.headers(for: try #require(URL(string: "https://api.example.com/"))).isEmpty)
        transactions.perform(Purchase.self) { #expect($0.log(.started) == .off) }
        #expect(
            try transactions.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.initiated],
            "what was recorded before can still be looked at")
        #expect(try transactions.transactions(Purchase.self).isEmpty)
    }

    @Test func onAgainTheSameSourceGoesOn() async throws {
        let transactions = TransactionManager.testing()
        let login = transactions.begin(Login.self)
        transactions.recording = .off
        let unseen = transactions.begin(Login.self)
        transactions.recording = .on
        #expect(login.log(.responseReceived) == .inMemory)
        #expect(unseen.log(.responseReceived) == .off, "begun while nothing was recorded")
        login.finish()
        let records = try transactions.allRecords()
        #expect(records.map(\.summary.id) == [login.id])
        #expect(records[0].sources.count == 1)
        #expect(records[0].timeline.map(\.kind) == [.begun, .event, .finished])
    }

    /// Breaks when a manager that is often turned off and on runs out of room, because it keeps room for closings that
    /// never come.
    @Test func whatIsFinishedWhileOffGivesItsRoomBack() throws {
        let transactions = TransactionManager.testing { $0.maximumOpen = 16 }
        for _ in 0..<100 {
            transactions.recording = .on
            let login = transactions.begin(Login.self)
            transactions.recording = .off
            login.finish()
            _ = try transactions.allRecords()  // drains
        }
        #expect(transactions.health.refused == 0)
        #expect(
            try transactions.allRecords().map(\.summary.outcome) == Array(repeating: .open, count: 100),
            "nobody knows how they ended")
    }

    @Test func requestsWhileOffAreSentAsTheyAre() async throws {
        let server = try LoopbackServer { request in .text(request.header("Waybill-Transaction") ?? "none") }
        let transactions = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])
        try await transactions.perform(Login.self) { login in
            let (tied, _) = try await transactions.session.data(for: URLRequest(url: server.url()))
            #expect(String(decoding: tied, as: UTF8.self) != "none")
            transactions.recording = .off
            let (bare, _) = try await transactions.session.data(for: URLRequest(url: server.url()))
            #expect(String(decoding: bare, as: UTF8.self) == "none")
        }
        #expect(try transactions.exchanges.count == 1)
    }

    /// Breaks when an app that has to ask first leaves traces on the disk of everybody who refuses.
    @Test func offFromTheStartMakesNoFolder() async throws {
        let transactions = TransactionManager(store: .directory(store())) { $0.recording = .off }
        transactions.perform(Login.self) { $0.log(.initiated) }
        #expect(transactions.join(Login.self) { _ in nil }.log(.serverStarted) == .off)
        #expect(await transactions.flush().error == nil)
        try await transactions.sync()
        #expect(try await transactions.transactions().page().rows.isEmpty)
        #expect(try await transactions.counts == TransactionCounts())
        #expect(try await transactions.transaction(GUID()) == nil)
        #expect(transactions.health.isGood)
        #expect(!exists(store()))

        transactions.recording = .on
        transactions.perform(Login.self) { $0.log(.initiated) }
        try await transactions.sync()
        #expect(exists(store()), "the check above could have failed")
    }

    @Test func turnedOffBeforeAnythingWasBegunMakesNoFolderEither() async throws {
        let transactions = TransactionManager(store: .directory(store()))
        transactions.recording = .off
        #expect(transactions.health.isGood)
        try await transactions.sync()
        #expect(!exists(store()))
    }

    @Test(arguments: [RecordingHealth.Mode.on, .off]) func theModeIsRememberedIfAsked(first: RecordingHealth.Mode)
        async throws
    {
        var options = TransactionManager.Options()
        options.remembersRecording = true
        options.recording = first
        let other: RecordingHealth.Mode = first == .on ? .off : .on
        for mode in [other, first, other] {
            let transactions = TransactionManager(store: .directory(store())) { $0 = options }
            transactions.recording = mode
            // Switching back and forth must not leave both marks.
            transactions.recording = mode == .on ? .off : .on
            transactions.recording = mode
            transactions.perform(Login.self) { $0.log(.initiated) }
            try await transactions.sync()
            let next = TransactionManager(store: .directory(store())) { $0 = options }
            #expect(next.recording == mode)
        }
        var forgetful = options
        forgetful.remembersRecording = false
        #expect(TransactionManager(store: .directory(store())) { $0 = forgetful }.recording == first)
    }

    /// Breaks when last year's refusal becomes a consent after an update that asks differently.
    @Test func aNoHoldsWhateverALaterVersionStartsWith() async throws {
        var options = TransactionManager.Options()
        options.remembersRecording = true
        for first in [RecordingHealth.Mode.on, .off] {
            options.recording = first
            let before = TransactionManager(store: .directory(store("\(first)"))) { $0 = options }
            before.recording = .off
            try await before.sync()
            for later in [RecordingHealth.Mode.on, .off] {
                options.recording = later
                #expect(TransactionManager(store: .directory(store("\(first)"))) { $0 = options }.recording == .off)
            }
        }
    }

    @Test func whatCannotBeRememberedIsTold() async throws {
        var options = TransactionManager.Options()
        options.remembersRecording = true
        options.diagnostics = { _ in }
        let inMemory = TransactionManager(store: .inMemory) { $0 = options }
        #expect(inMemory.health.problems.map(\.code) == [.setting])

        let nowhere = TransactionManager(store: .directory(URL(filePath: "/proc/waybill"))) { $0 = options }
        nowhere.recording = .off
        await #expect(throws: WaybillError.self) { try await nowhere.sync() }
        #expect(nowhere.recording == .off)
        #expect(nowhere.health.problems.contains { $0.message.contains("/proc/waybill") })
    }

    @Test func disabledStaysOff() async throws {
        TransactionManager.disabled.recording = .on
        #expect(TransactionManager.disabled.recording == .off)
        #expect(TransactionManager.disabled.begin(Login.self).log(.initiated) == .off)
        #expect(try await TransactionManager.disabled.transactions().page().rows.isEmpty)
    }

    /// Breaks when a disabled manager leaves traces: the child's home, its only way to a default folder, must stay
    /// empty.
    @Test func disabledTouchesNoDisk() throws {
        let home = folder.file("home")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        for (verb, isEmpty) in [("disabled", true), ("default", false)] {
            let child = try ChildProcess(
                "TestProcess", [verb, folder.url.path()],
                environment: ["HOME": home.path(), "XDG_STATE_HOME": home.path()])
            let (output, status) = child.finish()
            #expect(status == 0, "\(output)")
            // URLSession makes folders itself. The second round shows that a file would be found.
            let found = FileManager.default.enumerator(at: home, includingPropertiesForKeys: [.isRegularFileKey])?
                .contains {
                    ($0 as? URL).flatMap { try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile } == true
                }
            #expect(found == !isEmpty, "\(verb)")
        }
    }

    @Test func thisTestIsADebugBuild() {
        #if DEBUG
        #expect(TransactionManager.isDebugBuild)
        #else
        #expect(!TransactionManager.isDebugBuild)
        #endif
    }
}
