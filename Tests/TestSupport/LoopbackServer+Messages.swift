public import Foundation

extension LoopbackServer {
    /// A request as it arrived.
    public struct Request: Sendable {
        /// The method, e.g. `GET`.
        public var method: String
        /// The request target: path and query, e.g. `/v1/sets?x=1`.
        public var path: String
        /// In order of arrival, names as they were written.
        public var headers: [(name: String, value: String)]
        /// The whole body.
        public var body: Data

        /// The value of the first field of that name, whatever its case.
        public func header(_ name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    /// The server's response to a request.
    public struct Response: Sendable {
        enum Delivery {
            case whole, chunked, cutShort, reset, closed, never
            case halves(Gate)
        }

        /// The status code.
        public var status: Int
        /// The fields besides those that frame the message, which the server writes.
        public var headers: [(name: String, value: String)]
        /// The whole body.
        public var body: Data
        /// How many times the body is sent in a row, as one body.
        var repetitions = 1
        var delivery = Delivery.whole
        var gate: Gate?

        /// Answers at once.
        public init(status: Int = 200, headers: [(name: String, value: String)] = [], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// Answers with a text.
        public static func text(_ body: String, status: Int = 200, type: String = "text/plain") -> Response {
            Response(status: status, headers: [("Content-Type", type)], body: Data(body.utf8))
        }

        /// Redirects the client.
        public static func redirect(to url: URL, status: Int = 302) -> Response {
            Response(status: status, headers: [("Location", url.absoluteString)])
        }

        /// Hangs up without an answer.
        public static var closed: Response { Response(delivery: .closed) }

        /// Says nothing until the client hangs up or the server stops.
        public static var never: Response { Response(delivery: .never) }

        /// The same, once the gate is open.
        public func after(_ gate: Gate) -> Response {
            var copy = self
            copy.gate = gate
            return copy
        }

        /// The same, with its body in chunks of unstated total length.
        public var chunked: Response { with(.chunked) }

        /// The same, but the connection is closed after half of the body.
        public var cutShort: Response { with(.cutShort) }

        /// The same, but the connection is reset (RST) after half of the body.
        public var reset: Response { with(.reset) }

        /// The same, with the second half of its body once the gate is open.
        public func secondHalf(after gate: Gate) -> Response { with(.halves(gate)) }

        /// The same, with its body that many times in a row: a large body that is never in memory as a whole.
        public func repeated(_ count: Int) -> Response {
            var copy = self
            copy.repetitions = count
            return copy
        }

        private init(delivery: Delivery) {
            self.init()
            self.delivery = delivery
        }

        private func with(_ delivery: Delivery) -> Response {
            var copy = self
            copy.delivery = delivery
            return copy
        }

        /// The bytes of the answer up to where it ends or breaks off.
        var encoded: Data {
            var head = "HTTP/1.1 \(status) -\r\n"
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            switch delivery {
            case .chunked: return Data((head + "Transfer-Encoding: chunked\r\n\r\n").utf8) + Self.chunks(of: body)
            // These have neither a body nor its length (RFC 9110, sections 15.3.5 and 15.4.5).
            case .whole where status == 204 || status == 304: return Data((head + "\r\n").utf8)
            default: head += "Content-Length: \(body.count * repetitions)\r\n\r\n"
            }
            switch delivery {
            case .cutShort, .reset, .halves: return Data(head.utf8) + body.prefix(body.count / 2)
            case .whole, .chunked, .closed, .never: return Data(head.utf8) + body
            }
        }

        private static func chunks(of body: Data) -> Data {
            let size = max(1, body.count / 3)
            var result = Data()
            for start in stride(from: 0, to: body.count, by: size) {
                let chunk = body.dropFirst(start).prefix(size)
                result += Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
            }
            return result + Data("0\r\n\r\n".utf8)
        }
    }
}
