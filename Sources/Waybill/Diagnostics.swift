import Dispatch
import Foundation
public import WaybillCore

/// How recording and delivery are doing.
public struct RecordingHealth: Sendable, Hashable {
    /// What is wrong at the moment, in sentences that say what to do; empty when nothing is.
    public var problems: [WaybillError]
    /// What you probably did not mean, although nothing fails, in sentences that say what to do.
    ///
    /// Recording is off, facts wait and nothing delivers them, requests belong to no transaction or carry no header
    /// field, a handle is used after its transaction has ended, attributes or events exceed their limits. Hints don't
    /// change ``isGood``.
    public var hints: [String]
    /// Facts that were not taken for want of room.
    public var refused: Int64
    /// What ``TransactionManager/Options/willRecord`` kept from being recorded: facts, bodies, and what belongs to a
    /// transaction whose opening it withheld. It has no sequence, so no ledger knows of it. Leaves ``isGood`` as it is.
    public var withheld: Int64
    /// Spans and lines of logs that were left out, since a thousand of them had been recorded of the same part, or 128
    /// events of the same span. Leaves ``isGood`` as it is.
    public var omittedReports: Int64
    /// Attributes that were cut short or left out because of `Limits`.
    public var truncated: Int64
    /// Bodies that were cut short because too much waited for the disk.
    public var omittedBodies: Int64
    /// Header fields of incoming requests that could not be read, and were ignored.
    public var malformedHeaders: Int64
    /// Requests whose header field named another use case than the server's; the server's was recorded.
    public var mismatchedUseCases: Int64
    /// Requests whose header field named a use case that is not among ``TransactionManager/Options/useCases``; nothing
    /// else was recorded of them.
    public var unknownUseCases: Int64
    /// Requests whose header field named one more transaction than ``TransactionManager/Options/joinsPerMinute`` allows,
    /// or one that had a thousand requests; nothing else was recorded of them.
    public var refusedJoins: Int64
    /// Use cases and events whose code was below 0 or beyond 2^53, and which were refused for that.
    public var impossibleCodes: Int64

    /// Whether nothing is wrong and nothing was refused.
    public var isGood: Bool { problems.isEmpty && refused == 0 && impossibleCodes == 0 }
}

/// Counts that only go up.
package final class Counters: Sendable {
    package struct Values: Sendable {
        package var withheld: Int64 = 0
        package var omittedReports: Int64 = 0
        package var truncated: Int64 = 0
        package var malformedHeaders: Int64 = 0
        package var mismatchedUseCases: Int64 = 0
        package var unknownUseCases: Int64 = 0
        package var refusedJoins: Int64 = 0
        package var impossibleCodes: Int64 = 0

        var unknownUseCaseHint: String? {
            unknownUseCases == 0
                ? nil
                : "Requests named use cases that `options.useCases` does not have, and left no trace; add those that are yours."
        }
    }

    private let values = Locked(Values())

    package init() {}

    package var current: Values { values.withLock { $0 } }

    package func add(_ count: Int = 1, to counter: any WritableKeyPath<Values, Int64> & Sendable) {
        values.withLock { $0[keyPath: counter] += Int64(count) }
    }
}

/// Tells the app's developer what they would want to know: each message once, and hints with a count in `health`.
///
/// The app's closure runs on a queue of its own, with no lock of the library's held: it may call any method of the
/// manager, which waits for the store's thread.
package final class Diagnostics: Sendable {
    private struct State {
        var told: Set<String> = []
        /// How often each happened, by what it is about.
        var hints: [Hint: [String: Int64]] = [:]
    }

    /// Different messages that are enough.
    private static let limit = 1000
    /// Different subjects of one hint that are enough.
    private static let subjectLimit = 20

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "waybill.diagnostics", qos: .utility)
    private let tell: @Sendable (String) -> Void

    init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

    /// Tells a message, unless it was told before.
    func once(_ message: String) {
        guard state.withLock({ $0.told.count < Self.limit && $0.told.insert(message).inserted }) else { return }
        _ = Self.isFinishedAtExit
        Self.untold.enter()
        queue.async { [tell] in
            tell(message)
            Self.untold.leave()
        }
    }

    /// Counts a hint, and tells it the first time.
    ///
    /// - Parameters:
    ///   - subject: What it is about, e.g. the name of a use case.
    ///   - count: How often it happened.
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

    /// All hints with their counts, in alphabetical order.
    var hints: [String] {
        state.withLock { $0.hints }
            .flatMap { hint, counts in counts.map { hint.message(about: $0.key, count: $0.value) } }
            .sorted()
    }

    /// Waits until everything was told; never called on the queue itself.
    package func settle() { queue.sync {} }

    // MARK: At the end of the process

    private static let untold = DispatchGroup()
    /// Gives a process that exits at once a moment to say why it recorded nothing.
    private static let isFinishedAtExit =
        atexit { _ = Diagnostics.untold.wait(timeout: .now() + .milliseconds(50)) } == 0
}

/// Something that records other than the developer probably meant, although nothing fails.
enum Hint: Hashable, Sendable {
    /// A request inside a transaction carried no header field; the subject is the whole message.
    case uncorrelated
    /// A request belongs to no transaction, although one was open; the subject is its use case.
    case requestOutside
    /// A task that outlives its transaction asked for it; the subject is the use case.
    case afterEnd
    /// A handle was used again after its transaction had ended; the subject is the use case.
    case closedHandle
    /// Events that the journal had no room for.
    case refusedEvents
    /// Transactions and exchanges that the journal had no room for.
    case refusedOpenings
    /// More attributes than are kept.
    case tooManyAttributes
    /// Attributes whose name or value is too long, or that are not finite numbers.
    case cutAttributes

    /// Attributes of the source that were cut or left out.
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
                + "current with `makingCurrent`. `Task.detached`, Dispatch and completion handlers do not inherit it."
        case .afterEnd:
            let uses = count == 1 ? "1 request or event" : "\(count) requests and events"
            return
                "\(uses) came from a task of `\(subject)` more than \(OpenPart.graceSeconds) s after that transaction had ended, and "
                + "belong to no transaction: begin another one in that task, or start it with `Task.detached`."
        case .closedHandle:
            let times = count == 1 ? "once" : "\(count) times"
            return
                "A handle of `\(subject)` was used \(times) after its transaction had ended: the outcome stays, and what is recorded "
                + "counts as late. For several attempts, run each in `makingCurrent` and call `finish` once, or begin a "
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
