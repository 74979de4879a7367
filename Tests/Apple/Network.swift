// swift-format-ignore-file
// The declarations in use from Network.
@_exported import Foundation

public struct NWPath: Hashable, Sendable {
    public var isConstrained: Bool { false }
    public var isExpensive: Bool { false }
}
public final class NWPathMonitor: Sendable {
    public init() {}
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? { get { nil } set {} }
    public func start(queue: DispatchQueue) {}
    public func cancel() {}
}
