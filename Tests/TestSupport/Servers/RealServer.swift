/// A server written by others, in a separate process.
public protocol RealServer: AnyObject {
    /// The port it listens on.
    var port: Int { get }
    /// Ends the server once it has answered the requests that it has begun, and returns its log of requests.
    func stop() throws -> [String]
}
