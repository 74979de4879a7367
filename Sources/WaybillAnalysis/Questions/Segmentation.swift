/// What transactions are told apart by, e.g. the variants of a test.
public enum Segmentation: Hashable, Sendable {
    /// The value of an attribute, as it was said last: of the part that began the transaction with its end, else with its
    /// latest event or change, else at its beginning; else by its source, else by another part.
    case attribute(String)
    /// Of the source that began it.
    case app, appVersion, device, os, osVersion
    /// The UTC hour or day of its beginning.
    case hour, day
    /// How its process ended, of one that was interrupted: ``WaybillCore/SourceEnd/name``, or `unknown`.
    case ended
    /// The outcome, or the use case's name, of the transaction just above it; none where that is not known here.
    case parentOutcome, parentUseCase
}

extension Segmentation: Codable, CustomStringConvertible {
    /// As it is written: `app`, `version`, `device`, `os`, `osVersion`, `hour`, `day`, `ended`,
    /// `parent.outcome`, `parent.useCase`; anything else is an attribute's name, which may be put as `attribute.app`
    /// where it is one of these words.
    public init(_ text: String) {
        self =
            switch text {
            case "app": .app
            case "version": .appVersion
            case "device": .device
            case "os": .os
            case "osVersion": .osVersion
            case "hour": .hour
            case "day": .day
            case "ended": .ended
            case "parent.outcome": .parentOutcome
            case "parent.useCase": .parentUseCase
            default: .attribute(text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text)
            }
    }

    private static let prefix = "attribute."

    /// As ``init(_:)`` reads it.
    public var description: String {
        switch self {
        case .attribute(let name):
            Segmentation(name) == .attribute(name) && !name.hasPrefix(Self.prefix) ? name : Self.prefix + name
        case .app: "app"
        case .appVersion: "version"
        case .device: "device"
        case .os: "os"
        case .osVersion: "osVersion"
        case .hour: "hour"
        case .day: "day"
        case .ended: "ended"
        case .parentOutcome: "parent.outcome"
        case .parentUseCase: "parent.useCase"
        }
    }

    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
