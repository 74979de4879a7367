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

/// What is collected of the transactions of each segment, by the numbers that a cursor gives to the segments.
struct Segmented<Collected: Mergeable>: Mergeable {
    private let none: Collected
    /// Where what is collected of a segment stands; of those that have no such value, in front. Below 0: nowhere.
    private var places: [Int] = []
    private var collected: [Collected] = []

    /// - Parameter none: What there is before the first transaction.
    init(_ none: Collected) { self.none = none }

    /// Adds a transaction to its segment.
    mutating func add(_ transaction: TransactionCursor.Transaction, _ add: (inout Collected) -> Void) {
        add(&collected[place(of: (transaction.segment ?? -1) + 1)])
    }

    private mutating func place(of segment: Int) -> Int {
        while places.count <= segment { places.append(-1) }
        if places[segment] < 0 {
            places[segment] = collected.count
            collected.append(none)
        }
        return places[segment]
    }

    mutating func merge(_ other: consuming Segmented) {
        for (segment, place) in other.places.enumerated() where place >= 0 {
            collected[self.place(of: segment)].merge(other.collected[place])
        }
    }

    /// The same by the values that the numbers stand for.
    consuming func named(_ values: [String]) -> NamedSegments<Collected> {
        var named = NamedSegments(none)
        for (segment, place) in places.enumerated() where place >= 0 {
            named.segments[segment == 0 ? nil : values[segment - 1]] = collected[place]
        }
        return named
    }
}

/// What is collected of the transactions of each segment, by what they have in common.
package struct NamedSegments<Collected: Mergeable>: Mergeable {
    private let none: Collected
    /// nil: those that have no such value; all, where they are not told apart.
    var segments: [String?: Collected] = [:]

    init(_ none: Collected) { self.none = none }

    /// Adds to a segment.
    mutating func add(to value: String?, _ add: (inout Collected) -> Void) {
        let none = none
        add(&segments[value, default: none])
    }

    package mutating func merge(_ other: consuming NamedSegments) { segments.merge(other.segments) }

    /// What becomes of it.
    ///
    /// - Parameter make: Makes it of a segment and its value, and may leave the segment in another order.
    consuming func answer<Segment>(
        by segmentation: Segmentation?, _ make: (inout Collected, String?) -> Segment
    ) -> SegmentedAnswer<Segment> {
        var made: [Segment] = []
        var total = none
        for value in segments.keys.sorted(by: Segmentation.precedes) {
            // Taken out, so that it is in memory once.
            guard var collected = segments.removeValue(forKey: value) else { continue }
            if segmentation != nil { made.append(make(&collected, value)) }
            total.merge(collected)
        }
        return SegmentedAnswer(total: make(&total, nil), segments: made)
    }
}
