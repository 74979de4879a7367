// swift-format-ignore-file
// The declarations in use from swift-log, a package. Apps may link the target behind the trait `Logging`.

public struct Logger: Sendable {
    public enum Level: String, CaseIterable, Sendable { case trace, debug, info, notice, warning, error, critical }
    public typealias Metadata = [String: MetadataValue]
    public enum MetadataValue: Sendable {
        case string(String)
        case stringConvertible(any CustomStringConvertible & Sendable)
        case dictionary(Metadata)
        case array([MetadataValue])
    }
    public struct Message: ExpressibleByStringLiteral, CustomStringConvertible, Sendable {
        public init(stringLiteral value: String) {}
        public var description: String { "" }
    }
    public struct MetadataProvider: Sendable {
        public init(_ provideMetadata: @escaping @Sendable () -> Metadata) {}
        public func get() -> Metadata { [:] }
    }
}
public struct LogEvent: Sendable {
    public var level: Logger.Level
    public var message: Logger.Message
    public var metadata: Logger.Metadata?
    public var error: (any Error)?
}
public protocol LogHandler: Sendable {
    var metadataProvider: Logger.MetadataProvider? { get set }
    var metadata: Logger.Metadata { get set }
    var logLevel: Logger.Level { get set }
    subscript(metadataKey _: String) -> Logger.MetadataValue? { get set }
    func log(event: LogEvent)
}
