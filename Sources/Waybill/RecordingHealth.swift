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
