import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill
@testable import WaybillStore

/// Sets that go out from files, whose answers may come to another launch than the one that sent them.
@Suite(.timeLimit(.minutes(5))) struct BackgroundUploadTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private var files: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "uploads").path))?.sorted()
            ?? []
    }

    private func transport(to collector: URL, timeout: Duration = .seconds(30)) -> URLSessionTransport {
        URLSessionTransport(
            background: "test.deliver", collector: collector, token: "abc",
            folder: folder.url.appending(path: "uploads"), timeout: timeout)
    }

    /// A launch of an app: its store stays.
    private func launch(
        _ transport: URLSessionTransport, clock: any TransactionClock = SystemClock()
    ) -> TransactionManager {
        TransactionManager(
            store: .directory(folder.url.appending(path: "store")), delivery: .transport(transport)
        ) { options in
            options.clock = clock
            options.diagnostics = { _ in }
        }
    }

    /// A launch that sends a set to where nobody answers, and ends; gives the set's ID.
    private func launchWithoutAnswer(clock: any TransactionClock = SystemClock()) async throws -> GUID {
        let nobody = try RawListener()
        let url = try #require(URL(string: "http://127.0.0.1:\(nobody.port)"))
        let tx = launch(transport(to: url, timeout: .seconds(1)), clock: clock)
        tx.perform(Login.self) { $0.log(.requestSent) }
        let report = await tx.flush()
        #expect(report.error?.message.contains("under way") == true)
        #expect(report.pending == 3)
        #expect(files.count == 2, "the set, and what is sent of it: \(files)")
        return try #require(files.first.flatMap { GUID($0.prefix(36)) })
    }

    @Test func aSetGoesFromAFileAndNothingIsLeftOfIt() async throws {
        let collector = try ScriptedCollector()
        let tx = launch(transport(to: collector.server.url("/")))
        tx.perform(Login.self) { $0.log(.requestSent) }
        #expect(await tx.flush() == FlushReport(delivered: 3))
        #expect(collector.server.requests.first?.header("Authorization") == "Bearer abc")
        #expect(collector.sequences == [1, 2, 3])
        #expect(files == [])
    }

    /// Broken, an app that is seldom woken would deliver too little each time.
    @Test func anUploadCarriesTheFactsOfSeveralSets() async throws {
        let collector = try ScriptedCollector()
        let tx = launch(transport(to: collector.server.url("/")))
        for _ in 0..<900 { tx.perform(Login.self) { $0.log(.requestSent) } }
        #expect(await tx.flush() == FlushReport(delivered: 2_700))
        #expect(collector.taken.map(\.factCount) == [2_700])
    }

    /// Broken, an app that is seldom woken would begin one upload each time, and the rest would wait for days.
    @Test func severalUploadsAreUnderWayAtOnce() async throws {
        let nobody = try RawListener()
        let url = try #require(URL(string: "http://127.0.0.1:\(nobody.port)"))
        let tx = launch(transport(to: url, timeout: .seconds(1)))
        for _ in 0..<3_000 { tx.perform(Login.self) { $0.log(.requestSent) } }
        var report = await tx.flush()
        #expect(report.error?.message.hasPrefix("2 background uploads are under way") == true)
        #expect(report.pending == 9_000)
        #expect(files.count == 4, "two sets, and what is sent of them: \(files)")
        // What is recorded later does not wait for them, up to four uploads.
        for _ in 0..<3 {
            tx.perform(Login.self) { $0.log(.requestSent) }
            report = await tx.flush()
        }
        #expect(report.error?.message.hasPrefix("4 background uploads are under way") == true)
        #expect(files.count == 8)
        let collector = try ScriptedCollector()
        #expect(await launch(transport(to: collector.server.url("/"))).flush() == FlushReport(delivered: 9_009))
        #expect(Set(collector.taken.map(\.factCount)) == [8_000, 1_000, 3])
        #expect(collector.taken.count == 5)
        #expect(files == [])
    }

    /// Broken, four uploads that fail for one reason would delay the next attempt as four failures in a row do.
    @Test func uploadsThatFailTogetherPauseOnce() async throws {
        let collector = try ScriptedCollector([{ _ in .text("no", status: 503) }, { _ in .text("no", status: 503) }])
        let tx = launch(transport(to: collector.server.url("/")))
        for _ in 0..<3_000 { tx.perform(Login.self) { $0.log(.requestSent) } }
        let events = tx.deliveryEvents
        #expect(await tx.flush().error?.message.contains("is in trouble") == true)
        let told = await events.prefix { if case .ended = $0 { false } else { true } }.reduce(into: []) {
            $0.append($1)
        }
        #expect(told.count == 1, "one pause: \(told)")
        #expect(files == [])
        #expect(await tx.flush() == FlushReport(delivered: 9_000))
    }

    /// Broken, what an app had sent when it was ended would go out once more in another set, or never be settled.
    @Test func theNextLaunchBooksTheAnswerToWhatAnEarlierOneHasSent() async throws {
        let set = try await launchWithoutAnswer()
        let collector = try ScriptedCollector()
        let next = launch(transport(to: collector.server.url("/")))
        next.perform(Login.self) { _ in }
        #expect(await next.flush() == FlushReport(delivered: 5))
        #expect(collector.taken.map(\.id).first == set, "it is the same set")
        #expect(collector.taken.map(\.factCount) == [3, 2])
        #expect(files == [])
        #expect(await next.flush() == FlushReport())
    }

    /// Broken, an app that delivers in another way while a set is under way would have its facts sent twice.
    @Test func aFlushByAnotherTransportLeavesTheSetThatIsUnderWay() async throws {
        _ = try await launchWithoutAnswer()
        let collector = try ScriptedCollector()
        let ordinary = URLSessionTransport(collector: collector.server.url("/"))
        #expect(await launch(ordinary).flush() == FlushReport(pending: 3))
        #expect(collector.taken.isEmpty)
        #expect(await launch(transport(to: collector.server.url("/"))).flush() == FlushReport(delivered: 3))
    }

    /// Broken, facts whose answer never comes would stay on the device for good.
    @Test func whereNoAnswerComesTheLeaseEndsAndTheFactsGoAgain() async throws {
        let clock = ManualClock(wallMicroseconds: SystemClock().wallMicroseconds())
        let set = try await launchWithoutAnswer(clock: clock)
        clock.advance(by: .microseconds(BackgroundUploads.leaseMicroseconds + 1))
        let collector = try ScriptedCollector()
        let next = launch(transport(to: collector.server.url("/")), clock: clock)
        #expect(await next.flush() == FlushReport(delivered: 3))
        #expect(collector.taken.map(\.id) != [set], "another set")
        #expect(collector.taken.count == 1)
        #expect(files == [])
    }

    /// Broken, a set that is refused would be sent again and again, as it was.
    @Test func aSetThatIsRefusedIsGivenUpAndItsFactsStayPending() async throws {
        let collector = try ScriptedCollector([{ _ in .text("no", status: 503) }])
        let tx = launch(transport(to: collector.server.url("/")))
        tx.perform(Login.self) { $0.log(.requestSent) }
        let report = await tx.flush()
        #expect(report.error?.message.contains("is in trouble") == true)
        #expect(report.pending == 3)
        #expect(files == [])
        #expect(await tx.flush() == FlushReport(delivered: 3))
    }

    /// Broken, what a user has erased would stay in files, with the proofs of who recorded it, and might still be sent.
    @Test(arguments: [true, false]) func anErasureEndsTheUploadsAndRemovesTheirFiles(isReplaced: Bool) async throws {
        let nobody = try RawListener()
        let tx = launch(
            transport(to: try #require(URL(string: "http://127.0.0.1:\(nobody.port)")), timeout: .seconds(1)))
        let login = tx.begin(Login.self)
        login.log(.requestSent)
        login.finish()
        #expect(await tx.flush().pending == 3)
        try Data("half".utf8).write(to: folder.url.appending(path: "uploads/.\(GUID()).set.partial"))
        #expect(files.count == 3)
        let collector = try ScriptedCollector()
        if isReplaced { tx.delivery = .collector(collector.server.url("/")) }
        try await tx.erase(.ids([GUID()]))
        #expect(files.count == 3, "of another transaction")
        try await tx.erase(isReplaced ? .all : .ids([login.id]))
        #expect(files.filter { !$0.hasPrefix(".") } == [])
        try await tx.erase(.all)
        #expect(files == [])
        // And nothing waits for an answer to them.
        tx.delivery = .collector(collector.server.url("/"))
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }

    /// Broken, turning recording off would leave what it erases in files.
    @Test func recordingOffEndsTheUploadsOfWhatItErases() async throws {
        let nobody = try RawListener()
        var options = TransactionManager.Options()
        (options.erasesPendingWhenOff, options.diagnostics) = (true, { _ in })
        let url = try #require(URL(string: "http://127.0.0.1:\(nobody.port)"))
        let tx = TransactionManager(
            store: .directory(folder.url.appending(path: "store")),
            delivery: .transport(transport(to: url, timeout: .seconds(1)))
        ) { $0 = options }
        tx.perform(Login.self) { $0.log(.requestSent) }
        #expect(await tx.flush().pending == 3)
        #expect(files.count == 2)
        tx.recording = .off
        _ = tx.health  // waits for the store's thread
        #expect(files == [])
    }

    /// Broken, a file that was cut off when the device lost its power would hold up delivery.
    @Test func aFileThatCannotBeReadIsRemovedAndItsFactsGoAgain() async throws {
        let clock = ManualClock(wallMicroseconds: SystemClock().wallMicroseconds())
        let set = try await launchWithoutAnswer(clock: clock)
        try Data("{".utf8).write(to: folder.url.appending(path: "uploads/\(set).set"))
        let collector = try ScriptedCollector()
        let next = launch(transport(to: collector.server.url("/")), clock: clock)
        #expect(await next.flush() == FlushReport(delivered: 3))
        #expect(files.filter { $0.hasSuffix(".set") } == [])
    }

    /// Broken, when the system takes the time away the set would be given up, though the system still sends it.
    @Test func aFlushThatIsEndedLeavesItsSetUnderWay() async throws {
        let nobody = try RawListener()
        let url = try #require(URL(string: "http://127.0.0.1:\(nobody.port)"))
        let tx = launch(transport(to: url, timeout: .seconds(3_600)))
        tx.perform(Login.self) { $0.log(.requestSent) }
        let end = tx.flush { _ in }
        try await eventually("it is under way") { files.count == 2 }
        end()
        let collector = try ScriptedCollector()
        let next = launch(transport(to: collector.server.url("/")))
        #expect(await next.flush() == FlushReport(delivered: 3))
        #expect(files == [])
    }
}
