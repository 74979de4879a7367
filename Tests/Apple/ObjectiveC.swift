// swift-format-ignore-file
// What the overlay of the Objective-C runtime adds to its header, as far as it is used.
@_exported import ObjectiveC

public struct Selector: ExpressibleByStringLiteral, Hashable, @unchecked Sendable {
    public init(_ name: String) {}
    public init(stringLiteral name: String) {}
}

public struct ObjCBool: ExpressibleByBooleanLiteral {
    public init(_ value: Bool) {}
    public init(booleanLiteral value: Bool) {}
    public var boolValue: Bool { false }
}

// What the compiler calls where a method of Objective-C has a Bool.
public func _convertBoolToObjCBool(_ value: Bool) -> ObjCBool { ObjCBool(value) }
public func _convertObjCBoolToBool(_ value: ObjCBool) -> Bool { value.boolValue }
