import Dispatch
import Foundation
public import WaybillCore

/// The state of recording and delivery.
public struct RecordingHealth: Sendable, Equatable {
    /// The current problems, as sentences that say what to do.
    public var problems: [WaybillError] = []
    /// Likely mistakes, such as facts without a delivery, as sentences that say what to do.
    public var hints: [String] = []
    /// The number of facts that were not recorded for lack of room.
    public var refused: Int64 = 0
    /// The number of facts and bodies that ``TransactionManager/Options/willRecord`` withheld. No ledger counts them.
    public var withheld: Int64 = 0
    /// The number of spans and log lines beyond 1,000 per part, or of events beyond 128 per span.
    public var omittedReports: Int64 = 0
    /// The number of attributes that were cut or dropped because of `Limits`.
    public var truncated: Int64 = 0
    /// The number of bodies that were cut because too much data waited for the disk.
    public var omittedBodies: Int64 = 0
    /// The number of unreadable header fields in incoming requests, which were ignored.
    public var malformedHeaders: Int64 = 0
    /// The number of requests whose header field named another use case than the server's, which was recorded.
    public var mismatchedUseCases: Int64 = 0
    /// The number of unrecorded requests with a use case that is not in
    /// ``TransactionManager/Options/Server-swift.struct/accepting``.
    public var unknownUseCases: Int64 = 0
    /// The number of unrecorded requests beyond ``TransactionManager/Options/Server-swift.struct/joinsPerMinute`` or
    /// 1,000 per transaction.
    public var refusedJoins: Int64 = 0
    /// The number of use cases and events that were refused because their code was below 0 or beyond 2^53.
    public var impossibleCodes: Int64 = 0

    /// Whether there are no problems and nothing was refused.
    public var isGood: Bool { problems.isEmpty && refused == 0 && impossibleCodes == 0 }

    var unknownUseCaseHint: String? {
        unknownUseCases == 0
            ? nil
            : "Requests named use cases that `options.server.accepting` does not have, and left no trace; add those that are yours."
    }
}

/// Holds what is counted; the manager adds the rest.
package typealias Counters = Locked<RecordingHealth>

extension Locked<RecordingHealth> {
    package func add(_ count: Int = 1, to counter: any WritableKeyPath<RecordingHealth, Int64> & Sendable) {
        withLock { $0[keyPath: counter] += Int64(count) }
    }
}

/// The app's closure runs on a separate queue without any lock, so it may call any method of the manager.
package final class Diagnostics: Sendable {
    private struct State {
        var told: Set<String> = []
        var hints: [Hint: [String: Int64]] = [:]
    }

    private static let limit = 1000
    private static let subjectLimit = 20

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "waybill.diagnostics", qos: .utility)
    private let tell: @Sendable (String) -> Void

    init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

    func once(_ message: String) {
        guard state.withLock({ $0.told.count < Self.limit && $0.told.insert(message).inserted }) else { return }
        _ = Self.isFinishedAtExit
        Self.untold.enter()
        queue.async { [tell] in
            tell(message)
            Self.untold.leave()
        }
    }

    func note(_ hint: Hint, about subject: String = "", count: Int64 = 1) {
        let isFirst = state.withLock { state in
            var counts = state.hints[hint, default: [:]]
            let before = counts[subject]
            guard before != nil || counts.count < Self.subjectLimit else { return false }
            let (sum, isTooLarge) = (before ?? 0).addingReportingOverflow(count)
            counts[subject] = isTooLarge ? .max : sum
            state.hints[hint] = counts
            return before == nil
        }
        if isFirst { once(hint.message(about: subject, count: count)) }
    }

    var hints: [String] {
        state.withLock { $0.hints }
            .flatMap { hint, counts in counts.map { hint.message(about: $0.key, count: $0.value) } }
            .sorted()
    }

    /// Don't call it on the queue itself.
    package func settle() { queue.sync {} }

    // MARK: At the end of the process

    private static let untold = DispatchGroup()
    /// Gives a process that exits at once a moment to report why it recorded nothing.
    private static let isFinishedAtExit =
        atexit { _ = Diagnostics.untold.wait(timeout: .now() + .milliseconds(50)) } == 0
}

/// A likely mistake of the developer, although everything works.
enum Hint: Hashable, Sendable {
    /// The subject is the whole message.
    case uncorrelated
    /// The subject is the use case of an open transaction.
    case requestOutside
    /// A task outlived its transaction; the subject is the use case.
    case afterEnd
    /// The subject is the use case.
    case closedHandle
    case refusedEvents
    case refusedOpenings
    case tooManyAttributes
    /// Names or values are too long, or numbers are not finite.
    case cutAttributes

    case cutSourceAttributes

    func message(about subject: String, count: Int64) -> String {
        switch self {
        case .uncorrelated: return subject
        case .requestOutside:
            let requests =
                count == 1
                ? "1 request to a correlated host was made" : "\(count) requests to correlated hosts were made"
            return
                "\(requests) outside any transaction while `\(subject)` was open: pass the transaction with `in:`, or make it "
                + "current with `withCurrent`. `Task.detached`, Dispatch and completion handlers do not inherit it."
        case .afterEnd:
            let uses = count == 1 ? "1 request or event" : "\(count) requests and events"
            return
                "\(uses) came from a task of `\(subject)` more than \(OpenPart.graceSeconds) s after that transaction had ended, and "
                + "belong to no transaction: begin another one in that task, or start it with `Task.detached`."
        case .closedHandle:
            let times = count == 1 ? "once" : "\(count) times"
            return
                "A handle of `\(subject)` was used \(times) after its transaction had ended: the outcome stays, and what is recorded "
                + "counts as late. For several attempts, run each in `withCurrent` and call `finish` once, or begin a "
                + "child transaction for each."
        case .refusedEvents:
            let events = count == 1 ? "1 event was" : "\(count) events were"
            return
                "\(events) not recorded: so many were logged at once that the journal was full before the store had written "
                + "them. Log one event with a count instead of one for each item of a loop."
        case .refusedOpenings:
            let openings = count == 1 ? "1 transaction or exchange was" : "\(count) transactions and exchanges were"
            return
                "\(openings) not recorded: too many were open, or too much was recorded at once. Finish each transaction, end "
                + "each exchange, or raise `options.maximumOpen`."
        case .tooManyAttributes:
            let times = count == 1 ? "once" : "\(count) times"
            return
                "More than \(Limits.attributes) attributes were given \(times): only the first \(Limits.attributes) by name are "
                + "kept. Use fewer, or put some of them on events."
        case .cutAttributes:
            let values = count == 1 ? "1 attribute was" : "\(count) attributes were"
            return
                "\(values) changed to fit: a name has at most \(Limits.nameLength) characters, a value \(Limits.valueLength), and numbers are "
                + "finite and below 2^53."
        case .cutSourceAttributes:
            let values = count == 1 ? "1 attribute" : "\(count) attributes"
            return
                "\(values) of `options.sourceAttributes` did not fit: there are at most \(Limits.attributes), with names of "
                + "\(Limits.nameLength) and values of \(Limits.valueLength) characters."
        }
    }
}

enum StandardError {
    /// Writes a text if somebody reads it. Without a reader, `FileHandle.write(_:)` would crash, and SIGPIPE end the process.
    static func write(_ text: String) {
        var (pipe, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        guard pthread_sigmask(SIG_BLOCK, &pipe, &before) == 0 else { return }
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
        sigpending(&pending)
        // The signal is for this thread, which takes it before it is unblocked.
        if !wasPending, sigismember(&pending, SIGPIPE) == 1 {
            var signal: Int32 = 0
            sigwait(&pipe, &signal)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
