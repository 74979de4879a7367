#if Collector
import Foundation
import Waybill
import WaybillCore
import WaybillExport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A lake in a bucket of S3, or of what speaks its protocol: three kinds of requests, and `If-None-Match` for what is
/// put once (https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html).
struct Bucket: Lake {
    let address: BucketAddress
    private let credentials: BucketCredentials?
    private let clock: any TransactionClock
    private let wait: @Sendable (Duration) async throws -> Void
    private let http: HTTPSession

    /// How often a request is sent at most.
    static let attemptLimit = 4

    /// - Parameters:
    ///   - clock: By which requests are signed.
    ///   - wait: Waits before something is sent again.
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
            // Behind what came, in place of a token, which may have any characters.
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

    /// Bytes of an answer that is read: a page of a list has a thousand names.
    private static let longestAnswer = 4 << 20

    /// Sends a request, again where the store has no time for it or its answer was lost.
    private func send(_ request: BucketRequest) async throws -> (status: Int, body: Data) {
        var attempt = 1
        while true {
            // Signed anew: a signature holds for some minutes.
            let signed = try request.signed(for: address, by: credentials, at: clock.wallMicroseconds())
            let failure: WaybillError
            do {
                let (body, response) = try await http.data(
                    for: signed, uploading: request.method == "PUT" ? Data(request.body) : nil, redirects: .refuse,
                    deadline: .seconds(600), limit: Self.longestAnswer)
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                // 409: another request for the same name is under way.
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

    /// What S3 calls its reason; nil for none.
    private static func code(_ body: Data) -> String? {
        String(decoding: body.prefix(4096), as: UTF8.self).firstMatch(of: #/<Code>([A-Za-z0-9]{1,64})</Code>/#)
            .map { String($0.1) }
    }
}
#endif
