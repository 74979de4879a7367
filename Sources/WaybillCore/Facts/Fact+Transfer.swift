extension Fact {
    /// How an exchange went on its way, as far as the platform tells; nothing of it is needed to read the rest.
    package struct Transfer: Hashable, Sendable, Codable {
        /// The version of HTTP: `1.1`, `2`; nil where the platform does not tell.
        package var httpVersion: String?
        /// Bytes of the response's body on the wire, before they were decoded; nil where it is not known.
        package var receivedWireByteCount: Int64?
        /// Microseconds from the start of the source to when the request's last byte was handed over; nil where it was
        /// not measured.
        package var sentAtMicroseconds: Int64?
        /// What came before the request could be sent.
        package var phases: Phases
        /// Whether it went over a connection that was there already; nil where the platform does not tell.
        package var isConnectionReused: Bool?
        /// The redirects that were followed, in order; a longer chain keeps the first 20.
        package var redirects: [Redirect]
        /// Whether a rule answered, or failed it, and no server was asked.
        package var isMocked: Bool
        /// The name of the rule that answered it, failed it or slowed it down; nil: none did.
        package var rule: String?
        /// What went over it where it was a WebSocket; nil where it was none, or the handshake failed.
        package var webSocket: WebSocket?

        /// Says nothing, unless told otherwise.
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

        /// Whether nothing is known.
        package var isEmpty: Bool { self == Transfer() }
    }

    /// How long the steps before a request took; nil where one was not needed, or was not measured.
    package struct Phases: Hashable, Sendable, Codable {
        /// Microseconds of looking up the host's name.
        package var lookupMicroseconds: Int64?
        /// Microseconds of connecting, without TLS.
        package var connectMicroseconds: Int64?
        /// Microseconds of the TLS handshake.
        package var secureMicroseconds: Int64?

        /// Says nothing, unless told otherwise.
        package init(
            lookupMicroseconds: Int64? = nil, connectMicroseconds: Int64? = nil, secureMicroseconds: Int64? = nil
        ) {
            self.lookupMicroseconds = lookupMicroseconds
            self.connectMicroseconds = connectMicroseconds
            self.secureMicroseconds = secureMicroseconds
        }
    }

    /// An answer that named another place, and was followed.
    package struct Redirect: Hashable, Sendable, Codable {
        /// 301, 302, 303, 307 or 308, as a rule.
        package var status: Int
        /// Where it led, redacted.
        package var url: String
        /// Microseconds from the start of the source to its coming.
        package var atMicroseconds: Int64

        /// Makes a redirect.
        package init(status: Int, url: String, atMicroseconds: Int64) {
            self.status = status
            self.url = url
            self.atMicroseconds = atMicroseconds
        }
    }
}

/// The members of a transfer stand among those of its closing: in sets, and in a store's details.
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

    /// `[{"status": 302, "url": "https://api.example.com/", "at_us": 1391000}]`
    package mutating func redirects(_ redirects: [Fact.Redirect]) {
        beginArray()
        for redirect in redirects {
            beginObject()
            member("status", redirect.status)
            member("url", redirect.url)
            member("at_us", redirect.atMicroseconds)
            endObject()
        }
        endArray()
    }
}

extension Fact.Transfer {
    /// Reads the value of a member, if it is one of these.
    ///
    /// - Returns: Whether it was; else nothing was read.
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
        skipWhitespace()
        let start = offset
        var redirects: [Fact.Redirect] = []
        try beginArray()
        while try nextElement() {
            guard redirects.count < Limits.redirects else {
                throw JSONFailure(.invalid, at: start, "more than \(Limits.redirects) redirects")
            }
            redirects.append(try redirect())
        }
        return redirects
    }

    private mutating func redirect() throws(JSONFailure) -> Fact.Redirect {
        skipWhitespace()
        let start = offset
        var status: Int?
        var url: String?
        var at: Int64?
        try beginObject()
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
