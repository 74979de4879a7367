#if Collector
import Foundation
import WaybillCore

/// Where a bucket is, and what is ours in it.
///
/// `s3://BUCKET/PREFIX` names it; the variables of AWS's own tools say where it is
/// (https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html).
struct BucketAddress: Hashable, Sendable {
    /// `https://host` or `http://host:port`, without a slash at its end.
    let origin: String
    /// What the paths of its objects begin with: empty where the host names the bucket.
    let root: String
    /// What the names of its objects begin with: empty, or with a slash at its end.
    let prefix: String
    let region: String
    /// As it was asked for, without a slash at its end.
    let text: String

    static let scheme = "s3://"

    /// - Throws: `.setting` for what is no address of a bucket, or an endpoint that is no HTTP URL.
    init(_ text: String, environment: [String: String]) throws(WaybillError) {
        let words = text.dropFirst(Self.scheme.count).split(separator: "/")
        guard text.hasPrefix(Self.scheme), let bucket = words.first, text.dropFirst(Self.scheme.count).first != "/",
            // https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html, and capitals of former times
            bucket.utf8.allSatisfy({ $0.isASCIILetterOrDigit || ".-_".utf8.contains($0) })
        else {
            throw WaybillError(.setting, "This is no address of a bucket; give it as s3://BUCKET/PREFIX.")
        }
        self.text = Self.scheme + words.joined(separator: "/")
        prefix = words.dropFirst().map { $0 + "/" }.joined()
        region = Self.value("AWS_REGION", "AWS_DEFAULT_REGION", of: environment) ?? "us-east-1"
        guard let endpoint = Self.value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", of: environment) else {
            guard region.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }) else {
                throw WaybillError(.setting, "AWS_REGION is no region; give it as e.g. eu-central-1.")
            }
            // A certificate for `*.s3...` does not hold for a name with a dot.
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

    /// As the header field `Host` has it.
    var host: String { origin.components(separatedBy: "://")[1] }

    private static func value(_ names: String..., of environment: [String: String]) -> String? {
        names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
}

/// Who asks: nil for nobody in particular, where the environment names no one.
struct BucketCredentials: Hashable, Sendable {
    var id: String
    var secret: String
    /// Of credentials that end.
    var token: String?

    init(id: String, secret: String, token: String? = nil) { (self.id, self.secret, self.token) = (id, secret, token) }

    /// Those of `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
    ///
    /// - Throws: `.setting` where one of the first two is there without the other, or one could not stand in a header
    ///   field.
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

extension UInt8 {
    fileprivate var isASCIILetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
#endif
