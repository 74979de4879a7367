#if canImport(Darwin) || DEBUG
import Testing
import WaybillCore

@testable import WaybillStore

/// The system's reports of how earlier launches ended. A later launch receives them.
@Suite(.timeLimit(.minutes(5))) struct CrashReportTests {
    private let store: Store

    init() throws { (store, _) = try Store.inMemory() }

    /// Records a launch of an app at a time in milliseconds, with one open transaction.
    private func launch(at milliseconds: UInt64, app: String = "app") throws -> GUID {
        let writer = FactWriter(app)
        writer.source.id = GUID(high: milliseconds << 16 | 0x7000, low: 1 << 63 | milliseconds)
        _ = writer.open(GUID())
        try writer.record(into: store)
        return writer.source.id
    }

    private func end(_ ended: GUID...) throws { _ = try store.endSources(isAlive: { !ended.contains($0) }) }

    private func endOf(_ source: GUID) throws -> SourceEnd? {
        try store.connection.statement("SELECT ended_by FROM sources WHERE uuid = ?").first(source) { row in
            row.sourceEnd(0)
        } ?? nil
    }

    /// Breaks when a crash is assigned to another launch than the one that it ended.
    @Test func aReportBelongsToTheOnlyLaunchThatEndedWithinItsTime() throws {
        let (first, second) = (try launch(at: 1_000), try launch(at: 2_000))
        let now = try launch(at: 3_000)
        try end(first, second)
        #expect(try store.note(.signal("SIGSEGV"), ofLaunchWithin: 1_500...1_600) == first)
        #expect(try endOf(first) == .signal("SIGSEGV"))
        #expect(try endOf(second) == nil)
        #expect(try store.note(.signal("SIGSEGV"), ofLaunchWithin: 3_500...3_600) == nil, "it still runs")
        #expect(try endOf(now) == nil)
    }

    /// Breaks when one of several possible launches is picked by chance.
    @Test func aReportThatCouldBeOfSeveralLaunchesIsLeftOut() throws {
        let (first, second) = (try launch(at: 1_000), try launch(at: 2_000))
        _ = try launch(at: 3_000)
        try end(first, second)
        #expect(try store.note(.signal("SIGABRT"), ofLaunchWithin: 0...9_000) == nil)
        #expect(try store.note(.signal("SIGABRT"), ofLaunchWithin: 2_500...9_000) == second)
        // Now only the first has an unknown end.
        #expect(try store.note(.signal("SIGABRT"), ofLaunchWithin: 0...9_000) == first)
    }

    /// Breaks when the end of an extension's launch replaces the end of the app's.
    @Test func aLaunchOfAnotherProcessEndsNoLaunch() throws {
        let first = try launch(at: 1_000)
        _ = try launch(at: 2_000, app: "extension")
        try end(first)
        #expect(try store.note(.signal("SIGSEGV"), ofLaunchWithin: 4_000...4_100) == first)
    }

    /// Breaks when the end that the process itself reported is replaced, or a kill never gets the system's reason.
    @Test func theSystemsCodeReplacesOnlyAKill() throws {
        let launches = [try launch(at: 1_000), try launch(at: 2_000)]
        try store.note(.exit, of: launches[0])
        try store.note(.system, of: launches[1])
        _ = try launch(at: 3_000)
        try end(launches[0], launches[1])
        let watchdog = try #require(SourceEnd(name: "system_0x8badf00d"))
        #expect(try store.note(.signal("SIGKILL"), ofLaunchWithin: 0...9_000) == nil)
        #expect(try store.note(watchdog, ofLaunchWithin: 0...9_000) == launches[1])
        #expect(try launches.map(endOf) == [.exit, watchdog])
    }

    /// Breaks when a collector that already knew the end never learns the reason.
    @Test func theReasonIsNewsForTheCollector() throws {
        let first = try launch(at: 1_000)
        _ = try launch(at: 2_000)
        try end(first)
        let told = try #require(try store.lease())
        _ = try store.settle(told.id, rejections: [], at: 0)
        _ = try store.note(.signal("SIGSEGV"), ofLaunchWithin: 1_500...1_500)
        #expect(try store.lease()?.sources.map(\.endedBy) == [.signal("SIGSEGV")])
    }

    @Test(
        arguments: [
            ("Namespace SPRINGBOARD, Code 0x8badf00d", nil, "system_0x8badf00d"),
            ("Namespace RUNNINGBOARD, Code 0xDEAD10CC ", 9, "system_0xdead10cc"),
            ("Namespace SIGNAL, Code 0xb", 11, "SIGSEGV"), ("Namespace SIGNAL, Code 6 Abort trap: 6", 6, "SIGABRT"),
            ("", 11, "SIGSEGV"), ("Namespace", nil, nil), ("Code, Namespace X", nil, nil),
            ("Namespace X, Code", 99, nil),
            ("Namespace X, Code 0x\(String(repeating: "f", count: 40))", nil, nil),
        ] as [(String, Int32?, String?)]) func theWordsOfAReportAreRead(
            reason: String, signal: Int32?, expected: String?
        )
    {
        #expect(SourceEnd(reason: reason, signal: signal)?.name == expected)
    }
}
#endif
