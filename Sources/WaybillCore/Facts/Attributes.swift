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
public struct Attributes: Hashable, Sendable {
    @usableFromInline var values: [String: AttributeValue]

    /// Makes an empty collection.
    @inlinable
    public init() { values = Dictionary() }

    /// Takes names and values as they are.
    @inlinable
    public init(_ values: [String: AttributeValue]) { self.values = values }

    /// The value of that name; nil where there is none, and setting it to nil takes it away.
    @inlinable
    public subscript(name: String) -> AttributeValue? {
        get { values[name] }
        _modify { yield &values[name] }
    }

    /// The names, in no order.
    @inlinable public var keys: Dictionary<String, AttributeValue>.Keys { values.keys }

    /// Takes in other attributes.
    ///
    /// - Parameter combine: Of a name that is in both, gets this one's value and the other's, and gives what counts.
    @inlinable
    public mutating func merge(
        _ other: Attributes, uniquingKeysWith combine: (AttributeValue, AttributeValue) -> AttributeValue
    ) {
        values.merge(other.values, uniquingKeysWith: combine)
    }

    /// These and other attributes, as ``merge(_:uniquingKeysWith:)`` puts them together.
    @inlinable
    public func merging(
        _ other: Attributes, uniquingKeysWith combine: (AttributeValue, AttributeValue) -> AttributeValue
    ) -> Attributes {
        Attributes(values.merging(other.values, uniquingKeysWith: combine))
    }

    /// Those of them that are to be kept.
    @inlinable
    public func filter(_ isIncluded: ((key: String, value: AttributeValue)) throws -> Bool) rethrows -> Attributes {
        Attributes(try values.filter(isIncluded))
    }
}

extension Attributes: ExpressibleByDictionaryLiteral {
    @inlinable
    public init(dictionaryLiteral elements: (String, any AttributeConvertible)...) {
        values = Dictionary(minimumCapacity: elements.count)
        for (name, value) in elements { values[name] = value.attributeValue }
    }
}

extension Attributes: Collection {
    @inlinable public var startIndex: Dictionary<String, AttributeValue>.Index { values.startIndex }
    @inlinable public var endIndex: Dictionary<String, AttributeValue>.Index { values.endIndex }
    @inlinable public var count: Int { values.count }
    @inlinable public var isEmpty: Bool { values.isEmpty }
    @inlinable
    public func index(after index: Dictionary<String, AttributeValue>.Index) -> Dictionary<String, AttributeValue>.Index
    {
        values.index(after: index)
    }
    @inlinable
    public subscript(
        position: Dictionary<String, AttributeValue>.Index
    ) -> (key: String, value: AttributeValue) { values[position] }
    @inlinable
    public func makeIterator() -> Dictionary<String, AttributeValue>.Iterator { values.makeIterator() }
}

extension Attributes: Codable {
    // By a container, so that a coder knows a dictionary, whose keys it must leave as they are.
    public init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: AttributeValue].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}
