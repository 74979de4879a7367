/// A server that nobody here wrote, in a process of its own.
public protocol RealServer: AnyObject {
    /// The port it listens on.
    var port: Int { get }
    /// Ends it, once it has answered what it has begun, and gives its log of requests.
    func stop() throws -> [String]
}
