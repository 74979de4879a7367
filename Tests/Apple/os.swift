// swift-format-ignore-file
// The declarations in use from os: the system's log, and signposts. A message is an interpolated literal at the call,
// where the compiler reads it.
@_exported import Foundation

open class OSLog: NSObject, @unchecked Sendable {
    public struct Category: Sendable { public static let pointsOfInterest = Category(), dynamicTracing = Category() }
    public convenience init(subsystem: String, category: Category) { self.init() }
    public convenience init(subsystem: String, category: String) { self.init() }
}
public struct OSLogPrivacy: Sendable {
    public static let `public` = OSLogPrivacy(), `private` = OSLogPrivacy(), sensitive = OSLogPrivacy(), auto = OSLogPrivacy()
}
public struct OSLogInterpolation: StringInterpolationProtocol {
    public init(literalCapacity: Int, interpolationCount: Int) {}
    public mutating func appendLiteral(_ literal: String) {}
    public mutating func appendInterpolation(_ text: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto) {}
    public mutating func appendInterpolation<T: FixedWidthInteger>(_ number: @autoclosure @escaping () -> T, privacy: OSLogPrivacy = .auto) {}
}
public struct OSLogMessage: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) {}
    public init(stringInterpolation: OSLogInterpolation) {}
}
public struct Logger: Sendable {
    public init(subsystem: String, category: String) {}
    public func notice(_ message: OSLogMessage) {}
    public func error(_ message: OSLogMessage) {}
}
public typealias SignpostMetadata = OSLogMessage
public struct OSSignpostID: Hashable, Sendable {
    public static let exclusive = OSSignpostID(1)
    public init(_ value: UInt64) {}
}
open class OSSignpostIntervalState: @unchecked Sendable {
    public class func beginState(id: OSSignpostID) -> OSSignpostIntervalState { fatalError() }
}
public struct OSSignposter: Sendable {
    public init(logHandle: OSLog) {}
    public var isEnabled: Bool { false }
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata) -> OSSignpostIntervalState { fatalError() }
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata) {}
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata) {}
}
