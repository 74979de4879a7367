// swift-format-ignore-file
// The parts of Tests/TestSupport that the tests of Apple's platforms use. Its sockets and processes have no
// declarations here.
public import Foundation

public final class LoopbackServer: Sendable {
    public struct Request: Sendable {
        public var path: String
        public var body: Data
        public func header(_ name: String) -> String? { nil }
    }
    public struct Response: Sendable {
        public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: Data = Data()) {}
        public static func text(_ body: String, status: Int = 200, type: String = "text/plain") -> Response { Response() }
        public static func redirect(to url: URL, status: Int = 302) -> Response { Response() }
    }
    public init(_ handler: @escaping @Sendable (Request) -> Response) throws {}
    public var port: Int { 0 }
    public var requests: [Request] { [] }
    public func url(_ path: String = "/", host: String = "127.0.0.1") -> URL { fatalError() }
}
public final class Gate: Sendable {
    public init() {}
    public func open() {}
    public func opened() async {}
    public func wait(within bound: Duration) -> Bool { true }
}
public final class TemporaryDirectory: Sendable {
    public init() throws {}
    public func file(_ name: String) -> URL { fatalError() }
}
public func eventually(
    _ what: @autoclosure () -> String, within bound: Duration = .seconds(180), isolation: isolated (any Actor)? = #isolation,
    _ isSo: () async throws -> Bool
) async throws {}
