public import Foundation
public import WaybillCore
import WaybillStore

/// How facts come into a store and go on from it.
public struct DeliveryState: Sendable {
    /// What was recorded into this very store; nil where nothing was.
    public var own: Own?
    /// Facts that a collector rejected, together where source and reason are the same, the latest first; at most
    /// ``groupLimit``.
    public var quarantine: [QuarantineGroup]
    /// All of them.
    public var quarantinedCount: Int
    /// Transactions of sets of version 0.0.1 that could not be read, the latest first; at most ``groupLimit``.
    public var legacyQuarantine: [LegacyQuarantined] = []
    /// All of them.
    public var legacyQuarantinedCount = 0
    /// What came from others, an hour each, without holes, up to now; empty where nothing ever came.
    public var hours: [Hour]

    /// The most that are told one by one.
    public static let groupLimit = 100

    /// What was recorded into this very store.
    public struct Own: Sendable {
        /// Facts that are not settled.
        public var pendingCount: Int64
        /// Those of them that sampling holds back until their transactions have ended.
        public var heldCount: Int64 = 0
        /// Facts that sampling has dropped, whether they can still be looked at or not.
        public var sampledCount: Int64 = 0
        /// Facts that a collector took.
        public var deliveredCount: Int64
        /// The set that is on its way, and its facts; nil: none.
        public var sending: (set: GUID, factCount: Int)?
        /// The latest transaction of which nothing is pending; nil: there is none.
        public var settled: TransactionSummary?
        /// The pause that holds, or has held since the last success, as the store was told last; nil: delivery works,
        /// or was never tried.
        public var pause: DeliveryPause?
        /// What is left of launches that have ended, by app.
        public var totals: [AppTotal]

        /// Makes a state.
        public init(
            pendingCount: Int64, deliveredCount: Int64, sending: (set: GUID, factCount: Int)?,
            settled: TransactionSummary?,
            pause: DeliveryPause?, totals: [AppTotal]
        ) {
            (self.pendingCount, self.deliveredCount, self.sending) = (pendingCount, deliveredCount, sending)
            (self.settled, self.pause, self.totals) = (settled, pause, totals)
        }
    }

    /// Facts of one source in quarantine for one reason.
    public struct QuarantineGroup: Sendable {
        /// Who recorded them.
        public var source: GUID
        /// Its app's or service's name.
        public var app: String
        /// The collector's words.
        public var reason: String
        /// How many they are.
        public var count: Int
        /// Sequences.
        public var first, last: Int64
        /// Microseconds since 1970 when the first and the last were rejected.
        package var firstMicroseconds, lastMicroseconds: Int64
        /// The first of them; nil where it is no longer there, or not among those that are shown.
        public var sample: Fact?

        package init(
            source: GUID, app: String, reason: String, count: Int, first: Int64, last: Int64, firstMicroseconds: Int64,
            lastMicroseconds: Int64,
            sample: Fact?
        ) {
            (self.source, self.app, self.reason, self.count) = (source, app, reason, count)
            (self.first, self.last, self.sample) = (first, last, sample)
            (self.firstMicroseconds, self.lastMicroseconds) = (firstMicroseconds, lastMicroseconds)
        }

        /// Makes a group; the first and the last of it, and when they were rejected.
        public init(
            source: GUID, app: String, reason: String, count: Int, sequences: ClosedRange<Int64>,
            rejected: ClosedRange<Date>, sample: Fact?
        ) {
            self.init(
                source: source, app: app, reason: reason, count: count, first: sequences.lowerBound,
                last: sequences.upperBound,
                firstMicroseconds: rejected.lowerBound.microseconds, lastMicroseconds: rejected.upperBound.microseconds,
                sample: sample)
        }
    }

    /// What was received in one hour.
    public struct Hour: Hashable, Sendable {
        /// Microseconds since 1970.
        package var beginMicroseconds: Int64
        /// Sets that brought something new.
        public var setCount: Int
        /// New facts.
        public var factCount: Int

        package init(beginMicroseconds: Int64, setCount: Int, factCount: Int) {
            self.beginMicroseconds = beginMicroseconds
            self.setCount = setCount
            self.factCount = factCount
        }

        /// Makes an hour that begins then.
        public init(begin: Date, setCount: Int, factCount: Int) {
            self.init(beginMicroseconds: begin.microseconds, setCount: setCount, factCount: factCount)
        }
    }

    /// Makes a state.
    public init(own: Own?, quarantine: [QuarantineGroup], quarantinedCount: Int, hours: [Hour]) {
        self.own = own
        self.quarantine = quarantine
        self.quarantinedCount = quarantinedCount
        self.hours = hours
    }
}
