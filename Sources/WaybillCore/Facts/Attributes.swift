public import Foundation

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

/// A small typed value that describes a transaction, an event, an exchange or a source.
public enum AttributeValue: Sendable, Hashable {
    /// A text, redacted and shortened when it is recorded.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction.
    case double(Double)
    /// Yes or no.
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
    /// The value alone, a text without quotes.
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

/// What can be the value of an attribute: texts, numbers, yes and no, IDs, addresses, dates, durations, optionals of
/// these, and every type that says how it becomes one.
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
    /// The value that is recorded, redacted and cut to the limits after that; nil: the attribute is left out.
    var attributeValue: AttributeValue? { get }
}

extension AttributeConvertible where Self: RawRepresentable, RawValue: AttributeConvertible {
    /// As its raw value has it.
    public var attributeValue: AttributeValue? { rawValue.attributeValue }
}

extension AttributeValue: AttributeConvertible {
    public var attributeValue: AttributeValue? { self }
}

/// nil is left out.
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

/// In small letters, as all IDs are written.
extension UUID: AttributeConvertible {
    public var attributeValue: AttributeValue? { .string(uuidString.lowercased()) }
}

extension GUID: AttributeConvertible {
    public var attributeValue: AttributeValue? { .string(description) }
}

/// Whole; user-info, secrets in query and path are taken out when it is recorded.
extension URL: AttributeConvertible {
    public var attributeValue: AttributeValue? { .string(absoluteString) }
}

/// To the millisecond, in UTC: `2026-03-01T12:00:00.250Z` (RFC 3339).
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

/// With the digits that it is written with, `0.1` rather than `0.10000000149011612`.
extension Float: AttributeConvertible {
    public var attributeValue: AttributeValue? { .double(Double(description) ?? Double(self)) }
}

/// A number if a `Double` has the same digits, or if the `Decimal` was made from a `Double`; otherwise the digits as text.
///
/// A literal such as `let price: Decimal = 19.99` is made from a `Double`: its digits are 19.98999999999999488, and 19.99
/// is recorded.
extension Decimal: AttributeConvertible {
    public var attributeValue: AttributeValue? {
        let digits = description
        guard let double = Double(digits), double.isFinite else { return .string(digits) }
        if Decimal(string: double.description) == self { return .double(double) }
        // Foundation's conversion from a `Double` is exact to 15 digits only.
        guard let rounded = Double(String(format: "%.15g", double)), Decimal(rounded) == self else {
            return .string(digits)
        }
        return .double(rounded)
    }
}

extension CGFloat: AttributeConvertible {
    public var attributeValue: AttributeValue? { .double(Double(self)) }
}

/// The seconds, with their fraction.
extension Duration: AttributeConvertible {
    public var attributeValue: AttributeValue? {
        let (seconds, attoseconds) = components
        return .double(Double(seconds) + Double(attoseconds) / 1e18)
    }
}

extension AttributeConvertible where Self: BinaryInteger {
    /// A whole number; the digits as a text where it is beyond what `Int64` holds.
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

// So that `["rate": .double(2)]` is one of attributes; elsewhere the case itself is meant.
extension AttributeConvertible where Self == AttributeValue {
    /// A text, as ``AttributeValue/string(_:)``.
    @_disfavoredOverload
    public static func string(_ value: String) -> AttributeValue { AttributeValue.string(value) }

    /// A whole number, as ``AttributeValue/integer(_:)``.
    @_disfavoredOverload
    public static func integer(_ value: Int) -> AttributeValue { AttributeValue.integer(Int64(value)) }

    /// A whole number, as ``AttributeValue/integer(_:)``.
    @_disfavoredOverload
    public static func integer(_ value: Int64) -> AttributeValue { AttributeValue.integer(value) }

    /// A number with a fraction, as ``AttributeValue/double(_:)``.
    @_disfavoredOverload
    public static func double(_ value: Double) -> AttributeValue { AttributeValue.double(value) }

    /// Yes or no, as ``AttributeValue/bool(_:)``.
    @_disfavoredOverload
    public static func bool(_ value: Bool) -> AttributeValue { AttributeValue.bool(value) }
}
