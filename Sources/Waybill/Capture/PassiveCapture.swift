public import Foundation
import WaybillAtomics
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Records the exchanges of sessions whose code can't change. Experimental, since it depends on Foundation's internals.
///
/// ## Usage
///
/// ```swift
/// transactions.passiveCapture.start()                // URLSession.shared
/// transactions.passiveCapture.include(session)       // one more; on Apple platforms: its configuration, before it is made
/// ```
///
/// A request belongs to the transaction that its header field names. Add that field with
/// ``UseCaseTransaction/headers(for:)``. Otherwise, on Linux, a request belongs to the transaction that is current when
/// its task is resumed. If two transactions send identical requests at once in a session with a cache, they belong to
/// none. Rules don't apply.
///
/// ## Limits on Linux
///
/// It observes the session's own HTTP protocol, and no request is sent twice. If Foundation's internals differ from
/// those that it knows, it captures nothing, and ``TransactionManager/health`` says so.
///
/// - A session with a `URLSessionTaskDelegate` gets the header field, unless the delegate has to provide the body.
///   `URLSession.shared` has no delegate and gets none, because it would forward the field to any redirect target.
/// - While a request starts, the field is in the `httpAdditionalHeaders` of the session's configuration. Don't copy or
///   read them from another thread meanwhile.
/// - A redirect shows only its last response, and a 401 that asks for a password stays in progress.
/// - Most response bodies arrive before the response's head, and are not stored.
///
/// ## Limits on Apple platforms
///
/// It sends requests through a session of Waybill with the default configuration. Use it only in debug builds.
///
/// - Uploads from a file lose their body. Background sessions don't support it.
/// - It sends a body in memory with a stated length of at most 1 MiB as bytes. It sends others in chunks, which some
///   servers reject with 411.
/// - Challenges reach your delegate, so certificate pinning still works.
public final class PassiveCapture: Sendable {
    let sources: SourceRegistry
    private let isOn = Atomic(false)
    private let trouble = Locked<WaybillError?>(nil)

    init(sources: SourceRegistry) { self.sources = sources }

    deinit { stop() }

    /// Whether requests are captured.
    public var isRunning: Bool { isOn.load(ordering: .relaxed) }

    /// Starts to capture requests. Call it at launch; on Linux, before `URLSession.shared` sends a request.
    public func start() {
        guard sources.settings != nil, !isOn.exchange(true) else { return }
        CapturingProtocol.start(self)
    }

    /// Stops capturing new requests. Open exchanges are recorded to their end.
    public func stop() {
        guard isOn.exchange(false) else { return }
        CapturingProtocol.stop()
    }

    #if canImport(FoundationNetworking)
    /// Includes a session. Call it before the session's first request, since it adds a protocol class to its
    /// configuration.
    public func include(_ session: URLSession) { CapturingProtocol.include(session, in: self) }
    #else
    /// Includes the sessions that are created with this configuration from now on.
    public func include(_ configuration: URLSessionConfiguration) { CapturingProtocol.include(configuration) }
    #endif

    var problem: WaybillError? { isRunning ? trouble.withLock { $0 } : nil }

    func give(up problem: WaybillError) {
        trouble.withLock { $0 = problem }
        sources.diagnostics.once(problem.message)
    }

    func openExchange(_ request: URLRequest?, of caller: OpenPart?) -> ExchangeRecorder {
        guard isRunning, let request = request.flatMap(ExchangeRequest.init) else { return ExchangeRecorder() }
        return sources.observeExchange(request, of: caller)
    }
}

extension TransactionManager {
    /// Returns a ``CapturingDelegate`` for a `URLSession`, which forwards all calls to your delegate, if any.
    public func capturing(_ delegate: (any URLSessionDelegate)?) -> CapturingDelegate {
        CapturingDelegate(delegate, sources: sources)
    }
}

extension SourceRegistry {
    /// Opens the exchange of a request that Waybill did not make. It belongs to the transaction that its header field
    /// names, or else to the caller's. A request with an exchange's number of this source is already recorded.
    func observeExchange(_ request: ExchangeRequest, of caller: OpenPart?) -> ExchangeRecorder {
        guard let source, let told = source.settings.options.header.read(request.value(for:)).header else {
            return openExchange(request, part: caller)
        }
        if told.source == source.id, told.exchange != nil { return ExchangeRecorder() }
        return openExchange(request, part: source.announcedParts.part(of: told.transaction))
    }
}

extension URLSession {
    /// Creates a `URLSession` whose exchanges are recorded, with one changed line. No request is sent twice.
    ///
    /// ```swift
    /// let session = URLSession.waybill(transactions, configuration: configuration, delegate: delegate)
    /// ```
    ///
    /// The session's delegate is a ``CapturingDelegate``, which forwards to yours. Its `task(for:)` adds the header
    /// field of the transaction to a request; see <doc:Network>.
    public static func waybill(
        _ transactions: TransactionManager, configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(
            configuration: configuration, delegate: transactions.capturing(delegate), delegateQueue: delegateQueue)
    }
}
