extension Fact {
    /// Optional details of how an exchange was transferred. A property is `nil` if the platform does not report it.
    package struct Transfer: Hashable, Sendable, Codable {
        package var httpVersion: String?
        package var receivedWireByteCount: Int64?
        /// When the last byte of the request was handed over, in microseconds since the start of the source.
        package var sentAtMicroseconds: Int64?
        package var phases: Phases
        package var isConnectionReused: Bool?
        /// The redirects that were followed, in order; at most the first 20.
        package var redirects: [Redirect]
        package var isMocked: Bool
        package var rule: String?
        package var webSocket: WebSocket?

        package init(
            httpVersion: String? = nil, receivedWireByteCount: Int64? = nil, sentAtMicroseconds: Int64? = nil,
            phases: Phases = Phases(),
            isConnectionReused: Bool? = nil, redirects: [Redirect] = [], isMocked: Bool = false, rule: String? = nil,
            webSocket: WebSocket? = nil
        ) {
            self.httpVersion = httpVersion
            self.receivedWireByteCount = receivedWireByteCount
            self.sentAtMicroseconds = sentAtMicroseconds
            self.phases = phases
            self.isConnectionReused = isConnectionReused
            self.redirects = redirects
            self.isMocked = isMocked
            self.rule = rule
            self.webSocket = webSocket
        }

        package var isEmpty: Bool { self == Transfer() }
    }

    /// The durations of the steps before a request; `nil` if a step was unnecessary or not measured.
    package struct Phases: Hashable, Sendable, Codable {
        package var lookupMicroseconds: Int64?
        package var connectMicroseconds: Int64?
        package var secureMicroseconds: Int64?

        package init(
            lookupMicroseconds: Int64? = nil, connectMicroseconds: Int64? = nil, secureMicroseconds: Int64? = nil
        ) {
            self.lookupMicroseconds = lookupMicroseconds
            self.connectMicroseconds = connectMicroseconds
            self.secureMicroseconds = secureMicroseconds
        }
    }

    package struct Redirect: Hashable, Sendable, Codable {
        package var status: Int
        package var url: String
        package var atMicroseconds: Int64

        package init(status: Int, url: String, atMicroseconds: Int64) {
            self.status = status
            self.url = url
            self.atMicroseconds = atMicroseconds
        }
    }
}

extension JSONWriter {
    package mutating func members(_ transfer: Fact.Transfer) {
        guard !transfer.isEmpty else { return }
        member("http_version", transfer.httpVersion)
        member("received_wire_bytes", transfer.receivedWireByteCount)
        member("sent_at_us", transfer.sentAtMicroseconds)
        if transfer.phases != Fact.Phases() {
            key("phases")
            beginObject()
            member("lookup_us", transfer.phases.lookupMicroseconds)
            member("connect_us", transfer.phases.connectMicroseconds)
            member("secure_us", transfer.phases.secureMicroseconds)
            endObject()
        }
        if let isReused = transfer.isConnectionReused {
            key("reused")
            bool(isReused)
        }
        if !transfer.redirects.isEmpty {
            key("redirects")
            redirects(transfer.redirects)
        }
        member("mocked", transfer.isMocked)
        member("rule", transfer.rule)
        if let socket = transfer.webSocket {
            key("websocket")
            webSocket(socket)
        }
    }

    package mutating func redirects(_ redirects: [Fact.Redirect]) {
        objects(redirects) { redirect, writer in
            writer.member("status", redirect.status)
            writer.member("url", redirect.url)
            writer.member("at_us", redirect.atMicroseconds)
        }
    }
}

extension Fact.Transfer {
    package mutating func read(_ key: JSONText, _ reader: inout JSONReader) throws(JSONFailure) -> Bool {
        switch key {
        case "http_version": httpVersion = try reader.string(limit: Limits.labelLength)
        case "received_wire_bytes": receivedWireByteCount = try reader.count()
        case "sent_at_us": sentAtMicroseconds = try reader.count()
        case "phases": phases = try .read(&reader)
        case "reused": isConnectionReused = try reader.bool()
        case "redirects": redirects = try reader.redirects()
        case "mocked": isMocked = try reader.bool()
        case "rule": rule = try reader.string(limit: Limits.labelLength)
        case "websocket": webSocket = try reader.webSocket()
        default: return false
        }
        return true
    }
}

extension Fact.Phases {
    fileprivate static func read(_ reader: inout JSONReader) throws(JSONFailure) -> Self {
        var phases = Self()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "lookup_us": phases.lookupMicroseconds = try reader.count()
            case "connect_us": phases.connectMicroseconds = try reader.count()
            case "secure_us": phases.secureMicroseconds = try reader.count()
            default: try reader.skipValue()
            }
        }
        return phases
    }
}

extension JSONReader {
    fileprivate mutating func redirects() throws(JSONFailure) -> [Fact.Redirect] {
        try list(of: "redirects", limit: Limits.redirects) { reader throws(JSONFailure) in try reader.redirect() }
    }

    private mutating func redirect() throws(JSONFailure) -> Fact.Redirect {
        var status: Int?
        var url: String?
        var at: Int64?
        let start = try beginObject()
        while let key = try nextKey() {
            switch key {
            case "status": status = try integer(in: 0...999)
            case "url": url = try string(limit: Limits.fieldLength)
            case "at_us": at = try count()
            default: try skipValue()
            }
        }
        return Fact.Redirect(
            status: try required(status, "status", at: start), url: try required(url, "url", at: start),
            atMicroseconds: try required(at, "at_us", at: start))
    }
}
