/// One running recorder: a launch of a process. After `fork`, and after the installation was reset, it is a new source.
package struct SourceIdentity: Hashable, Sendable {
    /// Its own ID.
    package var id: GUID
    /// The random, resettable ID of one app on one device, or of one server; nil where there is none.
    package var installation: GUID?
    /// The app's or service's name, e.g. its bundle identifier.
    package var app: String
    /// Its version, e.g. `1.4.0`.
    package var appVersion: String
    /// The model, e.g. `iPhone17,1` or `x86_64`.
    package var device: String
    /// `iOS`, `Linux`.
    package var os: String
    /// The system's version, e.g. `18.5.0`.
    package var osVersion: String
    /// What the app says about this launch, e.g. the environment.
    package var attributes: Attributes

    /// Makes a description.
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

/// Ties a source's clock to the wall: wall time = time in the source + offset, from this moment to the next anchor.
///
/// In whole microseconds, as facts and the format have them.
package struct ClockAnchor: Hashable, Sendable {
    /// Microseconds since the source started.
    package var atMicroseconds: Int64
    /// Microseconds to add for microseconds since 1970.
    package var offsetMicroseconds: Int64

    /// Makes an anchor.
    package init(atMicroseconds: Int64, offsetMicroseconds: Int64) {
        self.atMicroseconds = atMicroseconds
        self.offsetMicroseconds = offsetMicroseconds
    }
}

/// What a code was called by one version of one app.
package struct RecordedName: Hashable, Sendable {
    /// The use case's code.
    package var useCase: Int
    /// The event's code; nil for the name of the use case itself.
    package var event: Int?
    /// What people see.
    package var name: String

    /// Makes a name.
    package init(useCase: Int, event: Int? = nil, name: String) {
        self.useCase = useCase
        self.event = event
        self.name = name
    }
}

extension Ledger {
    /// Why pending facts were given up. Each is counted and told to the collector.
    public enum DropReason: String, Hashable, Sendable, CaseIterable, Codable {
        /// The store was at its limit of bytes.
        case quota
        /// They had been pending longer than the store keeps them.
        case age
        /// Somebody asked for them to be erased.
        case erased
        /// They could not be read any more.
        case damaged
        /// Their transaction was not chosen by sampling, and ended well.
        case sampled
    }
}

/// Facts of one source, by first and last sequence, that were given up before they were delivered.
package struct DroppedRange: Hashable, Sendable {
    /// The first sequence, inside.
    package var first: Int64
    /// Not below `first`.
    package var last: Int64
    /// Why.
    package var reason: Ledger.DropReason

    /// Makes a range.
    package init(first: Int64, last: Int64, reason: Ledger.DropReason) {
        self.first = first
        self.last = last
        self.reason = reason
    }
}

/// What became of a source's facts: recorded = delivered + quarantined + dropped + pending.
public struct Ledger: Hashable, Sendable, Codable {
    /// Facts that were given a sequence: the highest sequence.
    public var recorded: Int64 = 0
    /// Accepted by the collector, or known to it already.
    public var delivered: Int64 = 0
    /// Rejected by the collector, and kept.
    public var quarantined: Int64 = 0
    /// Given up before they were delivered, by reason.
    public var dropped: [String: Int64] = [:]
    /// Not settled yet.
    public var pending: Int64 = 0
    /// Facts that were never taken, for want of room; they have no sequence and are not among the recorded.
    public var refused: Int64 = 0

    /// Makes a ledger.
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

    /// All that became something: what should be ``recorded``.
    package var accountedFor: Int64 { delivered + quarantined + dropped.values.reduce(0, +) + pending }
}

/// How a source ended, as far as the next launch on its device could tell.
///
/// nil, wherever there could be one, means that nobody can tell: it runs still, or it died of a crash or was killed while
/// signals were not caught, or it is of a version that did not say.
public enum SourceEnd: Hashable, Sendable {
    /// By itself: its process exited, or its manager went away.
    case exit
    /// By a signal that the process had caught: its name, `SIGSEGV`.
    case signal(String)
    /// The device was started anew since: a power cut, or a restart.
    ///
    /// Where signals were not caught, or the process was killed before that, it may have died earlier.
    case reboot
    /// The system, or somebody, killed it, by a signal that no process can catch: for its memory, or its time, say.
    case system
    /// What a later version of Waybill calls by this word.
    case other(String)

    /// Reads the word: `exit`, `reboot`, `system`, a signal's name, or one of a later version.
    ///
    /// - Returns: nil for what is none: up to 32 letters, digits and underscores.
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

    /// What to say of a transaction that was interrupted by it: `its process died of SIGSEGV`.
    public var phrase: String {
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

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}
