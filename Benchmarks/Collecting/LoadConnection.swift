#if Collector
import Foundation
import WaybillCore

/// A connection that costs its side almost nothing, to measure only the server: a blocking socket, and requests that
/// are made beforehand.
final class LoadConnection {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 16 << 10)

    init(port: Int) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw WaybillError(.transport, "The server does not listen.") }
    }

    deinit { close(descriptor) }

    /// Returns a request that posts a set.
    static func request(_ set: TransactionSet) -> [UInt8] {
        let body = set.encoded()
        let head = """
            POST /v1/sets HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: \(TransactionSet.mediaType)\r\nContent-Length: \(body.count)\r\n\r\n
            """
        return Array(head.utf8) + body
    }

    /// Sends a request and waits for its answer, which must be a 200.
    func post(_ request: [UInt8]) throws {
        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { throw WaybillError(.transport, "The server hung up.") }
            sent += count
        }
        var answer: [UInt8] = []
        while !Self.isWhole(answer) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { throw WaybillError(.transport, "The server hung up.") }
            answer += buffer[..<count]
        }
        guard answer.starts(with: Array("HTTP/1.1 200".utf8)) else {
            throw WaybillError(
                .refused, "The server did not take a set: \(String(decoding: answer.prefix(400), as: UTF8.self))")
        }
    }

    /// Whether the answer has a complete head and a body of the length in the head.
    private static func isWhole(_ answer: [UInt8]) -> Bool {
        let text = String(decoding: answer, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].split(separator: "\r\n").first {
            $0.lowercased().hasPrefix("content-length:")
        }
        .flatMap { Int($0.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespaces)) }
        return text[end.upperBound...].utf8.count >= length ?? 0
    }
}
#endif
