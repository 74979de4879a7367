public import Foundation

/// Named, small, typed values. At most 32 are recorded.
///
/// The value of a name that looks like a secret is redacted. A dictionary literal can contain any
/// ``AttributeConvertible``. It leaves out `nil` values, and the last value of a repeated name wins.
///
/// ## Usage
///
/// ```swift
/// order.log(.itemAdded, attributes: ["sku": sku, "attempt": 2, "price": price, "coupon": coupon?.code])
/// ```
public struct Attributes: Sendable {
    // An array, because searching a few names is faster than hashing them.
    @usableFromInline var pairs: [Pair]

    // A struct, because the runtime copies and destroys tuples slowly.
    @frozen @usableFromInline struct Pair: Sendable {
        @usableFromInline let key: String
        @usableFromInline var value: AttributeValue

        @inlinable
        init(_ key: String, _ value: AttributeValue) { (self.key, self.value) = (key, value) }
    }

    /// Creates an empty collection.
    @inlinable
    public init() { pairs = [] }

    /// Creates a collection from a dictionary.
    public init(_ values: [String: AttributeValue]) { pairs = values.map { Pair($0.key, $0.value) } }

    /// Creates a collection from a dictionary of any convertible values, such as `[String: String]`. `nil` is left out.
    public init<Value: AttributeConvertible>(_ values: [String: Value]) {
        pairs = values.compactMap { name, value in value.attributeValue.map { Pair(name, $0) } }
    }

    /// The value of a name, or `nil` if there is none. Set `nil` to remove the name.
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

    /// The value of a name, for setting any convertible value: `attributes["attempt"] = attempt`.
    @_disfavoredOverload
    @inlinable
    public subscript(name: String) -> (any AttributeConvertible)? {
        get { self[name] as AttributeValue? }
        set { self[name] = newValue?.attributeValue }
    }

    /// The names, in insertion order.
    public var keys: [String] { pairs.map(\.key) }

    /// Merges other attributes into these.
    ///
    /// - Parameters:
    ///   - other: The attributes to merge.
    ///   - combine: Returns the value of a name that both have, from this collection's value and the other's.
    public mutating func merge(
        _ other: Attributes, uniquingKeysWith combine: (AttributeValue, AttributeValue) -> AttributeValue
    ) {
        for (name, value) in other { self[name] = self[name].map { combine($0, value) } ?? value }
    }

    /// Returns these attributes merged with others, as ``merge(_:uniquingKeysWith:)`` does.
    public func merging(
        _ other: Attributes, uniquingKeysWith combine: (AttributeValue, AttributeValue) -> AttributeValue
    ) -> Attributes {
        var all = self
        all.merge(other, uniquingKeysWith: combine)
        return all
    }

    /// Returns the attributes that satisfy a condition.
    public func filter(_ isIncluded: ((key: String, value: AttributeValue)) throws -> Bool) rethrows -> Attributes {
        var kept = Attributes()
        kept.pairs = try pairs.filter { try isIncluded(($0.key, $0.value)) }
        return kept
    }

    package var sortedByName: [Element] { sorted { $0.key < $1.key } }

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

    /// One check after all values are added is cheaper than a comparison for each.
    @usableFromInline var isAnyTwice: Bool {
        pairs.withUnsafeBufferPointer { pairs in
            for place in pairs.indices {
                for other in 0..<place where pairs[other].key == pairs[place].key { return true }
            }
            return false
        }
    }

    /// Removes duplicate names: the first position and the last value win.
    @usableFromInline
    mutating func keepLast() {
        let given = pairs
        pairs = []
        for pair in given { self[pair.key] = pair.value }
    }
}

extension Attributes: Hashable {
    /// Whether both have the same names and values, in any order.
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
    // A single-value container shows the coder a dictionary, whose keys it must not convert.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: AttributeValue].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(dictionary)
    }
}

/// A small typed value that describes a transaction, an event, an exchange or a source.
public enum AttributeValue: Sendable, Hashable {
    /// A text, redacted and truncated when it is recorded.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    case double(Double)
    /// A Boolean value.
    case bool(Bool)
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension AttributeValue: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension AttributeValue: ExpressibleByFloatLiteral {
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension AttributeValue: ExpressibleByBooleanLiteral {
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AttributeValue: CustomStringConvertible {
    /// The value as text, without quotation marks.
    public var description: String {
        switch self {
        case .string(let value): value
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .bool(let value): "\(value)"
        }
    }
}

extension AttributeValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else {
            self = .string(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        }
    }
}

/// A type that can be an attribute's value: texts, numbers, Booleans, IDs, URLs, dates, durations, and their optionals.
///
/// Conform your own types to record them.
///
/// ## Usage
///
/// ```swift
/// enum Plan: String, AttributeConvertible { case free, paid }      // its raw value
///
/// extension Money: AttributeConvertible {
///     var attributeValue: AttributeValue? { .string("\(amount) \(currency)") }
/// }
/// ```
public protocol AttributeConvertible {
    /// The value to record, before redaction and truncation; `nil` to leave out the attribute.
    var attributeValue: AttributeValue? { get }
}

extension AttributeConvertible where Self: RawRepresentable, RawValue: AttributeConvertible {
    /// The attribute value of the raw value.
    public var attributeValue: AttributeValue? { rawValue.attributeValue }
}

extension AttributeValue: AttributeConvertible {
    public var attributeValue: AttributeValue? { self }
}

extension Optional: AttributeConvertible where Wrapped: AttributeConvertible {
    public var attributeValue: AttributeValue? { self?.attributeValue }
}

// MARK: Texts

extension String: AttributeConvertible {
    @inlinable public var attributeValue: AttributeValue? { .string(self) }
}

extension Substring: AttributeConvertible {
    public var attributeValue: AttributeValue? { .string(String(self)) }
}

extension UUID: AttributeConvertible {
    public var attributeValue: AttributeValue? { .string(uuidString.lowercased()) }
}

extension GUID: AttributeConvertible {
    public var attributeValue: AttributeValue? { .string(description) }
}

extension URL: AttributeConvertible {
    public var attributeValue: AttributeValue? { .string(absoluteString) }
}

extension Date: AttributeConvertible {
    public var attributeValue: AttributeValue? {
        .string(formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    }
}

// MARK: Numbers

extension Bool: AttributeConvertible {
    @inlinable public var attributeValue: AttributeValue? { .bool(self) }
}

extension Double: AttributeConvertible {
    @inlinable public var attributeValue: AttributeValue? { .double(self) }
}

/// Recorded with its own shortest digits: `0.1`, not `0.10000000149011612`.
extension Float: AttributeConvertible {
    public var attributeValue: AttributeValue? { .double(Double(description) ?? Double(self)) }
}

/// Recorded as a number if a `Double` has the same digits, otherwise as text. The literal `19.99` has the digits
/// 19.98999999999999488, and is recorded as 19.99.
extension Decimal: AttributeConvertible {
    public var attributeValue: AttributeValue? {
        let digits = description
        guard let double = Double(digits), double.isFinite else { return .string(digits) }
        if Decimal(string: double.description) == self { return .double(double) }
        // Foundation converts a `Double` exactly to 15 digits only.
        guard let rounded = Double(String(format: "%.15g", double)), Decimal(rounded) == self else {
            return .string(digits)
        }
        return .double(rounded)
    }
}

extension CGFloat: AttributeConvertible {
    public var attributeValue: AttributeValue? { .double(Double(self)) }
}

/// Recorded in seconds, with a fraction.
extension Duration: AttributeConvertible {
    public var attributeValue: AttributeValue? {
        let (seconds, attoseconds) = components
        return .double(Double(seconds) + Double(attoseconds) / 1e18)
    }
}

extension AttributeConvertible where Self: BinaryInteger {
    /// An integer, or the digits as text if they do not fit in an `Int64`.
    @inlinable public var attributeValue: AttributeValue? {
        Int64(exactly: self).map { .integer($0) } ?? .string("\(self)")
    }
}

extension Int: AttributeConvertible {}
extension Int8: AttributeConvertible {}
extension Int16: AttributeConvertible {}
extension Int32: AttributeConvertible {}
extension Int64: AttributeConvertible {}
extension UInt: AttributeConvertible {}
extension UInt8: AttributeConvertible {}
extension UInt16: AttributeConvertible {}
extension UInt32: AttributeConvertible {}
extension UInt64: AttributeConvertible {}

// MARK: Values with their kind

// Allows `["rate": .double(2)]` as attributes. The overloads are disfavored, so the enum's cases win elsewhere.
extension AttributeConvertible where Self == AttributeValue {
    /// A text, like ``AttributeValue/string(_:)``.
    @_disfavoredOverload
    public static func string(_ value: String) -> AttributeValue { AttributeValue.string(value) }

    /// A whole number, like ``AttributeValue/integer(_:)``.
    @_disfavoredOverload
    public static func integer(_ value: Int) -> AttributeValue { AttributeValue.integer(Int64(value)) }

    /// A whole number, like ``AttributeValue/integer(_:)``.
    @_disfavoredOverload
    public static func integer(_ value: Int64) -> AttributeValue { AttributeValue.integer(value) }

    /// A number with a fraction, like ``AttributeValue/double(_:)``.
    @_disfavoredOverload
    public static func double(_ value: Double) -> AttributeValue { AttributeValue.double(value) }

    /// A Boolean value, like ``AttributeValue/bool(_:)``.
    @_disfavoredOverload
    public static func bool(_ value: Bool) -> AttributeValue { AttributeValue.bool(value) }
}
