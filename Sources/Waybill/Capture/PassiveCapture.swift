public import Foundation
import WaybillAtomics
import WaybillCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Records the exchanges of sessions whose code cannot change. Experimental: it leans on how Foundation is built.
///
/// ## Usage
///
/// ```swift
/// transactions.passiveCapture.start()                // URLSession.shared
/// transactions.passiveCapture.include(session)       // one more; on Apple platforms: its configuration, before it is made
/// ```
///
/// Nothing is sent twice on Linux: the session's own HTTP protocol does the work, watched. A request belongs to the
/// transaction whose header field it carries, else to the one that is current where its task is resumed, else to none.
/// Rules do not apply. What it does not see is in the guide <doc:CaptureTheNetwork>; where it cannot work it does
/// nothing, and ``TransactionManager/health`` says why.
public final class PassiveCapture: Sendable {
    let sources: SourceRegistry
    private let isOn = Atomic(false)
    private let trouble = Locked<WaybillError?>(nil)

    init(sources: SourceRegistry) { self.sources = sources }

    deinit { stop() }

    /// Whether requests are captured.
    public var isRunning: Bool { isOn.load(ordering: .relaxed) }

    /// Captures the requests of `URLSession.shared` and of what was included, from now on.
    ///
    /// Call it at start-up: on Linux before anything is sent by `URLSession.shared`.
    public func start() {
        guard sources.settings != nil, !isOn.exchange(true) else { return }
        CapturingProtocol.start(self)
    }

    /// Captures no further request. Sessions go on as before; exchanges under way are recorded to their end.
    public func stop() {
        guard isOn.exchange(false) else { return }
        CapturingProtocol.stop()
    }

    #if canImport(FoundationNetworking)
    /// Captures the requests of a session, too, while this is running.
    ///
    /// The session's live configuration gets one more protocol class, for good: call it before the session's first
    /// request.
    public func include(_ session: URLSession) { CapturingProtocol.include(session, in: self) }
    #else
    /// Captures the requests of sessions that are made of this configuration from now on, too, while this is running.
    public func include(_ configuration: URLSessionConfiguration) { CapturingProtocol.include(configuration) }
    #endif

    /// Why nothing is captured although it is running; nil where something is, or it is not running.
    var problem: WaybillError? { isRunning ? trouble.withLock { $0 } : nil }

    /// Says, once, why nothing can be captured.
    func give(up problem: WaybillError) {
        trouble.withLock { $0 = problem }
        sources.diagnostics.once(problem.message)
    }

    /// Opens the exchange of a request that was made without the library.
    func openExchange(_ request: URLRequest?, of caller: OpenPart?) -> ExchangeRecorder {
        guard isRunning, let request = request.flatMap(ExchangeRequest.init) else { return ExchangeRecorder() }
        return sources.observeExchange(request, of: caller)
    }
}

extension TransactionManager {
    /// The delegate to give to a `URLSession` in place of your own, so that its exchanges are recorded; see
    /// ``CapturingDelegate``.
    ///
    /// - Parameter delegate: Yours; nil where the session has none.
    public func capturing(_ delegate: (any URLSessionDelegate)?) -> CapturingDelegate {
        CapturingDelegate(delegate, sources: sources)
    }
}

extension SourceRegistry {
    /// Opens the exchange of a request that was made without the library, and cannot be given a header field any more.
    ///
    /// It belongs to the transaction that its header field names, where that is one of ours; without that field to its
    /// caller's. One that carries the number of an exchange of ours is recorded already.
    func observeExchange(_ request: ExchangeRequest, of caller: OpenPart?) -> ExchangeRecorder {
        guard let source, let told = source.settings.header.read(request.value(for:)).header else {
            return openExchange(request, part: caller)
        }
        if told.source == source.id, told.exchange != nil { return ExchangeRecorder() }
        return openExchange(request, part: source.announcedParts.part(of: told.transaction))
    }
}

extension URLSession {
    /// A session as `URLSession(configuration:delegate:delegateQueue:)` makes it, whose exchanges are recorded: one line
    /// to change, and nothing is sent twice.
    ///
    /// ```swift
    /// let session = URLSession.waybill(transactions, configuration: configuration, delegate: delegate)
    /// ```
    ///
    /// The session's delegate is a ``CapturingDelegate``, which passes everything on to yours; with its `task(for:)` a
    /// request gets the header field of its transaction. What it sees without that, and on which platform, is in the
    /// guide <doc:CaptureTheNetwork>.
    ///
    /// - Parameters:
    ///   - transactions: What records.
    ///   - configuration: The session's. Default: the default one.
    ///   - delegate: Yours; nil, the default, where the session has none.
    ///   - delegateQueue: Where the delegate is called; nil, the default: a serial queue of the session's own.
    public static func waybill(
        _ transactions: TransactionManager, configuration: URLSessionConfiguration = .default,
        delegate: (any URLSessionDelegate)? = nil, delegateQueue: OperationQueue? = nil
    ) -> URLSession {
        URLSession(
            configuration: configuration, delegate: transactions.capturing(delegate), delegateQueue: delegateQueue)
    }
}
