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

package struct Segments<Collected: Mergeable>: Mergeable {
    private let none: Collected
    private var collected: [Collected] = []
    private var places: [String?: Int] = [:]
    private let values: [String]
    /// By the index in `values` plus 1.
    private var numbered: [Int?]

    init(_ none: Collected, _ values: [String] = []) {
        (self.none, self.values) = (none, values)
        numbered = Array(repeating: nil, count: values.count + 1)
    }

    mutating func add(_ transaction: TransactionCursor.Transaction, _ add: (inout Collected) -> Void) {
        let number = (transaction.segment ?? -1) + 1
        let place = numbered[number] ?? place(of: transaction.segment.map { values[$0] })
        numbered[number] = place
        add(&collected[place])
    }

    mutating func add(to value: String?, _ add: (inout Collected) -> Void) { add(&collected[place(of: value)]) }

    private mutating func place(of value: String?) -> Int {
        if let place = places[value] { return place }
        places[value] = collected.count
        collected.append(none)
        return collected.count - 1
    }

    package mutating func merge(_ other: consuming Segments) {
        for (value, place) in other.places { collected[self.place(of: value)].merge(other.collected[place]) }
    }

    consuming func answer<Segment>(
        by segmentation: Segmentation?, _ make: (inout Collected, String?) -> Segment
    ) -> SegmentedAnswer<Segment> {
        var made: [Segment] = []
        var total = none
        for (value, place) in places.sorted(by: { Segmentation.precedes($0.key, $1.key) }) {
            // Taken out of the array, to hold it in memory once.
            var segment = none
            swap(&segment, &collected[place])
            if segmentation != nil { made.append(make(&segment, value)) }
            total.merge(segment)
        }
        return SegmentedAnswer(total: make(&total, nil), segments: made)
    }
}
