/// Names and small values; at most 32 of them are recorded. Names that look like a secret's lose their value when
/// recorded.
///
/// Written as a dictionary literal, of literals and of whatever is ``AttributeConvertible``; a value that is nil is left
/// out, and of a name that comes twice the last counts.
///
/// ## Usage
///
/// ```swift
/// order.log(.itemAdded, attributes: ["sku": sku, "attempt": 2, "price": price, "coupon": coupon?.code])
/// ```
public struct Attributes: Sendable {
    // A list: there are few, and looking through them takes less than hashing their names.
    @usableFromInline var pairs: [Pair]

    // No tuple: what the runtime does to copy and destroy those takes longer than all else.
    @frozen @usableFromInline struct Pair: Sendable {
        @usableFromInline let key: String
        @usableFromInline var value: AttributeValue

        @inlinable
        init(_ key: String, _ value: AttributeValue) { (self.key, self.value) = (key, value) }
    }

    /// Makes an empty collection.
    @inlinable
    public init() { pairs = [] }

    /// Takes names and values as they are.
    public init(_ values: [String: AttributeValue]) { pairs = values.map { Pair($0.key, $0.value) } }

    /// Converts a dictionary of any values that can be attributes, such as `[String: String]`. A `nil` is left out.
    public init<Value: AttributeConvertible>(_ values: [String: Value]) {
        pairs = values.compactMap { name, value in value.attributeValue.map { Pair(name, $0) } }
    }

    /// The value of that name; nil where there is none, and setting it to nil takes it away.
    @inlinable
    public subscript(name: String) -> AttributeValue? {
        get { pairs.first { $0.key == name }?.value }
        set {
            guard let place = pairs.firstIndex(where: { $0.key == name }) else {
                if let newValue { pairs.append(Pair(name, newValue)) }
                return
            }
            if let newValue { pairs[place].value = newValue } else { pairs.remove(at: place) }
        }
    }

    /// The same, for setting a variable of any type that can be an attribute: `attributes["attempt"] = attempt`.
    @_disfavoredOverload
    @inlinable
    public subscript(name: String) -> (any AttributeConvertible)? {
        get { self[name] as AttributeValue? }
        set { self[name] = newValue?.attributeValue }
    }

    /// The names, in the order in which they were given first.
    public var keys: [String] { pairs.map(\.key) }

    /// Takes in other attributes.
    ///
    /// - Parameters:
    ///   - other: What is taken in.
    ///   - combine: Of a name that is in both, gets this one's value and the other's, and gives what counts.
    public mutating func merge(
        _ other: Attributes, uniquingKeysWith combine: (AttributeValue, AttributeValue) -> AttributeValue
    ) {
        for (name, value) in other { self[name] = self[name].map { combine($0, value) } ?? value }
    }

    /// These and other attributes, as ``merge(_:uniquingKeysWith:)`` puts them together.
    public func merging(
        _ other: Attributes, uniquingKeysWith combine: (AttributeValue, AttributeValue) -> AttributeValue
    ) -> Attributes {
        var all = self
        all.merge(other, uniquingKeysWith: combine)
        return all
    }

    /// Those of them that are to be kept.
    public func filter(_ isIncluded: ((key: String, value: AttributeValue)) throws -> Bool) rethrows -> Attributes {
        var kept = Attributes()
        kept.pairs = try pairs.filter { try isIncluded(($0.key, $0.value)) }
        return kept
    }

    fileprivate var dictionary: [String: AttributeValue] {
        Dictionary(pairs.lazy.map { ($0.key, $0.value) }) { $1 }
    }
}

extension Attributes: ExpressibleByDictionaryLiteral {
    @inlinable
    public init(dictionaryLiteral elements: (String, any AttributeConvertible)...) {
        pairs = []
        guard !elements.isEmpty else { return }
        pairs.reserveCapacity(elements.count)
        for (name, value) in elements {
            if let value = value.attributeValue {
                pairs.append(Pair(name, value))
            } else {
                pairs.removeAll { $0.key == name }
            }
        }
        if isAnyTwice { keepLast() }
    }

    /// Asked once all are there: a comparison beside each costs more.
    @usableFromInline var isAnyTwice: Bool {
        pairs.withUnsafeBufferPointer { pairs in
            for place in pairs.indices {
                for other in 0..<place where pairs[other].key == pairs[place].key { return true }
            }
            return false
        }
    }

    /// Of a name that is there twice, the first place with the last value.
    @usableFromInline
    mutating func keepLast() {
        let given = pairs
        pairs = []
        for pair in given { self[pair.key] = pair.value }
    }
}

extension Attributes: Hashable {
    /// Whether the same names have the same values, in whatever order they were given.
    public static func == (left: Attributes, right: Attributes) -> Bool {
        left.count == right.count && left.pairs.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(dictionary) }
}

extension Attributes: RandomAccessCollection {
    @inlinable public var startIndex: Int { pairs.startIndex }
    @inlinable public var endIndex: Int { pairs.endIndex }
    @inlinable
    public subscript(position: Int) -> (key: String, value: AttributeValue) {
        (pairs[position].key, pairs[position].value)
    }
}

extension Attributes: Codable {
    // By a container, so that a coder knows a dictionary, whose keys it must leave as they are.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: AttributeValue].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dictionary)
    }
}
