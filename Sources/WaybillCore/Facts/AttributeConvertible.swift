public import Foundation

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
