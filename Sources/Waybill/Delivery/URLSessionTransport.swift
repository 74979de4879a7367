public import Foundation
public import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends sets to a collector over HTTP.
///
/// Only a 200 with a receipt that matches the set settles facts; <doc:Deliver> has the full table. For
/// sets of version 0.0.1, any 2xx does. The transport follows no redirects, reads at most 64 KiB plus 2,500 bytes per
/// fact of a response, and is not recorded. It compresses bodies with gzip (RFC 1952), until a collector answers 415.
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
    let uploads: BackgroundUploads?
    private let compresses: Locked<Bool>

    /// Creates a transport with its own session.
    ///
    /// - Parameters:
    ///   - collector: The URL that `waybill serve` prints. Sets go to `v1/sets` below it, sets of version 0.0.1 to the
    ///     URL itself.
    ///   - token: The bearer token for `Authorization` (RFC 6750); `nil` sends none.
    ///   - format: The version of the format. Default: version 1.
    ///   - timeout: The maximum time for a request and its response. Default: 30 seconds.
    ///   - configuration: The session's configuration, such as for a proxy. A background configuration is replaced.
    ///   - clock: The wall clock for a `Retry-After` date in a response without `Date`. Default: the system's.
    ///   - middleware: Changes a request before it is sent, such as to sign it. The body in `httpBody` may be
    ///     compressed.
    public init(
        collector: URL, token: String? = nil, format: SetFormat = .v1, timeout: Duration = .seconds(30),
        configuration: URLSessionConfiguration = .ephemeral, clock: (any TransactionClock)? = nil,
        middleware: (@Sendable (URLRequest) async throws -> URLRequest)? = nil
    ) {
        self.collector = collector
        self.token = token
        wire = format.wire
        // No server of version 0.0.1 is known to read compressed bodies.
        compresses = Locked(wire.hasReceipts)
        self.timeout = timeout
        self.clock = clock ?? SystemClock()
        self.middleware = middleware
        http = HTTPSession(configuration: configuration)
        uploads = nil
    }

    /// Creates a transport whose sets the system sends from files, also while the app is suspended or after it ended.
    ///
    /// On Apple platforms it uses a background session, which follows redirects and which only one process may have.
    /// Create it at launch. An upload continues for up to two days, and the next flush or launch settles it. On other
    /// platforms an ordinary session sends the files, and the next launch sends unanswered sets again.
    ///
    /// An app extension must name an app group in `appGroup`: otherwise, the system refuses each upload with the error
    /// `URLError.backgroundSessionRequiresSharedContainer`. Give app and extension different identifiers.
    ///
    /// If the system wakes the app for a response, this line settles it:
    ///
    /// ```swift
    /// .backgroundTask(.urlSession("com.example.deliver")) { await transactions.flush() }
    /// ```
    ///
    /// `folder` defaults to one in the group's or the app's container, and `timeout` is the time that a flush waits for a
    /// response.
    /// The other parameters are those of ``init(collector:token:format:timeout:configuration:clock:middleware:)``.
    public init(
        background identifier: String, collector: URL, token: String? = nil, folder: URL? = nil,
        appGroup: String? = nil, timeout: Duration = .seconds(30), clock: (any TransactionClock)? = nil,
        middleware: (@Sendable (URLRequest) async throws -> URLRequest)? = nil
    ) {
        self.collector = collector
        self.token = token
        wire = SetFormat.v1.wire
        compresses = Locked(true)
        self.timeout = timeout
        self.clock = clock ?? SystemClock()
        self.middleware = middleware
        http = HTTPSession(configuration: .ephemeral)
        uploads = BackgroundUploads(identifier: identifier, folder: folder, appGroup: appGroup)
    }

    /// Sends a set and waits for the receipt.
    ///
    /// - Throws: `CancellationError`, any error of the middleware, otherwise ``Delivery/Failure``. Its error is
    ///   `.setting` for an invalid URL or token, `.refused` for most 4xx, and `.transport` for the rest.
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
        return try wire.hasReceipts
            ? answer.receipt(for: set, now: clock.date)
            : answer.acceptance(of: set, but: message.leftOut, now: clock.date)
    }

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
        // swift-corelibs-foundation sends no length for a body in the request itself.
        let body = request.httpBody ?? Data()
        request.httpBody = nil
        do {
            let answer =
                if let uploads {
                    try await uploads.upload(set, as: body, by: request, deadline: timeout, limit: limit)
                } else {
                    try await http.upload(.data(body), by: request, deadline: timeout, limit: limit)
                        as (Data, URLResponse)?
                }
            guard let (data, response) = answer else { throw SetUnderWay() }
            return CollectorResponse(data: data, response: response, place: place, isCut: data.count > limit)
        } catch let error as URLError {
            try Task.checkCancellation()
            throw Delivery.Failure(
                WaybillError(
                    .transport, "The collector at \(place) \(Self.sentence(for: error)); the facts stay pending.",
                    cause: "URLError \(error.code.rawValue)"))
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
        // swift-corelibs-foundation has no code for TLS errors, so check libcurl's message.
        case .unknown where ["SSL", "certificate"].contains(where: error.localizedDescription.contains): insecure
        case .notConnectedToInternet: "could not be reached: there is no network"
        #if canImport(Darwin)
        case .appTransportSecurityRequiresSecureConnection:
            "could not be reached: App Transport Security allows https alone; see the guide On Apple platforms"
        #endif
        default: "could not be reached"
        }
    }

    /// The host and port for messages, since the rest of a URL may contain secrets.
    private var place: String {
        [collector.host(), collector.port?.description].compactMap(\.self).joined(separator: ":")
    }

    private func request(of mediaType: String) throws(Delivery.Failure) -> URLRequest {
        guard ["http", "https"].contains(collector.scheme?.lowercased()), collector.host()?.isEmpty == false else {
            throw Delivery.Failure(
                WaybillError(
                    .setting, "The collector's address is no HTTP URL; give it as http://HOST:PORT or https://HOST."))
        }
        var request = URLRequest(url: wire.address(at: collector))
        request.httpMethod = "POST"
        request.setValue(mediaType, forHTTPHeaderField: "Content-Type")
        // Another server could answer 406.
        if wire.hasReceipts { request.setValue(Receipt.mediaType, forHTTPHeaderField: "Accept") }
        if let token {
            // A line feed from the end of a file would end the field and begin another.
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw Delivery.Failure(
                    WaybillError(
                        .setting,
                        "The collector's token is empty or holds blanks, line ends or other than ASCII; trim it."),
                    remedy: .waitForNewDelivery)
            }
            request.setValue(wire.authorization(token), forHTTPHeaderField: "Authorization")
        }
        // The exchange has its own deadline; this keeps URLSession from timing out earlier. Linux ignores fractions.
        request.timeoutInterval = min(max(timeout.timeInterval, 1).rounded(.up) + 1, 86_400)
        return request
    }
}
