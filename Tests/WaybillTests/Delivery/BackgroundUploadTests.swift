import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill
@testable import WaybillStore

/// Sets that are sent from files. Their answers may reach a later launch than the one that sent them.
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

    /// A launch of an app that keeps its store.
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

    /// Sends a set to a server that never answers, and ends; returns the set's ID.
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

    /// Breaks when an app on Apple's platforms crashes because its files were erased before they were sent.
    @Test func noUploadBeginsFromAFileThatCannotBeRead() throws {
        let (missing, below) = (folder.file("missing"), folder.file("file/below"))
        #expect(throws: URLError(.fileDoesNotExist)) {
            try BackgroundUploads.withReadable(missing) { Issue.record("The file is missing.") }
        }
        try Data().write(to: folder.file("file"))
        #expect(throws: URLError(.cannotOpenFile)) {
            try BackgroundUploads.withReadable(below) { Issue.record("The folder is a file.") }
        }
        #expect(try BackgroundUploads.withReadable(folder.file("file")) { true })
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

    /// Breaks when an app that is seldom woken delivers too little each time.
    @Test func anUploadCarriesTheFactsOfSeveralSets() async throws {
        let collector = try ScriptedCollector()
        let tx = launch(transport(to: collector.server.url("/")))
        for _ in 0..<900 { tx.perform(Login.self) { $0.log(.requestSent) } }
        #expect(await tx.flush() == FlushReport(delivered: 2_700))
        #expect(collector.taken.map(\.factCount) == [2_700])
    }

    /// Breaks when an app that is seldom woken begins one upload each time and the rest waits for days.
    @Test func severalUploadsAreUnderWayAtOnce() async throws {
        let nobody = try RawListener()
        let url = try #require(URL(string: "http://127.0.0.1:\(nobody.port)"))
        let tx = launch(transport(to: url, timeout: .seconds(1)))
        for _ in 0..<3_000 { tx.perform(Login.self) { $0.log(.requestSent) } }
        var report = await tx.flush()
        #expect(report.error?.message.hasPrefix("2 background uploads are under way") == true)
        #expect(report.pending == 9_000)
        #expect(files.count == 4, "two sets, and what is sent of them: \(files)")
        // Facts that are recorded later do not wait for them, up to four uploads.
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

    /// Breaks when four uploads that fail for one reason delay the next attempt as four failures in a row do.
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

    /// Breaks when a set that was under way when the app ended is sent again in another set, or is never settled.
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

    /// Breaks when an app that delivers in another way while a set is under way sends its facts twice.
    @Test func aFlushByAnotherTransportLeavesTheSetThatIsUnderWay() async throws {
        _ = try await launchWithoutAnswer()
        let collector = try ScriptedCollector()
        let ordinary = URLSessionTransport(collector: collector.server.url("/"))
        #expect(await launch(ordinary).flush() == FlushReport(pending: 3))
        #expect(collector.taken.isEmpty)
        #expect(await launch(transport(to: collector.server.url("/"))).flush() == FlushReport(delivered: 3))
    }

    /// Breaks when facts whose answer never arrives stay on the device for good.
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

    /// Breaks when a refused set is sent unchanged again and again.
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

    /// Breaks when erased data stays in files, with the proofs of who recorded it, and may still be sent.
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
        // Delivery no longer waits for their answers.
        tx.delivery = .collector(collector.server.url("/"))
        tx.perform(Login.self) { _ in }
        #expect(await tx.flush() == FlushReport(delivered: 2))
    }

    /// Breaks when turning recording off leaves the erased data in files.
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

    /// Breaks when a file that was cut off by a power loss holds up delivery.
    @Test func aFileThatCannotBeReadIsRemovedAndItsFactsGoAgain() async throws {
        let clock = ManualClock(wallMicroseconds: SystemClock().wallMicroseconds())
        let set = try await launchWithoutAnswer(clock: clock)
        try Data("{".utf8).write(to: folder.url.appending(path: "uploads/\(set).set"))
        let collector = try ScriptedCollector()
        let next = launch(transport(to: collector.server.url("/")), clock: clock)
        #expect(await next.flush() == FlushReport(delivered: 3))
        #expect(files.filter { $0.hasSuffix(".set") } == [])
    }

    /// Breaks when the set is given up once the system withdraws the time, though the system still sends it.
    @Test func aFlushThatIsEndedLeavesItsSetUnderWay() async throws {
        let nobody = try RawListener()
        let url = try #require(URL(string: "http://127.0.0.1:\(nobody.port)"))
        let tx = launch(transport(to: url, timeout: .seconds(3_600)))
        tx.perform(Login.self) { $0.log(.requestSent) }
        let ended = Gate()
        let end = tx.flush { _ in ended.open() }
        try await eventually("it is under way") { files.count == 2 }
        end()
        // Until then, the flush has its store's set.
        try await eventually("it has ended") { ended.isOpen }
        let collector = try ScriptedCollector()
        let next = launch(transport(to: collector.server.url("/")))
        #expect(await next.flush() == FlushReport(delivered: 3))
        #expect(files == [])
    }
}
