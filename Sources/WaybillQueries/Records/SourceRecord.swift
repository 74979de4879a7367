public import Foundation
public import WaybillCore
import WaybillStore

/// What a store knows of one source: who it is, what became of its facts, and what is missing.
public struct SourceRecord: Hashable, Sendable, Codable, Identifiable {
    /// The recorder's ID.
    public var id: GUID
    /// The app on its device; nil where none was told.
    public var installation: GUID?
    /// The app's or service's name.
    public var app: String
    /// The app's version.
    public var appVersion: String
    /// The model.
    public var device: String
    /// `iOS`, `Linux`.
    public var os: String
    /// The system's version.
    public var osVersion: String
    /// What the app said about this launch.
    public var attributes: Attributes
    /// Microseconds since 1970 when it started; nil where no clock anchor is known.
    package var startedMicroseconds: Int64?
    /// Microseconds since 1970 when a set of it last arrived; nil for a source that recorded into this very store.
    package var heardMicroseconds: Int64?
    /// Whether it runs no longer: what it left open was interrupted.
    public var hasEnded: Bool
    /// How it ended; nil: that is not known, or it has not.
    public var endedBy: SourceEnd?
    /// At a collector, `delivered` is what has arrived and `pending` what has not (yet).
    public var ledger: Ledger
    /// Sequences that were recorded and have not arrived, although later ones have; empty for a source of this very
    /// store. At most ``gapLimit``, the first.
    public var gaps: [Gap]
    /// How many gaps there are, where that is more than ``gaps`` has; nil: it has all of them.
    public var gapCount: Int?

    /// How many gaps are listed. Value: 1,000.
    public static let gapLimit = 1_000

    /// First and last sequence, both inside.
    public struct Gap: Hashable, Sendable, Codable {
        /// The first sequence that is missing.
        public var first: Int64
        /// The last sequence that is missing.
        public var last: Int64

        /// Makes a gap.
        public init(first: Int64, last: Int64) {
            self.first = first
            self.last = last
        }
    }

    /// Makes a record.
    package init(
        id: GUID, installation: GUID?, app: String, appVersion: String, device: String, os: String, osVersion: String,
        attributes: Attributes, startedMicroseconds: Int64?, heardMicroseconds: Int64?, hasEnded: Bool, ledger: Ledger,
        gaps: [Gap], endedBy: SourceEnd? = nil
    ) {
        self.id = id
        self.installation = installation
        self.app = app
        self.appVersion = appVersion
        self.device = device
        self.os = os
        self.osVersion = osVersion
        self.attributes = attributes
        self.startedMicroseconds = startedMicroseconds
        self.heardMicroseconds = heardMicroseconds
        self.hasEnded = hasEnded
        self.endedBy = endedBy
        self.ledger = ledger
        self.gaps = gaps
    }
}

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
    package var legacyQuarantine: [LegacyQuarantined] = []
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
        package var pause: DeliveryPause?
        /// For how long delivery still pauses, and after how many failures in a row; `nil` if it does not pause.
        public var delay: (remaining: Duration, failureCount: Int)? {
            pause.map { ($0.remaining, $0.failureCount) }
        }
        /// What is left of launches that have ended, by app.
        package var totals: [AppTotal]

        /// Makes a state.
        package init(
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
        package var sample: Fact?

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
        package init(
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

/// A code that has had several names: in versions of one app, or in several apps.
///
/// Nothing is wrong with what was recorded, but one of the names misleads its readers.
public struct NameConflict: Hashable, Sendable, Codable {
    /// The use case's code.
    public var useCase: Int
    /// The event's code; nil: it is the use case that has several names.
    public var event: Int?
    /// Who uses which name; by app, then from the lowest version on. Of many, the first.
    public var names: [Use]
    /// How many names of apps there are besides; nil: none.
    public var furtherNames: Int?

    /// Makes a conflict.
    public init(useCase: Int, event: Int?, names: [Use]) {
        self.useCase = useCase
        self.event = event
        self.names = names
    }

    /// One name, and the versions of one app that use it.
    public struct Use: Hashable, Sendable, Codable {
        /// What people see.
        public var name: String
        /// The app's or service's name.
        public var app: String
        /// From the lowest to the highest; digits compare as numbers. Of many, the lowest.
        public var versions: [String]
        /// How many versions there are besides; nil: none.
        public var furtherVersions: Int?

        /// Makes a use.
        public init(name: String, app: String, versions: [String]) {
            self.name = name
            self.app = app
            self.versions = versions
        }
    }
}

extension NameConflict: CustomStringConvertible {
    /// `Event 1 of use case 0 has several names: sent (shop 1.0, 1.1), requestSent (shop 1.2).`
    public var description: String {
        let code = event.map { "Event \($0) of use case \(useCase)" } ?? "Use case \(useCase)"
        let uses = names.map { use in
            let more = use.furtherVersions.map { " and \($0) more" } ?? ""
            let places = ([use.app] + [use.versions.joined(separator: ", ")]).filter { !$0.isEmpty }
            return places.isEmpty ? use.name : "\(use.name) (\(places.joined(separator: " "))\(more))"
        }
        let more = furtherNames.map { " and \($0) more" } ?? ""
        return "\(code) has several names: \(uses.joined(separator: ", "))\(more)."
    }
}
