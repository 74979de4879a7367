// Names that SwiftUI, SwiftData, Foundation, Observation and Combine export, and names that an app's own modules are
// likely to have. In a file that imports this module and Waybill, each name that Waybill also exports is ambiguous.

/// Like SwiftData's.
@propertyWrapper
public struct Query<Value> {
    public var wrappedValue: Value

    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

public enum Answer: Sendable { case yes, no }
public struct AnyCancellable: Sendable { public init() {} }
public struct Attribute: Sendable { public init() {} }
public struct Binding: Sendable { public init() {} }
public struct Color: Sendable { public init() {} }
public struct Configuration: Sendable { public init() {} }
public struct Edge: Sendable { public init() {} }
public struct Entry: Sendable { public init() {} }
public struct Event: Equatable, Sendable { public init() {} }
public struct Exchange: Sendable { public init() {} }
public struct Failure: Sendable { public init() {} }
public struct Health: Sendable { public init() {} }
public struct History: Sendable { public init() {} }
public struct Index: Sendable { public init() {} }
public struct Journal: Sendable { public init() {} }
public struct Layout: Sendable { public init() {} }
public struct Limits: Sendable { public init() {} }
public struct Model: Sendable { public init() {} }
public struct Outcome: Sendable { public init() {} }
public struct Page: Sendable { public init() {} }
public struct Part: Sendable { public init() {} }
public struct Picker: Sendable { public init() {} }
public struct Publisher: Sendable { public init() {} }
public struct Record: Sendable { public init() {} }
public struct Recorder: Sendable { public init() {} }
public struct Recording: Sendable { public init() {} }
public struct Relationship: Sendable { public init() {} }
public struct Row: Sendable { public init() {} }
public struct Scene: Sendable { public init() {} }
public struct Schema: Sendable { public init() {} }
public struct Section: Sendable { public init() {} }
public struct Session: Sendable { public init() {} }
public struct Source: Sendable { public init() {} }
public struct State: Sendable { public init() {} }
public struct Store: Sendable { public init() {} }
public struct Subscription: Sendable { public init() {} }
public struct Table: Sendable { public init() {} }
public struct Text: Sendable { public init() {} }
public struct Timeline: Sendable { public init() {} }
public struct Transaction: Sendable { public init() {} }
public struct View: Sendable { public init() {} }
