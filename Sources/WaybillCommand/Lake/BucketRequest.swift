#if Collector
import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request to a bucket, signed by AWS Signature Version 4, in header fields
/// (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
struct BucketRequest {
    var method = "GET"
    /// Not percent-encoded, with a slash before it.
    var path: String
    /// Not percent-encoded.
    var query: [(name: String, value: String)] = []
    /// Other fields, by names in lower case.
    var fields: [String: String] = [:]
    var body: [UInt8] = []

    /// The request as it is sent.
    ///
    /// - Parameters:
    ///   - credentials: nil: it is not signed.
    ///   - time: microseconds since 1970.
    func signed(for address: BucketAddress, by credentials: BucketCredentials?, at time: Int64) throws(WaybillError)
        -> URLRequest
    {
        let target = Self.encoded(path, keepsSlashes: true)
        let query = query.map { (Self.encoded($0.name), Self.encoded($0.value)) }.sorted { $0 < $1 }
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

    /// All but unreserved characters (RFC 3986, section 2.3) as `%XY`.
    private static func encoded(_ text: String, keepsSlashes: Bool = false) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
                + (keepsSlashes ? "/" : ""))
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}

extension SHA256 {
    /// A code that only who has the key can make: HMAC-SHA256 (RFC 2104).
    static func authentication(of message: [UInt8], by key: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? hash(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        return hash(block.map { $0 ^ 0x5C } + hash(block.map { $0 ^ 0x36 } + message))
    }
}
#endif
