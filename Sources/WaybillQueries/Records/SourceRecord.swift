import Foundation
public import WaybillCore
import WaybillStore

/// A source in a store: its description, ledger and gaps.
public struct SourceRecord: Hashable, Sendable, Codable, Identifiable {
    /// The ID of the source.
    public var id: GUID
    /// The installation; `nil` without one.
    public var installation: GUID?
    /// The name of the app or service.
    public var app: String
    /// The version of the app.
    public var appVersion: String
    /// The device model.
    public var device: String
    /// The operating system, such as `iOS` or `Linux`.
    public var os: String
    /// The version of the operating system.
    public var osVersion: String
    /// The attributes of this launch.
    public var attributes: Attributes
    package var startedMicroseconds: Int64?
    package var heardMicroseconds: Int64?
    /// Whether the source has ended. If so, its open transactions are interrupted.
    public var hasEnded: Bool
    /// The end of the process; `nil` if it is unknown, or if the source has not ended.
    public var endedBy: SourceEnd?
    /// The ledger. In a collector, `delivered` facts have arrived, and `pending` facts have not.
    public var ledger: Ledger
    /// The missing sequences before arrived ones; empty for the store's own sources. At most the first ``gapLimit``.
    public var gaps: [Gap]
    /// The number of all gaps if there are more than in ``gaps``; otherwise `nil`.
    public var gapCount: Int?

    /// The most gaps in a record: 1,000.
    public static let gapLimit = 1_000

    /// A range of missing sequences, inclusive.
    public struct Gap: Hashable, Sendable, Codable {
        /// The first missing sequence.
        public var first: Int64
        /// The last missing sequence.
        public var last: Int64

        /// Creates a gap.
        public init(first: Int64, last: Int64) {
            self.first = first
            self.last = last
        }
    }

    package init(
        _ source: SourceIdentity, startedMicroseconds: Int64?, heardMicroseconds: Int64?, hasEnded: Bool,
        ledger: Ledger, gaps: [Gap], endedBy: SourceEnd? = nil
    ) {
        (id, installation, app, appVersion) = (source.id, source.installation, source.app, source.appVersion)
        (device, os, osVersion, attributes) = (source.device, source.os, source.osVersion, source.attributes)
        self.startedMicroseconds = startedMicroseconds
        self.heardMicroseconds = heardMicroseconds
        self.hasEnded = hasEnded
        self.endedBy = endedBy
        self.ledger = ledger
        self.gaps = gaps
    }
}

package struct DeliveryState: Sendable {
    /// The facts recorded into this store; `nil` without any.
    package var own: Own?
    /// The facts that a collector rejected, grouped by source and reason, the latest first. At most ``groupLimit``.
    package var quarantine: [QuarantineGroup]
    package var quarantinedCount: Int
    /// The unreadable transactions of sets of version 0.0.1, the latest first. At most ``groupLimit``.
    package var legacyQuarantine: [LegacyQuarantined] = []
    package var legacyQuarantinedCount = 0
    /// The arrivals from other sources by hour, without holes, up to now; empty without any.
    package var hours: [Hour]

    package static let groupLimit = 100

    package struct Own: Sendable {
        package var pendingCount: Int64
        /// The number of pending facts that sampling holds until the ends of their transactions.
        package var heldCount: Int64 = 0
        /// The number of facts that sampling dropped, even if they are still here.
        package var sampledCount: Int64 = 0
        package var deliveredCount: Int64
        package var sending: (set: GUID, factCount: Int)?
        /// The latest transaction without pending facts; `nil` without one.
        package var settled: TransactionSummary?
        /// The last known pause since the last success; `nil` if delivery works or was never tried.
        package var pause: DeliveryPause?
        /// The remaining facts of launches that have ended, by app.
        package var totals: [AppTotal]
    }

    /// The facts of one source that a collector rejected for one reason.
    package struct QuarantineGroup: Sendable {
        package var source: GUID
        package var app: String
        package var reason: String
        package var count: Int
        package var first, last: Int64
        package var firstMicroseconds, lastMicroseconds: Int64
        package var sample: Fact?
    }

    /// The facts received in one hour.
    package struct Hour: Hashable, Sendable {
        package var beginMicroseconds: Int64
        /// The number of sets with new facts.
        package var setCount: Int
        /// The number of new facts.
        package var factCount: Int
    }
}

/// A code with several names, in versions of an app or in several apps. One of them misleads readers.
public struct NameConflict: Hashable, Sendable, Codable {
    /// The code of the use case.
    public var useCase: Int
    /// The code of the event; `nil` if the use case has the names.
    public var event: Int?
    /// The names by app, then from the lowest version. If there are many, only the first.
    public var names: [Use]
    /// The number of names that are left out; `nil` if there are none.
    public var furtherNames: Int?

    /// Creates a conflict.
    public init(useCase: Int, event: Int?, names: [Use]) {
        self.useCase = useCase
        self.event = event
        self.names = names
    }

    /// One name, and the versions of an app that use it.
    public struct Use: Hashable, Sendable, Codable {
        /// The name that people see.
        public var name: String
        /// The name of the app or service.
        public var app: String
        /// The versions in numeric order. If there are many, only the lowest.
        public var versions: [String]
        /// The number of versions that are left out; `nil` if there are none.
        public var furtherVersions: Int?

        /// Creates a use.
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
