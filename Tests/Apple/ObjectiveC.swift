// swift-format-ignore-file
// The declarations in use from the overlay of the Objective-C runtime, beyond its header.
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

// The compiler calls these for a Bool in an Objective-C method.
public func _convertBoolToObjCBool(_ value: Bool) -> ObjCBool { ObjCBool(value) }
public func _convertObjCBoolToBool(_ value: ObjCBool) -> Bool { value.boolValue }
