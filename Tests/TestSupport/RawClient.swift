public import Foundation

/// An HTTP/1.1 client that sends exactly the given bytes, including invalid and incomplete requests.
///
/// Its blocking calls run on a separate thread: a server in the same process needs the cooperative pool.
public final class RawClient: Sendable {
    private let socket: Socket
    private let queue = DispatchQueue(label: "test.raw-client")

    /// An answer.
    public struct Response: Sendable {
        /// The status code.
        public var status: Int
        /// In order of arrival.
        public var headers: [(name: String, value: String)]
        /// The body, as long as its `Content-Length` says, or joined from its chunks.
        public var body: Data

        /// The value of the first field of that name, whatever its case.
        public func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// The body as a JSON object; `nil` if it is none.
        public var json: [String: Any]? { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] }

        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    /// Connects to a port of 127.0.0.1.
    ///
    /// - Throws: `POSIXError` if nobody listens.
    public init(port: Int) throws { socket = try Socket.connectedToLoopback(port) }

    /// Sends a request and waits for the answer, on a new connection.
    public static func send(
        _ method: String, _ path: String, to port: Int, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> Response {
        let client = try RawClient(port: port)
        try await client.send(head(method, path, headers: headers, length: body?.count) + (body ?? Data()))
        return try await client.response()
    }

    /// The head of a request, with its blank line.
    public static func head(_ method: String, _ path: String, headers: [String: String] = [:], length: Int? = nil)
        -> Data
    {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { head += "\(name): \(value)\r\n" }
        if let length { head += "Content-Length: \(length)\r\n" }
        return Data((head + "\r\n").utf8)
    }

    /// Sends bytes as they are.
    public func send(_ bytes: Data) async throws { try await onThread { [socket] in try socket.send(bytes) } }

    /// Returns the next answer.
    ///
    /// - Parameter hasBody: `false` for the answer to a `HEAD`.
    /// - Throws: If the server hangs up before the answer's end, or sends nothing for 30 seconds.
    public func response(hasBody: Bool = true) async throws -> Response {
        try await onThread { [socket] in
            var bytes = Data()
            let blankLine = Data("\r\n\r\n".utf8)
            while bytes.range(of: blankLine) == nil { bytes += try socket.receive() }
            guard let end = bytes.range(of: blankLine) else { throw POSIXError(.EBADMSG) }
            var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
            let status = lines.removeFirst().split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            let headers = lines.map { line in
                let parts = line.split(separator: ":", maxSplits: 1)
                return (name: String(parts[0]), value: String(parts.count == 2 ? parts[1].drop { $0 == " " } : ""))
            }
            var response = Response(status: status, headers: headers, body: bytes[end.upperBound...])
            if hasBody, response.header("Transfer-Encoding")?.lowercased() == "chunked" {
                response.body = try Self.chunked(response.body) { try socket.receive() }
                return response
            }
            let length = hasBody ? response.header("Content-Length").flatMap { Int($0) } ?? 0 : 0
            while response.body.count < length { response.body += try socket.receive() }
            return response
        }
    }

    /// A body of chunks (RFC 9112, section 7.1), without trailers.
    private static func chunked(_ received: Data, more: () throws -> Data) throws -> Data {
        var (body, rest) = (Data(), received)
        let lineEnd = Data("\r\n".utf8)
        while true {
            guard let end = rest.range(of: lineEnd) else {
                rest += try more()
                continue
            }
            guard let length = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) else {
                throw POSIXError(.EBADMSG)
            }
            while rest.endIndex - end.upperBound < length + 2 { rest += try more() }
            body += rest[end.upperBound..<(end.upperBound + length)]
            guard length > 0 else { return body }
            rest = Data(rest[(end.upperBound + length + 2)...])
        }
    }

    /// Returns the received text once it contains some text: for an answer that has no end.
    ///
    /// - Throws: If the server hangs up before that, or sends nothing for 30 seconds.
    public func receive(until text: String) async throws -> String {
        try await onThread { [socket] in
            var bytes = Data()
            while bytes.range(of: Data(text.utf8)) == nil { bytes += try socket.receive() }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Returns all bytes until the server hangs up.
    public func untilClosed() async throws -> Data {
        try await onThread { [socket] in
            var bytes = Data()
            while let more = try? socket.receive() { bytes += more }
            return bytes
        }
    }

    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result(catching: body)) }
        }
    }
}

extension Socket {
    /// A socket connected to a port of 127.0.0.1, whose reads give up after 30 seconds.
    fileprivate static func connectedToLoopback(_ port: Int) throws -> Socket {
        #if canImport(Darwin)
        let stream = SOCK_STREAM
        #else
        let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = Foundation.socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw POSIXError.current }
        let result = Socket(descriptor)
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError.current }
        return result
    }

    fileprivate func send(_ bytes: Data) throws {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
            guard count > 0 else { throw POSIXError.current }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns the received bytes, and waits until there are any.
    fileprivate func receive() throws -> Data {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw POSIXError.current }
        guard count > 0 else { throw POSIXError(.ECONNRESET) }
        return Data(buffer.prefix(count))
    }
}
