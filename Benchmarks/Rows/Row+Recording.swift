import AllocationCounter
import Foundation
import Waybill
import WaybillCore
import WaybillStore

#if canImport(CDispatch)
import CDispatch  // where `timespec` is defined, once Dispatch is among the imports of any file
import TestSupport
#endif

/// The use case that the rows record.
enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0
}

extension Row {
    /// An event without attributes on the caller's thread, while the writer works.
    static let log = Row("log", unit: "ns/event", against: "clock_gettime + 48-byte copy") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = 10_000
        let transactions = TransactionManager(store: .directory(folder))
        let login = transactions.begin(Login.self)
        var buffer = [UInt8](repeating: 0, count: 48 * 1024)
        let bytes = [UInt8](repeating: 7, count: 48)
        try await transactions.sync()
        let comparison = Comparison.nanoseconds(
            operations: count, before: { try? transactions.sources.source?.writer.runAndWait { _, _ in } }
        ) {
            record(count, in: login)
        } against: {
            var time = timespec()
            var sum = 0
            for index in 0..<count {
                clock_gettime(CLOCK_MONOTONIC, &time)
                buffer.withUnsafeMutableBytes { buffer in
                    let slot = 48 * (index % 1024)
                    bytes.withUnsafeBytes {
                        UnsafeMutableRawBufferPointer(rebasing: buffer[slot..<slot + 48]).copyMemory(from: $0)
                    }
                }
                sum &+= time.tv_nsec
            }
            return sum &+ Int(buffer[count % 48])
        }
        login.finish()
        try await transactions.sync()
        return comparison
    }

    /// Records events without attributes, and returns their number.
    @inline(__always)
    static func record(_ count: Int, in login: UseCaseTransaction<Login>) -> Int {
        var taken = 0
        for _ in 0..<count where login.log(.initiated) == .journaled { taken += 1 }
        precondition(taken == count, "events were refused: the figure would be of something else")
        return taken
    }

    /// An event without attributes while the manager's context has ten values.
    static let logContext = Row("logContext", unit: "ns/event", against: "log without a context") {
        try await logging { folder in
            let manager = TransactionManager(store: .directory(folder))
            for number in 0..<10 { manager.context.set(number, forKey: "name\(number)") }
            return manager
        } log: {
            $0.log(.initiated)
        }
    }

    /// A transaction inside another one, which it names as its parent.
    static let performNested = Row("perform.nested", unit: "ns/perform", against: "perform by itself") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = 2_000
        let transactions = TransactionManager(store: .directory(folder))
        transactions.perform(Login.self) { $0.log(.initiated) }  // creates the journal
        try await transactions.sync()
        func begin() -> Int {
            var taken = 0
            for _ in 0..<count {
                if transactions.perform(Login.self, { $0.log(.initiated) }) == .journaled { taken += 1 }
            }
            precondition(taken == count, "events were refused: the figure would be of something else")
            return taken
        }
        let comparison = Comparison.nanoseconds(
            operations: count, before: { try? transactions.sources.source?.writer.runAndWait { _, _ in } }
        ) {
            transactions.perform(Login.self) { _ in begin() }
        } against: {
            begin()
        }
        try await transactions.sync()
        return comparison
    }

    /// An event without attributes, with an app's hook that keeps everything.
    static let logHook = Row("logHook", unit: "ns/event", against: "log without a hook") {
        try await loggingAsked({ $0 }) { $0.log(.initiated) }
    }

    /// An event with an attribute that the app's hook changes.
    static let logHookChange = Row("logHookChange", unit: "ns/event", against: "the same without a hook") {
        try await loggingAsked { draft in
            guard case .event(var event) = draft else { return draft }
            event.attributes["screen"] = "changed"
            return .event(event)
        } log: {
            $0.log(.initiated, attributes: ["screen": "login"])
        }
    }

    /// Compares the cost of events with a hook and without one.
    private static func loggingAsked(
        _ hook: @escaping @Sendable (RecordingDraft) -> RecordingDraft?,
        log: @escaping (UseCaseTransaction<Login>) -> LogResult
    ) async throws -> Comparison {
        try await logging { folder in
            TransactionManager(store: .directory(folder)) { $0.willRecord = hook }
        } log: {
            log($0)
        }
    }

    /// Compares the cost of events with this manager and with a default one.
    private static func logging(
        by manager: (URL) -> TransactionManager, log: @escaping (UseCaseTransaction<Login>) -> LogResult
    ) async throws -> Comparison {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let count = 10_000
        let managers = [
            manager(folder.appending(path: "this")),
            TransactionManager(store: .directory(folder.appending(path: "bare"))),
        ]
        let logins = managers.map { $0.begin(Login.self) }
        for manager in managers { try await manager.sync() }
        let record = { (login: UseCaseTransaction<Login>) in
            let taken = (0..<count).count { _ in log(login) == .journaled }
            precondition(taken == count, "events were refused: the figure would be of something else")
            return taken
        }
        return try Comparison.nanoseconds(
            operations: count,
            before: { for manager in managers { try manager.sources.source?.writer.runAndWait { _, _ in } } },
            of: { record(logins[0]) }, against: { record(logins[1]) })
    }

    /// The same with a journal that must not be mapped, where each record is written to its file; against a mapped one.
    static let logWritten = Row("logWritten", unit: "ns/event", against: "a mapped journal") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let writers = [false, true].map { isMapped in
            SourceWriter(
                source: SourceIdentity(id: GUID(), app: "bench", appVersion: "1"), place: .folder(folder),
                clock: SystemClock(),
                capacity: 1_000,
                journalSize: JournalSize(isMapped: isMapped))
        }
        var parts: [Int64] = []
        for writer in writers {
            parts.append(
                writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0).sequence)
            try await writer.sync()
        }
        let record = { (index: Int) in
            let taken = (0..<10_000).count { _ in
                writers[index].recorder.record(event: 0, part: parts[index]).result == .journaled
            }
            precondition(taken == 10_000, "events were refused: the figure would be of something else")
            return taken
        }
        return try Comparison.nanoseconds(
            operations: 10_000, before: { for writer in writers { try writer.runAndWait { _, _ in } } },
            of: { record(0) },
            against: { record(1) })
    }

    /// The journal pages that the caller's thread had to wait for; against all pages that it wrote to.
    static let logFaults = Row("logFaults", unit: "per M events", against: "pages written") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(store: .directory(folder))
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        var faults = 0
        for _ in 0..<100 {
            try transactions.sources.source?.writer.runAndWait { _, _ in }
            let before = pageFaultCount()
            for _ in 0..<10_000 { login.log(.initiated) }
            faults += pageFaultCount() - before
        }
        return Comparison(value: Double(faults), baseline: 1_000_000 * 40 / 4_096)
    }

    /// The allocations for an event without attributes, on the caller's thread.
    static let logAllocations = Row("logAllocations", unit: "per event", against: "an event with an attribute") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(store: .directory(folder))
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        let allocations = { (log: () -> LogResult) in
            let before = allocation_count()
            for _ in 0..<1_000 where log() != .journaled {
                preconditionFailure("it was refused: the figure would be of something else")
            }
            return Double(allocation_count() - before) / 1_000
        }
        return Comparison(
            value: allocations { login.log(.initiated) },
            baseline: allocations { login.log(.initiated, attributes: ["screen": "login"]) })
    }

    /// The memory of a manager at rest: pages that were written to and belong to this process alone.
    static let memory = Row("memory", unit: "MB private", against: "before the manager") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let before = privateMegabytes()
        let transactions = TransactionManager(store: .directory(folder))
        transactions.perform(Login.self) { $0.log(.initiated) }
        try await transactions.sync()
        let after = privateMegabytes()
        return withExtendedLifetime(transactions) { Comparison(value: after, baseline: before) }
    }
}

/// Returns the page faults of this thread so far; 0 on systems that do not report them.
private func pageFaultCount() -> Int {
    #if os(Linux)
    var usage = rusage()  // of RUSAGE_THREAD, which Swift does not see
    getrusage(__rusage_who_t(1), &usage)
    return usage.ru_minflt + usage.ru_majflt
    #else
    return 0
    #endif
}

/// Returns the written memory of this process alone, from Linux's `/proc/self/smaps_rollup`; 0 elsewhere.
private func privateMegabytes() -> Double {
    guard let text = try? String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8) else { return 0 }
    let line = text.split(separator: "\n").first { $0.hasPrefix("Private_Dirty:") }
    return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
}
