public import Foundation
package import WaybillCore
import WaybillStore

/// An HTTP exchange under way: told what happens, it records one network log.
///
/// Every way of capturing uses it, and so can any HTTP stack that the library does not know, on either side. On a
/// client open it before the request is sent (``TransactionManager/openExchange(_:traceContext:)``), so that what never
/// comes back is seen all the same; on a server when the request has come in
/// (``TransactionManager/openServerExchange(method:authority:target:headerFields:in:)``). Sent is the request's body
/// and received the response's, on both sides. End it once; if the last reference goes away before, it ends as canceled
/// with the error `Waybill.Exchange 1 (abandoned)`. Nothing here throws, waits or changes the exchange, and every call
/// may come from any thread.
///
/// ## Usage
///
/// ```swift
/// let exchange = transactions.openExchange(ExchangeRequest(method: "POST", url: url), in: login)
/// for (name, value) in exchange.headers { request.headers[name] = value }
/// do {
///     let response = try await client.send(request)
///     exchange.responded(ExchangeResponse(status: response.status))
///     for try await bytes in response.body { exchange.received(bytes) }
///     exchange.finish()
/// } catch {
///     exchange.fail(error)
/// }
/// ```
public final class ExchangeRecorder: Sendable {
    /// What is known so far.
    private struct Progress {
        var hasEnded = false
        var response: ExchangeResponse?
        var firstByteAt: Int64?
        var sentByteCount: Int64?
        var receivedByteCount: Int64?
        var transfer = Fact.Transfer()

        /// From now on it is one.
        mutating func openWebSocket() {
            if transfer.webSocket == nil { transfer.webSocket = Fact.WebSocket() }
        }
    }

    /// Header fields to add to the request, which tie it to its transaction: those of the manager's
    /// ``WaybillCore/TransactionHeader/Format``, and none unless the host is on the manager's list and the request carries none of
    /// them already. A redirect to another origin must drop them.
    public let headers: [String: String]
    /// The sequence of its `exchange_opened` fact; 0 where nothing is recorded.
    package let sequence: Int64
    private let part: Int64
    /// nil: nothing is recorded.
    private let source: SourceRecorder?
    /// nil: no body is kept.
    private let bodies: BodyTaps?
    /// The request as the app's hook left it; nil: it is not asked about this exchange.
    private let asked: RecordingDraft.ExchangeOpened?
    private let progress = Locked(Progress())

    /// Records that an exchange starts.
    ///
    /// - Parameters:
    ///   - request: As it came.
    ///   - part: The part it belongs to; nil: outside any transaction.
    ///   - bodies: Given the sequence of the exchange, and the request as the app's hook left it, nil where it is not
    ///     asked; gives what keeps its bodies.
    ///   - headers: Given the sequence of the exchange, nil where it is not recorded; gives what is to be added to the
    ///     request.
    init(
        _ request: RecordingDraft.ExchangeOpened, part: OpenPart?, source: SourceRecorder,
        bodies: (_ exchange: Int64, _ asked: RecordingDraft.ExchangeOpened?) -> BodyTaps? = { _, _ in nil },
        headers: (_ exchange: Int64?) -> [String: String] = { _ in [:] }
    ) {
        // A part that was not taken has no number that an exchange could name.
        let isTaken = part.map { $0.sequence > 0 && $0.source === source } ?? true
        self.part = part?.sequence ?? 0
        if part?.isWithheld == true { source.counters.add(to: \.withheld) }
        var kept: RecordingDraft.ExchangeOpened? = isTaken ? request : nil
        let hook = isTaken ? source.hook : nil
        if let hook {
            kept = if case .exchangeOpened(let changed)? = hook.ask(.exchangeOpened(request)) { changed } else { nil }
        }
        sequence =
            kept.map {
                let opened = Fact.ExchangeOpened($0, settings: source.settings)
                return source.record(.exchangeOpened(opened), part: part?.sequence ?? 0).sequence
            } ?? 0
        asked = hook == nil ? nil : kept
        self.source = sequence > 0 ? source : nil
        self.bodies = sequence > 0 ? bodies(sequence, asked) : nil
        self.headers = headers(sequence > 0 ? sequence : nil)
    }

    /// Records nothing.
    init(headers: [String: String] = [:]) {
        (sequence, part, source, bodies, asked, self.headers) = (0, 0, nil, nil, nil, headers)
    }

    /// Nobody is left to end it: what it keeps room for would stay open for ever.
    deinit { end(.canceled, error: RecordedError(domain: "Waybill.Exchange", code: 1, name: "abandoned")) }

    /// Whether the current task sends a request that is recorded already.
    @TaskLocal package static var isSending = false

    /// Runs what sends the request: what is sent inside is this exchange, so that no other way of capturing records one
    /// more of it, or adds a second header field.
    ///
    /// For a client that reports what it sends, e.g. as spans, where it is wrapped by what opens exchanges:
    ///
    /// ```swift
    /// let response = try await exchange.sending { try await client.execute(request) }
    /// ```
    public func sending<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Self.$isSending.withValue(true) { try await body() }
    }

    /// Whether it is recorded: where it is not, its bytes need not be looked at.
    package var isRecorded: Bool { source != nil }

    /// Whether its bodies are kept, as far as they have to be seen for that.
    package var keepsBodies: Bool { bodies != nil }

    /// Bytes of the request's body, as they are sent.
    public func sent(_ bytes: some DataProtocol) {
        keep(bytes, .request)
        sent(byteCount: bytes.count)
    }

    /// More bytes of the request's body were handed over, for a stack that counts them and does not show them. A
    /// negative number counts as 0.
    @inlinable
    public func sent(byteCount: some BinaryInteger) { count(sent: Int64(clamping: byteCount)) }

    /// The length of the request's body, where it is known beforehand, e.g. by its `Content-Length`. `nil` and negative
    /// numbers mean that it is not known.
    @inlinable
    public func sends(byteCount: (some BinaryInteger)?) { expect(toSend: byteCount.map { Int64(clamping: $0) }) }

    /// An answer named another place, and is followed there.
    public func redirected(_ response: ExchangeResponse, to url: URL) {
        update { progress, now in
            guard progress.transfer.redirects.count < Limits.redirects else { return }
            progress.transfer.redirects.append(
                Fact.Redirect(status: response.status, url: url.absoluteString, atMicroseconds: now))
        }
    }

    /// The head of the response is there.
    ///
    /// - Parameters:
    ///   - response: Its status and header fields, and what else is known of it.
    ///   - isTimed: Whether it came just now, so that this counts as the time of the first byte; false where it is only
    ///     known now, and on a server, whose first byte is the client's to see.
    public func responded(_ response: ExchangeResponse, isTimed: Bool = true) {
        bodies?.responded(response)
        update { progress, now in
            progress.response = response
            if isTimed { progress.firstByteAt = progress.firstByteAt ?? now }
        }
    }

    /// Bytes of the response's body as the caller gets them, as they come.
    public func received(_ bytes: some DataProtocol) {
        keep(bytes, .response)
        received(byteCount: bytes.count)
    }

    /// More bytes of the response's body came, for a stack that counts them and does not show them. A negative number
    /// counts as 0.
    @inlinable
    public func received(byteCount: some BinaryInteger) { count(received: Int64(clamping: byteCount)) }

    // Bytes are counted in 64 bits, also where an `Int` has 32.

    @usableFromInline
    func count(sent byteCount: Int64) {
        update { progress, now in
            progress.sentByteCount.count(byteCount)
            progress.transfer.sentAtMicroseconds = now
        }
    }

    @usableFromInline
    func expect(toSend byteCount: Int64?) {
        update { progress, _ in progress.sentByteCount = byteCount.flatMap { $0 < 0 ? nil : $0.bounded } }
    }

    @usableFromInline
    func count(received byteCount: Int64) {
        update { progress, _ in progress.receivedByteCount.count(byteCount) }
    }

    /// A message of a WebSocket is handed over to be sent; the recorder keeps count of messages, bytes and times.
    ///
    /// ```swift
    /// let exchange = transactions.openExchange(ExchangeRequest(url: URL(string: "wss://api.example.com/orders")!))
    /// let socket = try await client.connect(headers: exchange.headers)
    /// exchange.responded(ExchangeResponse(status: 101))
    /// exchange.sent(message: Data(text.utf8), isText: true)
    /// for try await message in socket { exchange.received(message: message.bytes, isText: message.isText) }
    /// exchange.closed(code: socket.closeCode)
    /// ```
    public func sent(message bytes: some DataProtocol, isText: Bool) { passed(bytes, isSent: true, isText: isText) }

    /// A message of a WebSocket has come; as ``sent(message:isText:)``.
    public func received(message bytes: some DataProtocol, isText: Bool) {
        passed(bytes, isSent: false, isText: isText)
    }

    /// A ping was sent over a WebSocket.
    public func pinged() {
        update { progress, _ in
            progress.openWebSocket()
            progress.transfer.webSocket?.pingCount += 1
        }
    }

    /// A WebSocket was closed, by either side, which ends the exchange: as completed with 1000, 1001, 1005 and the codes
    /// that applications have to themselves (3000 to 4999), as failed with every other.
    ///
    /// - Parameters:
    ///   - code: That of the close frame (RFC 6455, section 7.4); 1005 where it had none.
    ///   - reason: What it said in words; nil for nothing.
    public func closed(code: Int, reason: String? = nil) {
        update { progress, _ in
            progress.openWebSocket()
            progress.transfer.webSocket?.closeCode = (0...65_535).contains(code) ? code : nil
            progress.transfer.webSocket?.closeReason = reason.flatMap { $0.isEmpty ? nil : $0 }
        }
        if Fact.WebSocket.isNormal(closeCode: code) { return end(.completed, error: nil) }
        end(.failed, error: RecordedError(domain: "WebSocket", code: Int64(code)))
    }

    /// The handshake of a WebSocket is done.
    func opensWebSocket() { update { progress, _ in progress.openWebSocket() } }

    private func passed(_ bytes: some DataProtocol, isSent: Bool, isText: Bool) {
        var number: Int64 = 0
        update { progress, now in
            progress.openWebSocket()
            progress.transfer.webSocket?.add(
                Fact.WebSocket.Message(
                    atMicroseconds: now, isSent: isSent, isText: isText, byteCount: Int64(bytes.count)))
            let socket = progress.transfer.webSocket
            number = (isSent ? socket?.sentMessageCount : socket?.receivedMessageCount) ?? 0
            if isSent {
                progress.sentByteCount.count(Int64(bytes.count))
            } else {
                progress.receivedByteCount.count(Int64(bytes.count))
            }
        }
        guard number > 0, let bodies, source?.isOn == true else { return }
        bodies.append(message: bytes, isSent ? .request : .response, isText: isText, number: number)
    }

    /// A rule has answered it, failed it or slowed it down.
    package func interfered(by rule: String, isMocked: Bool) {
        update { progress, _ in (progress.transfer.rule, progress.transfer.isMocked) = (rule, isMocked) }
    }

    /// What the platform measured of it.
    package func measured(
        phases: Fact.Phases, isConnectionReused: Bool?, httpVersion: String?, receivedWireByteCount: Int64?
    ) {
        update { progress, _ in
            progress.transfer.phases = phases
            progress.transfer.isConnectionReused = isConnectionReused
            progress.transfer.httpVersion = httpVersion
            progress.transfer.receivedWireByteCount = receivedWireByteCount.flatMap { $0 < 0 ? nil : $0.bounded }
        }
    }

    /// All of the response is there, with any status. Only the first call that ends an exchange counts.
    ///
    /// - Parameter error: What the response was made of, on a server; nil: of no error.
    public func finish(error: (any Error)? = nil) { end(.completed, error: error) }

    /// There will be no whole response; `URLError.cancelled`, `CancellationError` and what says so of itself
    /// (``WaybillCore/TransactionError/recordedAsCanceled``) count as canceled.
    public func fail(_ error: any Error) {
        end(error.isCancellation ? .canceled : .failed, error: error)
    }

    /// The caller no longer wants it.
    public func cancel() { end(.canceled, error: nil) }

    private func keep(_ bytes: some DataProtocol, _ direction: ExchangeBody.Direction) {
        guard let bodies, source?.isOn == true else { return }
        bodies.append(bytes, direction)
    }

    private func update(_ body: (inout Progress, _ now: Int64) -> Void) {
        guard let source else { return }
        let now = source.writer.recorder.elapsedMicroseconds
        progress.withLock { if !$0.hasEnded { body(&$0, now) } }
    }

    private func end(_ state: ExchangeState, error: (any Error)?) {
        guard let source else { return }
        let last: Progress? = progress.withLock { progress in
            guard !progress.hasEnded else { return nil }
            defer { progress.hasEnded = true }
            return progress
        }
        guard var last else { return }
        bodies?.finish(isWhole: state == .completed)
        if let version = last.response?.httpVersion { last.transfer.httpVersion = version }
        if last.transfer.receivedWireByteCount == nil {
            last.transfer.receivedWireByteCount = last.response?.encodedByteCount
        }
        var closed = Fact.ExchangeClosed(
            exchange: sequence, state: state,
            status: last.response.flatMap { (0...999).contains($0.status) ? $0.status : nil },
            firstByteAtMicroseconds: last.firstByteAt,
            sentByteCount: last.sentByteCount, receivedByteCount: last.receivedByteCount,
            headerFields: last.response?.headerFields ?? [], error: source.recorded(error), transfer: last.transfer)
        if let asked, let hook = source.hook, !closed.changed(by: hook, request: asked) {
            return source.forgoClosing()
        }
        closed.headerFields = source.settings.network.headers.applied(to: closed.headerFields)
        _ = source.record(.exchangeClosed(closed.redacted(by: source.settings.redactor)), part: part)
    }
}

extension Int64? {
    /// Adds bytes that a stack counted; it may count wrongly, and a collector takes no negative number and none beyond
    /// 2^53.
    fileprivate mutating func count(_ byteCount: Int64) { self = (self ?? 0).adding(Swift.max(0, byteCount)) }
}

extension Fact.ExchangeClosed {
    /// Takes over what the app makes of it; false: it is withheld.
    fileprivate mutating func changed(by hook: RecordingHook, request: RecordingDraft.ExchangeOpened) -> Bool {
        let draft = RecordingDraft.ExchangeClosed(
            request: request, state: state, status: status, headerFields: headerFields, error: error,
            redirects: transfer.redirects.map(RecordingDraft.Redirect.init),
            closeReason: transfer.webSocket?.closeReason)
        guard case .exchangeClosed(let kept)? = hook.ask(.exchangeClosed(draft)) else { return false }
        (headerFields, error) = (kept.headerFields, kept.error)
        transfer.redirects = kept.redirects.map(\.changed)
        transfer.webSocket?.closeReason = kept.closeReason
        return true
    }
}

extension ExchangeResponse {
    /// The body's length before it was decoded: `Content-Length` where there is a `Content-Encoding`, since those bytes
    /// are not the caller's.
    fileprivate var encodedByteCount: Int64? {
        guard value(for: "Content-Encoding") != nil, let length = value(for: "Content-Length").flatMap({ Int64($0) }),
            (0...Limits.largestInteger).contains(length)
        else {
            return nil
        }
        return length
    }
}
