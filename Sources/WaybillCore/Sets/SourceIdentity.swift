/// The description of a source: one launch of a process. A fork or a reset of the installation starts a new source.
package struct SourceIdentity: Equatable, Sendable {
    package var id: GUID
    /// The random, resettable ID of one app on one device, or of one server.
    package var installation: GUID?
    /// The name of the app or service, e.g. its bundle identifier.
    package var app: String
    package var appVersion: String
    /// The model, e.g. `iPhone17,1` or `x86_64`.
    package var device: String
    package var os: String
    package var osVersion: String
    /// The app's own attributes of this launch, e.g. the environment.
    package var attributes: Attributes

    package init(
        id: GUID, installation: GUID? = nil, app: String = "", appVersion: String = "", device: String = "",
        os: String = "",
        osVersion: String = "", attributes: Attributes = [:]
    ) {
        self.id = id
        self.installation = installation
        self.app = app
        self.appVersion = appVersion
        self.device = device
        self.os = os
        self.osVersion = osVersion
        self.attributes = attributes
    }
}

package struct AppVersion: Hashable, Sendable {
    package var app: String
    package var version: String

    package init(app: String, version: String) {
        self.app = app
        self.version = version
    }

    package init(_ source: SourceIdentity) { self.init(app: source.app, version: source.appVersion) }
}

/// Maps source time to wall time, from this moment to the next anchor: wall time = source time + offset.
package struct ClockAnchor: Hashable, Sendable {
    /// Microseconds since the start of the source.
    package var atMicroseconds: Int64
    package var offsetMicroseconds: Int64

    package init(atMicroseconds: Int64, offsetMicroseconds: Int64) {
        self.atMicroseconds = atMicroseconds
        self.offsetMicroseconds = offsetMicroseconds
    }
}

extension Ledger {
    /// The reason that pending facts were dropped. Facts are counted by reason, and the collector receives the counts.
    public enum DropReason: String, Hashable, Sendable, CaseIterable, Codable {
        /// The store reached its size limit.
        case quota
        /// The facts exceeded the store's maximum age.
        case age
        /// A user or an operator requested erasure.
        case erased
        /// The facts could not be read any more.
        case damaged
        /// Sampling did not choose the transaction, and it ended well.
        case sampled
        /// The collector's host withheld the facts when they arrived.
        case withheld
    }
}

package struct DroppedRange: Hashable, Sendable {
    package var first: Int64
    package var last: Int64
    package var reason: Ledger.DropReason

    package init(first: Int64, last: Int64, reason: Ledger.DropReason) {
        self.first = first
        self.last = last
        self.reason = reason
    }

    package var range: ClosedRange<Int64> { first...max(first, last) }
}

/// The counts of a source's facts: recorded = delivered + quarantined + dropped + pending.
public struct Ledger: Hashable, Sendable, Codable {
    /// Facts with a sequence; equal to the highest sequence.
    public var recorded: Int64 = 0
    /// Facts that the collector accepted, or knew already.
    public var delivered: Int64 = 0
    /// Facts that the collector rejected, kept by the sender.
    public var quarantined: Int64 = 0
    /// Facts that were dropped before delivery, by reason.
    public var dropped: [String: Int64] = [:]
    /// Facts that are not settled yet.
    public var pending: Int64 = 0
    /// Facts that were not recorded for lack of room. They have no sequence and are not part of ``recorded``.
    public var refused: Int64 = 0

    /// Creates a ledger.
    public init(
        recorded: Int64 = 0, delivered: Int64 = 0, quarantined: Int64 = 0, dropped: [String: Int64] = [:],
        pending: Int64 = 0,
        refused: Int64 = 0
    ) {
        self.recorded = recorded
        self.delivered = delivered
        self.quarantined = quarantined
        self.dropped = dropped
        self.pending = pending
        self.refused = refused
    }

    /// Whether every recorded fact is accounted for.
    public var isBalanced: Bool { recorded == accountedFor }

    package var accountedFor: Int64 { delivered + quarantined + dropped.values.reduce(0, +) + pending }
}

/// How a source ended, as determined by the next launch on its device.
///
/// Optional values are `nil` if this is unknown: the process still runs, was killed or crashed without caught signals,
/// or had an older version.
public enum SourceEnd: Hashable, Sendable {
    /// The process exited, or released its manager.
    case exit
    /// A caught signal ended the process. The name is `SIGSEGV`, for example.
    case signal(String)
    /// The device restarted after the source's last sign of life. The process may have died earlier.
    case reboot
    /// The system or a user killed the process with an uncatchable signal, e.g. for its memory use.
    case system
    /// A word of a later version of Waybill.
    case other(String)

    /// Parses a word of ``name``; `nil` unless it has 1 to 32 letters, digits and underscores.
    package init?(name: some StringProtocol) {
        guard (1...32).contains(name.utf8.count),
            name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") })
        else { return nil }
        switch name {
        case "exit": self = .exit
        case "reboot": self = .reboot
        case "system": self = .system
        case _ where name.hasPrefix("SIG") && name.utf8.count > 3: self = .signal(String(name))
        default: self = .other(String(name))
        }
    }

    /// The word used in sets, stores, exports and filters: `exit`, `reboot`, `system`, or the signal's name.
    public var name: String {
        switch self {
        case .exit: "exit"
        case .signal(let name), .other(let name): name
        case .reboot: "reboot"
        case .system: "system"
        }
    }

    /// The description of a transaction's interruption: `its process died of SIGSEGV`.
    package var phrase: String {
        switch self {
        case .exit: "its process exited"
        case .signal(let name): "its process died of \(name)"
        case .reboot: "the device was restarted"
        case .system: "the system killed its process"
        case .other(let word): "its process ended: \(word)"
        }
    }
}

extension SourceEnd: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let end = Self(name: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no word for how a source ended")
        }
        self = end
    }

    public func encode(to encoder: any Encoder) throws { try name.encode(to: encoder) }
}
