#if Collector
import Foundation
import Waybill
import WaybillCore
import WaybillExport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A lake in a bucket of S3 or of a compatible store, which must support conditional writes
/// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html).
struct Bucket: Lake {
    let address: BucketAddress
    private let credentials: BucketCredentials?
    private let clock: any TransactionClock
    private let wait: @Sendable (Duration) async throws -> Void
    private let http: HTTPSession

    static let attemptLimit = 4

    init(
        _ address: BucketAddress, by credentials: BucketCredentials?, clock: any TransactionClock,
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.address = address
        self.credentials = credentials
        self.clock = clock
        self.wait = wait
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 60
        http = HTTPSession(configuration: configuration)
    }

    func place(of name: String) -> String { "\(address.text)/\(name)" }

    func names(in folder: String) async throws -> [String] {
        let prefix = "\(address.prefix)\(folder)/"
        var names: [String] = []
        while true {
            var request = BucketRequest(path: "\(address.root)/")
            request.query = [("list-type", "2"), ("prefix", prefix)]
            // The list continues after a name, because a continuation token may contain any characters.
            if let last = names.last { request.query.append(("start-after", prefix + last)) }
            let (status, body) = try await send(request)
            guard status == 200 else { throw refusal(status, body) }
            let page = String(decoding: body, as: UTF8.self)
            let found = page.matches(of: #/<Key>([^<]*)</Key>/#).compactMap { $0.1.split(separator: "/").last }
            names += found.map(String.init)
            guard page.contains("<IsTruncated>true</IsTruncated>"), !found.isEmpty else { return names }
        }
    }

    func bytes(of name: String) async throws -> [UInt8]? {
        let (status, body) = try await send(BucketRequest(path: path(name)))
        switch status {
        case 200: return Array(body)
        case 404: return nil
        default: throw refusal(status, body)
        }
    }

    func put(_ bytes: [UInt8], as name: String) async throws -> Bool {
        var request = BucketRequest(method: "PUT", path: path(name), body: bytes)
        request.fields = ["if-none-match": "*", "content-type": "application/octet-stream"]
        let (status, body) = try await send(request)
        switch status {
        case 200, 201, 204: return true
        case 412: return false
        default: throw refusal(status, body)
        }
    }

    private func path(_ name: String) -> String { "\(address.root)/\(address.prefix)\(name)" }

    /// Bytes of an answer. A page of a list has a thousand names.
    private static let longestAnswer = 4 << 20

    /// Retries a request if the store is overloaded or the answer is lost.
    private func send(_ request: BucketRequest) async throws -> (status: Int, body: Data) {
        var attempt = 1
        while true {
            // Each attempt is signed again, because a signature expires after some minutes.
            let signed = try request.signed(for: address, by: credentials, at: clock.wallMicroseconds())
            let failure: WaybillError
            do {
                let (body, response) = try await http.data(
                    for: signed, uploading: request.method == "PUT" ? Data(request.body) : nil, redirects: .refuse,
                    deadline: .seconds(600), limit: Self.longestAnswer)
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                // 409: Another request for the same name is in progress.
                guard [0, 409, 429, 500, 502, 503, 504].contains(status) else { return (status, body) }
                failure = WaybillError(
                    .transport, "\(address.host) has no time for \(address.text) (\(status)). Try again later.",
                    cause: Self.code(body))
            } catch {
                try Task.checkCancellation()
                failure = WaybillError(
                    .transport, "\(address.host) cannot be reached. Is AWS_ENDPOINT_URL right?",
                    cause: error.localizedDescription)
            }
            guard attempt < Self.attemptLimit else { throw failure }
            try await wait(.seconds(1 << (attempt - 1)))
            attempt += 1
        }
    }

    private func refusal(_ status: Int, _ body: Data) -> WaybillError {
        let hint =
            switch status {
            case 401, 403:
                credentials == nil
                    ? "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
                    : "It must be allowed to list the bucket, and to get and put what begins with the prefix."
            case 404: "There is no such bucket there."
            case 300...399: "It is elsewhere: set AWS_REGION."
            case 501: "It cannot put something once: If-None-Match is not known there."
            default: "Does it speak the protocol of S3?"
            }
        return WaybillError(
            .refused, "\(address.host) refuses what was asked about \(address.text) (\(status)). \(hint)",
            cause: Self.code(body))
    }

    private static func code(_ body: Data) -> String? {
        String(decoding: body.prefix(4096), as: UTF8.self).firstMatch(of: #/<Code>([A-Za-z0-9]{1,64})</Code>/#)
            .map { String($0.1) }
    }
}

/// The address of a bucket, `s3://BUCKET/PREFIX`. The variables of AWS's own tools set the endpoint
/// (https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html).
struct BucketAddress: Hashable, Sendable {
    /// `https://host` or `http://host:port`, without a trailing slash.
    let origin: String
    /// The start of each object's path; empty if the host contains the bucket's name.
    let root: String
    /// The start of each object's name: empty, or with a trailing slash.
    let prefix: String
    let region: String
    let text: String

    static let scheme = "s3://"

    init(_ text: String, environment: [String: String]) throws(WaybillError) {
        let words = text.dropFirst(Self.scheme.count).split(separator: "/")
        guard text.hasPrefix(Self.scheme), let bucket = words.first, text.dropFirst(Self.scheme.count).first != "/",
            // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html; some have capitals.
            bucket.utf8.allSatisfy({ $0.isLetterOrDigit || ".-_".utf8.contains($0) })
        else {
            throw WaybillError(.setting, "This is no address of a bucket; give it as s3://BUCKET/PREFIX.")
        }
        self.text = Self.scheme + words.joined(separator: "/")
        prefix = words.dropFirst().map { $0 + "/" }.joined()
        region = Self.value("AWS_REGION", "AWS_DEFAULT_REGION", of: environment) ?? "us-east-1"
        guard let endpoint = Self.value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", of: environment) else {
            guard region.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }) else {
                throw WaybillError(.setting, "AWS_REGION is no region; give it as e.g. eu-central-1.")
            }
            // A certificate for `*.s3...` does not cover a name with a dot.
            let isInPath = bucket.contains(".")
            origin = "https://\(isInPath ? "" : "\(bucket).")s3.\(region).amazonaws.com"
            root = isInPath ? "/\(bucket)" : ""
            return
        }
        guard let url = URL(string: endpoint), let scheme = url.scheme?.lowercased(),
            ["http", "https"].contains(scheme),
            let host = url.host(percentEncoded: true), !host.isEmpty, url.path().count <= 1, url.query() == nil,
            url.user() == nil
        else {
            throw WaybillError(
                .setting, "AWS_ENDPOINT_URL is no HTTP URL; give it as http://HOST:PORT, e.g. http://127.0.0.1:9000.")
        }
        let usual = scheme == "https" ? 443 : 80
        let literal = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        origin = "\(scheme)://\(literal)" + (url.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? "")
        root = "/\(bucket)"
    }

    var host: String { origin.components(separatedBy: "://")[1] }

    private static func value(_ names: String..., of environment: [String: String]) -> String? {
        names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
}

struct BucketCredentials: Hashable, Sendable {
    var id: String
    var secret: String
    /// Only temporary credentials have one.
    var token: String?

    init(id: String, secret: String, token: String? = nil) { (self.id, self.secret, self.token) = (id, secret, token) }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; `nil` if the first two are missing.
    init?(environment: [String: String]) throws(WaybillError) {
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
        let values = names.map { environment[$0] ?? "" }
        guard !values[0].isEmpty || !values[1].isEmpty else { return nil }
        guard !values[0].isEmpty, !values[1].isEmpty else {
            throw WaybillError(.setting, "Of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY one is missing. Set both.")
        }
        guard values.joined().utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw WaybillError(
                .setting, "\(names.joined(separator: ", ")): one has a character that none of them has. Set them anew.")
        }
        self.init(id: values[0], secret: values[1], token: values[2].isEmpty ? nil : values[2])
    }
}

/// A request to a bucket, signed by AWS Signature Version 4 in header fields
/// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
struct BucketRequest {
    var method = "GET"
    /// Begins with a slash, and is not percent-encoded.
    var path: String
    /// Not percent-encoded.
    var query: [(name: String, value: String)] = []
    /// The names are in lower case.
    var fields: [String: String] = [:]
    var body: [UInt8] = []

    /// - Parameter time: Microseconds since 1970.
    func signed(for address: BucketAddress, by credentials: BucketCredentials?, at time: Int64) throws(WaybillError)
        -> URLRequest
    {
        let encode = PercentEncoding.encoded
        let target = encode(path).replacing("%2F", with: "/")
        let query = query.map { (encode($0.name), encode($0.value)) }.sorted { $0 < $1 }
            .map { "\($0)=\($1)" }.joined(separator: "&")
        guard let url = URL(string: address.origin + target + (query.isEmpty ? "" : "?\(query)")) else {
            throw WaybillError(.setting, "\(address.text) makes no URL. Give another prefix.")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        var fields = fields
        if let credentials {
            let hash = SHA256.hex(body)
            let stamp = Date(microseconds: time).formatted(Self.stamp)
            fields["x-amz-content-sha256"] = hash
            fields["x-amz-date"] = stamp
            fields["x-amz-security-token"] = credentials.token
            let signed = fields.merging(["host": address.host]) { $1 }.sorted { $0.key < $1.key }
            let names = signed.map(\.key).joined(separator: ";")
            let canonical =
                [method, target, query]
                + signed.map { "\($0.key):\($0.value.trimmingCharacters(in: .whitespaces))" } + ["", names, hash]
            let scope = "\(stamp.prefix(8))/\(address.region)/s3/aws4_request"
            let text = ["AWS4-HMAC-SHA256", stamp, scope, SHA256.hex(Self.bytes(canonical))]
            let key = [String(stamp.prefix(8)), address.region, "s3", "aws4_request"]
                .reduce(Array("AWS4\(credentials.secret)".utf8)) { SHA256.authentication(of: Array($1.utf8), by: $0) }
            let signature = SHA256.hex(ofHash: SHA256.authentication(of: Self.bytes(text), by: key))
            fields["authorization"] =
                "AWS4-HMAC-SHA256 Credential=\(credentials.id)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        }
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private static let stamp = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)

    private static func bytes(_ lines: [String]) -> [UInt8] { Array(lines.joined(separator: "\n").utf8) }
}

extension SHA256 {
    /// HMAC-SHA256 (RFC 2104).
    static func authentication(of message: [UInt8], by key: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? hash(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return hash(block.map { $0 ^ 0x5C } + hash(block.map { $0 ^ 0x36 } + message))
    }
}
#endif
