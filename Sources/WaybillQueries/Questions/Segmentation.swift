/// A property that divides transactions into segments, such as the variant of a test.
public enum Segmentation: Hashable, Sendable {
    /// The latest value of an attribute. The closing wins over events and changes, these over the opening, and a part
    /// over its source. The leading part wins over other parts.
    case attribute(String)
    /// A property of the source that began the transaction.
    case app, appVersion, device, os, osVersion
    /// The UTC hour or day of the beginning.
    case hour, day
    /// The end of the process of an interrupted transaction: ``WaybillCore/SourceEnd/name``, or `unknown`.
    case ended
    /// The outcome or the use case of the parent; no value if the parent is unknown.
    case parentOutcome, parentUseCase
}

extension Segmentation: Codable, CustomStringConvertible {
    /// Reads `app`, `version`, `device`, `os`, `osVersion`, `hour`, `day`, `ended`, `parent.outcome` or
    /// `parent.useCase`. Anything else is the name of an attribute. For an attribute with one of these names, write
    /// `attribute.app`.
    public init(_ text: String) {
        let name = text.hasPrefix(Self.prefix) ? String(text.dropFirst(Self.prefix.count)) : text
        self = Self.properties.first { $0.description == text } ?? .attribute(name)
    }

    /// All segmentations but those by an attribute.
    static let properties: [Segmentation] = [
        .app, .appVersion, .device, .os, .osVersion, .hour, .day, .ended, .parentOutcome, .parentUseCase,
    ]

    private static let prefix = "attribute."

    /// The text that ``init(_:)`` reads.
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

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

struct Segmented<Collected: Mergeable>: Mergeable {
    private let none: Collected
    /// Index 0 is for transactions without a value. A negative entry means none.
    private var places: [Int] = []
    private var collected: [Collected] = []

    init(_ none: Collected) { self.none = none }

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

    consuming func named(_ values: [String]) -> NamedSegments<Collected> {
        var named = NamedSegments(none)
        for (segment, place) in places.enumerated() where place >= 0 {
            named.segments[segment == 0 ? nil : values[segment - 1]] = collected[place]
        }
        return named
    }
}

package struct NamedSegments<Collected: Mergeable>: Mergeable {
    private let none: Collected
    var segments: [String?: Collected] = [:]

    init(_ none: Collected) { self.none = none }

    mutating func add(to value: String?, _ add: (inout Collected) -> Void) {
        let none = none
        add(&segments[value, default: none])
    }

    package mutating func merge(_ other: consuming NamedSegments) { segments.merge(other.segments) }

    consuming func answer<Segment>(
        by segmentation: Segmentation?, _ make: (inout Collected, String?) -> Segment
    ) -> SegmentedAnswer<Segment> {
        var made: [Segment] = []
        var total = none
        for value in segments.keys.sorted(by: Segmentation.precedes) {
            // Removed from the dictionary, to hold it in memory once.
            guard var collected = segments.removeValue(forKey: value) else { continue }
            if segmentation != nil { made.append(make(&collected, value)) }
            total.merge(collected)
        }
        return SegmentedAnswer(total: make(&total, nil), segments: made)
    }
}
