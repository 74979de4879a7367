public import Foundation
public import WaybillCore

extension NetworkRule {
    /// The response of a rule, in place of a server's.
    ///
    /// A 302 is not followed, `Set-Cookie` sets no cookie, and `Content-Encoding` decodes nothing. `Content-Length` is
    /// added. The body is omitted after `HEAD` and with 204 and 304 (RFC 9110, section 6.4.1).
    public struct Response: Sendable, Equatable {
        /// The status code, from 200 to 599.
        public var status: Int
        /// The header fields. Fields of the same name are joined by commas, as in `HTTPURLResponse`.
        public var headerFields: [HeaderField]
        /// The whole body.
        public var body: Data
        /// The delay of the response.
        public var delay: Duration
        /// The longest of random delays from ``delay`` on; `nil` always uses ``delay``.
        public var maximumDelay: Duration?

        /// Creates a response.
        public init(
            status: Int = 200, headerFields: [HeaderField] = [], body: Data = Data(), delay: Duration = .zero,
            maximumDelay: Duration? = nil
        ) {
            self.status = status
            self.headerFields = headerFields
            self.body = body
            self.delay = delay
            self.maximumDelay = maximumDelay
        }

        /// Returns a response with a UTF-8 text, by default of type JSON.
        public static func text(
            _ text: String, status: Int = 200, contentType: String = "application/json", delay: Duration = .zero,
            maximumDelay: Duration? = nil
        ) -> Response {
            Response(
                status: status, headerFields: [HeaderField(name: "Content-Type", value: contentType)],
                body: Data(text.utf8), delay: delay, maximumDelay: maximumDelay)
        }

        var problem: String? {
            (200...599).contains(status)
                ? Duration.problem(from: delay, to: maximumDelay) : "No answer has the status \(status)."
        }
    }
}

extension NetworkRule.Response: Codable {
    /// Decodes a response as `Schemas/rules.v1.schema.json` describes it. Throws `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members("status", "headers", "text", "base64", "delay_us", "longest_delay_us")
        let (delay, maximumDelay) = try members.delay("delay_us", "longest_delay_us")
        self.init(
            status: try members.integer("status", in: 200...599) ?? 200, headerFields: try Self.headerFields(members),
            body: try Self.body(members, decoder), delay: delay, maximumDelay: maximumDelay)
    }

    private static func headerFields(_ members: KeyedDecodingContainer<MemberKey>) throws -> [HeaderField] {
        let pairs = try members.value([[String]].self, "headers") ?? []
        guard pairs.allSatisfy({ $0.count == 2 && $0.first?.isEmpty == false }) else {
            throw members.failure("headers", "pairs of name and value were expected")
        }
        return pairs.map { HeaderField(name: $0[0], value: $0[1]) }
    }

    private static func body(_ members: KeyedDecodingContainer<MemberKey>, _ decoder: any Decoder) throws -> Data {
        let text = try members.value(String.self, "text")
        guard let base64 = try members.value(String.self, "base64") else { return Data((text ?? "").utf8) }
        guard text == nil else { throw decoder.failure("one of text and base64 was expected, not both") }
        guard let data = Data(base64Encoded: base64) else {
            throw members.failure("base64", "base64 (RFC 4648, section 4) was expected")
        }
        return data
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(status, forKey: "status")
        if !headerFields.isEmpty {
            try members.encode(headerFields.map { [$0.name, $0.value] }, forKey: "headers")
        }
        if let text = String(utf8: body) {
            if !text.isEmpty { try members.encode(text, forKey: "text") }
        } else {
            try members.encode(body.base64EncodedString(), forKey: "base64")
        }
        if delay > .zero { try members.encode(delay.microseconds, forKey: "delay_us") }
        try members.encodeIfPresent(maximumDelay?.microseconds, forKey: "longest_delay_us")
    }
}

extension URLError.Code {
    private static let names: [Int: String] = [
        -1: "unknown", -999: "cancelled", -1000: "badURL", -1001: "timedOut", -1002: "unsupportedURL",
        -1003: "cannotFindHost",
        -1004: "cannotConnectToHost", -1005: "networkConnectionLost", -1006: "dnsLookupFailed",
        -1007: "httpTooManyRedirects",
        -1008: "resourceUnavailable", -1009: "notConnectedToInternet", -1010: "redirectToNonExistentLocation",
        -1011: "badServerResponse",
        -1012: "userCancelledAuthentication", -1013: "userAuthenticationRequired", -1014: "zeroByteResource",
        -1015: "cannotDecodeRawData",
        -1016: "cannotDecodeContentData", -1017: "cannotParseResponse", -1018: "internationalRoamingOff",
        -1019: "callIsActive",
        -1020: "dataNotAllowed", -1021: "requestBodyStreamExhausted",
        -1022: "appTransportSecurityRequiresSecureConnection",
        -1100: "fileDoesNotExist", -1101: "fileIsDirectory", -1102: "noPermissionsToReadFile",
        -1103: "dataLengthExceedsMaximum",
        -1200: "secureConnectionFailed", -1201: "serverCertificateHasBadDate", -1202: "serverCertificateUntrusted",
        -1203: "serverCertificateHasUnknownRoot", -1204: "serverCertificateNotYetValid",
        -1205: "clientCertificateRejected",
        -1206: "clientCertificateRequired", -2000: "cannotLoadFromNetwork",
    ]
    package static let allNames = names.values.sorted()

    private static let numbers = Dictionary(uniqueKeysWithValues: names.map { ($0.value, $0.key) })

    init?(name: String) {
        guard let number = Self.numbers[name] else { return nil }
        self.init(rawValue: number)
    }

    package var name: String? { Self.names[rawValue] }
}

extension NetworkRule {
    /// The slowdown of a request and its response.
    public struct Throttle: Sendable, Equatable {
        /// The delay before the request is sent.
        public var latency: Duration
        /// The longest of random delays from ``latency`` on; `nil` always uses ``latency``.
        public var maximumLatency: Duration?
        /// The rate of both bodies in bytes per second; `nil` for the network's. Earlier bytes wait in memory.
        public var bytesPerSecond: Int64?

        /// Creates a throttle.
        public init(latency: Duration = .zero, maximumLatency: Duration? = nil, bytesPerSecond: Int64? = nil) {
            self.latency = latency
            self.maximumLatency = maximumLatency
            self.bytesPerSecond = bytesPerSecond
        }

        var problem: String? {
            guard let bytesPerSecond, bytesPerSecond < 1 else {
                return Duration.problem(from: latency, to: maximumLatency)
            }
            return "At \(bytesPerSecond) bytes a second nothing would ever come."
        }
    }
}

extension NetworkRule.Throttle: Codable {
    /// Decodes an object with `latency_us`, `longest_latency_us` or `bytes_per_second`. Throws `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members("latency_us", "longest_latency_us", "bytes_per_second")
        let (latency, maximumLatency) = try members.delay("latency_us", "longest_latency_us")
        let bytesPerSecond = try members.integer("bytes_per_second", in: 1...Limits.largestInteger)
        guard ["latency_us", "longest_latency_us", "bytes_per_second"].contains(where: members.contains) else {
            throw decoder.failure("latency_us or bytes_per_second was expected")
        }
        self.init(latency: latency, maximumLatency: maximumLatency, bytesPerSecond: bytesPerSecond)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        if latency > .zero || bytesPerSecond == nil {
            try members.encode(max(0, latency.microseconds), forKey: "latency_us")
        }
        try members.encodeIfPresent(maximumLatency?.microseconds, forKey: "longest_latency_us")
        try members.encodeIfPresent(bytesPerSecond, forKey: "bytes_per_second")
    }
}
