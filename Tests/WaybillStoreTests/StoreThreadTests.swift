import Testing
import WaybillCore

@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct StoreThreadTests {
    private final class Log {
        var lines: [String] = []
    }

    /// Breaks when two threads do work at once, or in another order than it was requested.
    @Test func workIsDoneInTheOrderInWhichItIsAskedFor() async {
        let thread = StoreThread(label: "test") { Log() }
        for number in 0..<100 { thread.perform { $0.lines.append("\(number)") } }
        let lines = await thread.run { log in
            log.lines.append("last")
            return log.lines
        }
        #expect(lines == (0..<100).map(String.init) + ["last"])
        #expect(thread.sync { $0.lines.count } == 101)
    }

    /// Breaks when delayed work runs at once, or never.
    @Test func workCanWaitAWhile() async {
        let thread = StoreThread(label: "test") { Log() }
        thread.perform(after: .seconds(3_600)) { $0.lines.append("in an hour") }
        let lines = await withCheckedContinuation { continuation in
            thread.perform(after: .milliseconds(1)) { log in
                log.lines.append("soon")
                continuation.resume(returning: log.lines)
            }
        }
        #expect(lines == ["soon"])
    }

    /// Breaks when an error is swallowed.
    @Test func errorsReachTheOneWhoAsked() async {
        let thread = StoreThread(label: "test") { Log() }
        let error = WaybillError(.store, "No.")
        await #expect(throws: error) { try await thread.run { _ throws(WaybillError) in throw error } }
        #expect(throws: error) { try thread.sync { _ throws(WaybillError) in throw error } }
        #expect(throws: error) { try StoreThread<Log>(label: "test") { () throws(WaybillError) in throw error } }
    }
}
