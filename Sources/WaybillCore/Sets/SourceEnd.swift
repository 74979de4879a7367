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
    public init?(name: some StringProtocol) {
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
