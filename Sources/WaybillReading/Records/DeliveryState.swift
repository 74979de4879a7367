package import WaybillCore
import WaybillStore

/// How facts come into a store and go on from it.
package struct DeliveryState: Sendable {
    /// What was recorded into this very store; nil where nothing was.
    package var own: Own?
    /// Facts that a collector rejected, together where source and reason are the same, the latest first; at most ``groupLimit``.
    package var quarantine: [QuarantineGroup]
    /// All of them.
    package var quarantinedCount: Int
    /// Transactions of sets of version 0.0.1 that could not be read, the latest first; at most ``groupLimit``.
    package var legacyQuarantine: [LegacyQuarantined] = []
    /// All of them.
    package var legacyQuarantinedCount = 0
    /// What came from others, an hour each, without holes, up to now; empty where nothing ever came.
    package var hours: [Hour]

    package static let groupLimit = 100

    /// What was recorded into this very store.
    package struct Own: Sendable {
        /// Facts that are not settled.
        package var pendingCount: Int
        /// Facts that a collector took.
        package var deliveredCount: Int
        /// The set that is on its way, and its facts; nil: none.
        package var sending: (set: GUID, factCount: Int)?
        /// The latest transaction of which nothing is pending; nil: there is none.
        package var settled: TransactionSummary?
        /// The pause that holds, or has held since the last success, as the store was told last; nil: delivery works, or was never tried.
        package var pause: DeliveryPause?
        /// What is left of launches that have ended, by app.
        package var totals: [AppTotal]

        package init(
            pendingCount: Int, deliveredCount: Int, sending: (set: GUID, factCount: Int)?, settled: TransactionSummary?,
            pause: DeliveryPause?, totals: [AppTotal]
        ) {
            (self.pendingCount, self.deliveredCount, self.sending) = (pendingCount, deliveredCount, sending)
            (self.settled, self.pause, self.totals) = (settled, pause, totals)
        }
    }

    /// Facts of one source in quarantine for one reason.
    package struct QuarantineGroup: Sendable {
        package var source: GUID
        package var app: String
        /// The collector's words.
        package var reason: String
        package var count: Int
        /// Sequences.
        package var first, last: Int
        /// Microseconds since 1970 when the first and the last were rejected.
        package var firstMicroseconds, lastMicroseconds: Int
        /// The first of them; nil where it is no longer there, or not among those that are shown.
        package var sample: Fact?

        package init(
            source: GUID, app: String, reason: String, count: Int, first: Int, last: Int, firstMicroseconds: Int, lastMicroseconds: Int,
            sample: Fact?
        ) {
            (self.source, self.app, self.reason, self.count) = (source, app, reason, count)
            (self.first, self.last, self.sample) = (first, last, sample)
            (self.firstMicroseconds, self.lastMicroseconds) = (firstMicroseconds, lastMicroseconds)
        }
    }

    /// What was received in one hour.
    package struct Hour: Hashable, Sendable {
        /// Microseconds since 1970.
        package var beginMicroseconds: Int
        /// Sets that brought something new.
        package var setCount: Int
        /// New facts.
        package var factCount: Int

        package init(beginMicroseconds: Int, setCount: Int, factCount: Int) {
            self.beginMicroseconds = beginMicroseconds
            self.setCount = setCount
            self.factCount = factCount
        }
    }

    package init(own: Own?, quarantine: [QuarantineGroup], quarantinedCount: Int, hours: [Hour]) {
        self.own = own
        self.quarantine = quarantine
        self.quarantinedCount = quarantinedCount
        self.hours = hours
    }
}
