import Foundation

/// An HTTP server that does almost nothing, in a separate process to keep its work out of the measurement:
/// `Benchmarks --serve`.
///
/// A request for `/512` gets 512 bytes of JSON. If it has a body, the server skips the body. The server ends with the
/// process that started it.
final class BenchServer: @unchecked Sendable {  // right because nothing changes after `init`
    /// The server's address.
    let url: URL
    private let child: BenchChild

    /// Starts the server.
    init() throws {
        child = try BenchChild(["--serve"])
        guard let url = URL(string: "http://127.0.0.1:\(child.told())/") else { throw URLError(.badURL) }
        self.url = url
    }

    /// Serves until standard input ends.
    static func serve() throws -> Never {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 128) == 0
                    ? getsockname(listener, address, &size) : -1
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        BenchChild.tell(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                if connection >= 0 { Thread.detachNewThread { answer(connection) } }
            }
        }
        while !FileHandle.standardInput.availableData.isEmpty {}
        exit(0)
    }

    /// A list of small objects, and spaces up to the length.
    private static func body(_ length: Int) -> Data {
        let item = #"{"name":"Ada","city":"London","active":true,"score":17}"#
        let items = Array(repeating: item, count: max(0, (length - 2) / (item.utf8.count + 1))).joined(separator: ",")
        return Data("[\(items)]".utf8)
            + Data(repeating: UInt8(ascii: " "), count: max(0, length - items.utf8.count - 2))
    }

    private static func answer(_ connection: Int32) {
        defer { close(connection) }
        var on: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var unread = Data()
        var answers: [Int: Data] = [:]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let blankLine = Data("\r\n\r\n".utf8)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            unread.append(contentsOf: buffer.prefix(count))
            while let end = unread.range(of: blankLine) {
                let head = unread[..<end.lowerBound]
                unread = Data(unread[end.upperBound...])
                let length =
                    Int(String(decoding: head.dropFirst(5).prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)) ?? 0
                let answer =
                    answers[length]
                    ?? Data(
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\n\r\n".utf8)
                    + body(length)
                answers[length] = answer
                var rest = answer[...]
                while !rest.isEmpty {
                    let sent = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                    guard sent > 0 else { return }
                    rest = rest.dropFirst(sent)
                }
            }
        }
    }
}
