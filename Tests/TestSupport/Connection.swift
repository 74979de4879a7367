import Foundation

/// One connection of a `LoopbackServer`, read and written by its own thread.
struct Connection {
    let socket: Socket
    let stopping: Gate
    private let unread = Unread()

    private final class Unread { var bytes = Data() }

    init(socket: Socket, stopping: Gate) {
        self.socket = socket
        self.stopping = stopping
    }

    /// Returns the next request; `nil` if the client has hung up, the server stops, or the bytes are no request.
    func read() -> LoopbackServer.Request? {
        let blankLine = Data("\r\n\r\n".utf8)
        while unread.bytes.range(of: blankLine) == nil { guard receive() else { return nil } }
        guard let end = unread.bytes.range(of: blankLine) else { return nil }
        let head = String(decoding: unread.bytes[..<end.lowerBound], as: UTF8.self)
        unread.bytes.removeSubrange(..<end.upperBound)

        var lines = head.components(separatedBy: "\r\n")
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return nil }
        var request = LoopbackServer.Request(
            method: String(words[0]), path: String(words[1]), headers: [], body: Data())
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            request.headers.append((String(line[..<colon]), value))
        }

        // libcurl asks before it sends more than a megabyte, and loses a second without an answer.
        if request.header("Expect")?.lowercased() == "100-continue", !send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) {
            return nil
        }
        if request.header("Transfer-Encoding")?.lowercased() == "chunked" {
            guard let body = chunked() else { return nil }
            request.body = body
            return request
        }
        let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
        while unread.bytes.count < length { guard receive() else { return nil } }
        request.body = Data(unread.bytes.prefix(length))
        unread.bytes.removeFirst(length)
        return request
    }

    /// Reads a body of chunks (RFC 9112, section 7.1), without trailers; `nil` if it breaks off.
    private func chunked() -> Data? {
        let lineEnd = Data("\r\n".utf8)
        var body = Data()
        while true {
            while unread.bytes.range(of: lineEnd) == nil { guard receive() else { return nil } }
            guard let end = unread.bytes.range(of: lineEnd) else { return nil }
            guard let length = Int(String(decoding: unread.bytes[..<end.lowerBound], as: UTF8.self), radix: 16) else {
                return nil
            }
            unread.bytes.removeSubrange(..<end.upperBound)
            while unread.bytes.count < length + 2 { guard receive() else { return nil } }
            body += unread.bytes.prefix(length)
            unread.bytes.removeFirst(length + 2)
            if length == 0 { return body }
        }
    }

    /// Sends a response, and returns `false` if the connection must be closed now.
    func write(_ response: LoopbackServer.Response) -> Bool {
        if let gate = response.gate, !waitUntilOpen(gate) { return false }
        switch response.delivery {
        case .closed: return false
        case .never:
            _ = waitUntilOpen(Gate())
            return false
        case .cutShort:
            _ = send(response.encoded)
            return false
        case .reset:
            _ = send(response.encoded)
            socket.resetsWhenClosed()
            return false
        case .halves(let gate):
            return send(response.encoded) && waitUntilOpen(gate)
                && send(response.body.dropFirst(response.body.count / 2))
        case .whole: return send(response.encoded) && (1..<response.repetitions).allSatisfy { _ in send(response.body) }
        case .chunked: return send(response.encoded)
        }
    }

    /// Returns `false` if the client hung up or the server stopped before the gate was opened.
    private func waitUntilOpen(_ gate: Gate) -> Bool {
        _ = socket.wait(for: POLLIN, until: stopping, gate)
        return gate.isOpen && !stopping.isOpen
    }

    private func receive() -> Bool {
        guard socket.wait(for: POLLIN, until: stopping) else { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        unread.bytes.append(contentsOf: buffer.prefix(count))
        return true
    }

    private func send(_ bytes: Data) -> Bool {
        #if canImport(Darwin)
        let flags = MSG_DONTWAIT
        #else
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        #endif
        var rest = bytes[...]
        while !rest.isEmpty {
            guard socket.wait(for: POLLOUT, until: stopping) else { return false }
            let count = rest.withUnsafeBytes { Foundation.send(socket.descriptor, $0.baseAddress, $0.count, flags) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EAGAIN && errno != EINTR { return false }
        }
        return true
    }
}
