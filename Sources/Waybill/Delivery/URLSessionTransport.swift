public import Foundation
public import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Posts sets to a collector over HTTP.
///
/// Only one answer settles anything: a 200 with a receipt that names the set and whose counts add up to the facts that
/// were sent. All else, a sign-in page's 200 above all, is a failure, and the facts stay pending; the guide
/// <doc:DeliverWhatWasRecorded> has the table. Redirects are not followed. Of an answer 64 KiB and 2,500 bytes for each
/// fact are read: what is longer is no receipt. The POST takes no part in any transaction
/// and carries no header field of one. Of a set 0.0.1 any 2xx settles what was sent: see ``SetFormat``.
///
/// Bodies are compressed (gzip, RFC 1952) where that makes them smaller, until a collector answers 415 to one, which is
/// then sent again as it is.
///
/// ## Usage
///
/// ```swift
/// let transport = URLSessionTransport(collector: url, timeout: .seconds(10)) { request in
///     var request = request
///     request.setValue(try await keys.signature(of: request.httpBody), forHTTPHeaderField: "Signature")
///     return request
/// }
/// ```
public final class URLSessionTransport: FlushTransport {
    private let collector: URL
    private let token: String?
    private let wire: any SetWire
    private let timeout: Duration
    private let clock: any TransactionClock
    private let middleware: (@Sendable (URLRequest) async throws -> URLRequest)?
    private let http: HTTPSession
    /// What sends sets from files; nil: they go from memory.
    let uploads: BackgroundUploads?
    private let compresses: Locked<Bool>

    /// Makes a transport with a session of its own, which is let go with it.
    ///
    /// - Parameters:
    ///   - collector: The address the collector serves at, as `waybill serve` prints it, e.g. `https://example.com` or
    ///     `https://example.com/waybill`; sets go to `v1/sets` below it, sets 0.0.1 to the address itself. What is no
    ///     HTTP address fails when a set is sent.
    ///   - token: Sent as `Authorization: Bearer` (RFC 6750), with sets 0.0.1 as their server has it; nil: not sent.
    ///   - format: In which version sets go out. Default: version 1.
    ///   - timeout: The longest that sending and the answer may take together; 30 seconds unless said otherwise.
    ///   - configuration: Of the session, e.g. for a proxy; by default one that keeps nothing. One for the background
    ///     is replaced by the default one, since sets are sent from memory, which such a session does not take.
    ///   - clock: Its wall clock tells how far away a `Retry-After` that is a date lies, in an answer without a `Date`.
    ///     Default: the system's.
    ///   - middleware: Changes a request before it is sent: signs it, adds header fields, or encodes the body in another
    ///     way. Gets the whole request, with its body in `httpBody`, compressed if `Content-Encoding` says so. A set has
    ///     at most half a megabyte, unless a single fact is larger. `nil`: requests are sent as they are.
    public init(
        collector: URL, token: String? = nil, format: SetFormat = .v1, timeout: Duration = .seconds(30),
        configuration: URLSessionConfiguration = .ephemeral, clock: (any TransactionClock)? = nil,
        middleware: (@Sendable (URLRequest) async throws -> URLRequest)? = nil
    ) {
        self.collector = collector
        self.token = token
        wire = format.wire
        compresses = Locked(wire.compresses)
        self.timeout = timeout
        self.clock = clock ?? SystemClock()
        self.middleware = middleware
        http = HTTPSession(configuration: configuration)
        uploads = nil
    }

    /// Makes a transport whose sets the system sends from files, also while the app is suspended and after it was ended.
    ///
    /// On Apple platforms it makes the session for the background of that name, of which an app has one: make one such
    /// transport at launch, in one process. A set that has no answer in time stays under way, for an hour at most; the
    /// next flush, or that of the next launch, books its answer, and then goes on with the next set. Elsewhere an
    /// ordinary session sends the files, and the next launch sends again what has no answer yet. In such a session the
    /// system follows redirects by itself.
    ///
    /// Where the system wakes the app because of an answer, one line books it:
    ///
    /// ```swift
    /// .backgroundTask(.urlSession("com.example.deliver")) { await transactions.flushInBackground() }
    /// ```
    ///
    /// - Parameters:
    ///   - identifier: The session's name, the same in every launch.
    ///   - collector: As in ``init(collector:token:format:timeout:configuration:clock:middleware:)``.
    ///   - token: The same.
    ///   - folder: Where the files go; nil, the default: a folder of the app's own, by the session's name.
    ///   - timeout: The longest that a flush waits for an answer; 30 seconds unless said otherwise.
    ///   - clock: As above.
    ///   - middleware: As above; what it returns is written to the file.
    public init(
        background identifier: String, collector: URL, token: String? = nil, folder: URL? = nil,
        timeout: Duration = .seconds(30), clock: (any TransactionClock)? = nil,
        middleware: (@Sendable (URLRequest) async throws -> URLRequest)? = nil
    ) {
        self.collector = collector
        self.token = token
        wire = SetFormat.v1.wire
        compresses = Locked(wire.compresses)
        self.timeout = timeout
        self.clock = clock ?? SystemClock()
        self.middleware = middleware
        http = HTTPSession(configuration: .ephemeral)
        uploads = BackgroundUploads(identifier: identifier, folder: folder)
    }

    /// Posts a set and waits for the receipt.
    ///
    /// - Throws: `CancellationError` when the task is canceled, otherwise ``Delivery/Failure``, whose error is
    ///   `.setting` for an address or a token that cannot work, `.refused` for a 4xx, `.transport` for all else; or
    ///   what the middleware throws.
    public func send(_ set: OutgoingSet) async throws -> Receipt {
        let message = try wire.message(of: set)
        guard let body = message.body else {
            return Receipt(
                set: set.id, acceptedCount: set.factCount - message.leftOut.count, rejections: message.leftOut)
        }
        let request = try request(of: message.mediaType)
        let compressed = try compressed(body)
        let limit = CollectorResponse.byteLimit(factCount: set.factCount)
        var answer = try await post(set, body, compressed, by: request, limit: limit)
        if compressed != nil, answer.isUnsupported {
            compresses.withLock { $0 = false }
            answer = try await post(set, body, nil, by: request, limit: limit)
        }
        return try wire.receipt(of: set, sentAs: message, from: answer, now: clock.date)
    }

    /// The body compressed; nil where that is not wanted, or makes it no smaller.
    private func compressed(_ body: [UInt8]) throws -> [UInt8]? {
        guard compresses.withLock({ $0 }) else { return nil }
        let bytes = try Gzip.compressed(body)
        return bytes.count < body.count ? bytes : nil
    }

    private func post(
        _ set: OutgoingSet, _ body: [UInt8], _ compressed: [UInt8]?, by request: URLRequest, limit: Int
    ) async throws -> CollectorResponse {
        var request = request
        request.httpBody = Data(compressed ?? body)
        if compressed != nil { request.setValue("gzip", forHTTPHeaderField: "Content-Encoding") }
        if let middleware { request = try await middleware(request) }
        // Of a body in the request itself a task of swift-corelibs-foundation does not say the length.
        let body = request.httpBody ?? Data()
        request.httpBody = nil
        do {
            let answer =
                if let uploads {
                    try await uploads.upload(set, as: body, by: request, deadline: timeout, limit: limit)
                } else {
                    try await upload(body, request, limit: limit) as (Data, URLResponse)?
                }
            guard let (data, response) = answer else { throw SetUnderWay() }
            return CollectorResponse(data: data, response: response, from: place, isCut: data.count > limit)
        } catch let error as URLError {
            try Task.checkCancellation()
            throw Delivery.Failure(
                WaybillError(
                    .transport, "The collector at \(place) \(Self.sentence(for: error)); the facts stay pending.",
                    cause: "URLError \(error.code.rawValue)"))
        }
    }

    /// Sends a body; once more, on a new connection, where one that was kept alive has turned out to be closed by the
    /// other side: nothing is wrong then, and a set does no harm twice.
    private func upload(_ body: Data, _ request: URLRequest, limit: Int) async throws(URLError) -> (Data, URLResponse) {
        let post = { [http, timeout] () async throws(URLError) -> (Data, URLResponse) in
            try await http.data(
                for: request, uploading: body, redirects: .refuse, deadline: timeout, limit: limit)
        }
        do { return try await post() } catch {
            guard error.code == .networkConnectionLost else { throw error }
            return try await post()
        }
    }

    private static let insecure = "could not be reached: no secure connection came about, see its certificate"

    private static func sentence(for error: URLError) -> String {
        switch error.code {
        case .timedOut: "did not answer in time"
        case .cannotFindHost, .dnsLookupFailed: "could not be reached: nobody knows a host of that name"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot,
            .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired:
            insecure
        // swift-corelibs-foundation has no code for errors of TLS; the words, which are libcurl's, tell.
        case .unknown where ["SSL", "certificate"].contains(where: error.localizedDescription.contains): insecure
        case .notConnectedToInternet: "could not be reached: there is no network"
        #if canImport(Darwin)
        case .appTransportSecurityRequiresSecureConnection:
            "could not be reached: App Transport Security allows https alone; see the guide On Apple platforms"
        #endif
        default: "could not be reached"
        }
    }

    /// Host and port, for messages: the rest of a URL may hold secrets.
    private var place: String {
        [collector.host(), collector.port?.description].compactMap(\.self).joined(separator: ":")
    }

    /// The request of a set, without its body.
    private func request(of mediaType: String) throws(Delivery.Failure) -> URLRequest {
        guard ["http", "https"].contains(collector.scheme?.lowercased()), collector.host()?.isEmpty == false else {
            throw Delivery.Failure(
                WaybillError(
                    .setting, "The collector's address is no HTTP URL; give it as http://HOST:PORT or https://HOST."))
        }
        var request = URLRequest(url: wire.address(at: collector))
        request.httpMethod = "POST"
        request.setValue(mediaType, forHTTPHeaderField: "Content-Type")
        if let accepted = wire.accepted { request.setValue(accepted, forHTTPHeaderField: "Accept") }
        if let token {
            // A line feed from the end of a file would end the field, and begin another.
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw Delivery.Failure(
                    WaybillError(
                        .setting,
                        "The collector's token is empty or holds blanks, line ends or other than ASCII; trim it."),
                    remedy: .waitForNewDelivery)
            }
            request.setValue(wire.authorization(token), forHTTPHeaderField: "Authorization")
        }
        // The deadline is the exchange's own; this keeps URLSession from giving up before it. Whole seconds, as Linux
        // drops the rest.
        request.timeoutInterval = min(max(timeout.timeInterval, 1).rounded(.up) + 1, 86_400)
        return request
    }
}
