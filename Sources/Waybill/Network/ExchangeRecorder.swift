public import Foundation
import WaybillCore
import WaybillStore

/// Records one HTTP exchange, on a client or a server.
///
/// Use it for HTTP stacks that Waybill does not capture. On a client, open it before you send the request
/// (``TransactionManager/openExchange(_:in:traceContext:)``). On a server, open it when the request arrives
/// (``TransactionManager/openServerExchange(method:authority:target:headerFields:in:)``). On both sides, "sent" means
/// the request's body and "received" the response's. End it once: an exchange that is released before that is cancelled
/// with the error `Waybill.Exchange 1 (abandoned)`. Its methods never throw or wait, and are thread-safe.
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
    /// The header fields to add to the request; empty if the host is not a correlated host, or if the request has one
    /// of them. Remove them when a redirect leads to another origin.
    public let headers: [String: String]
    /// The sequence of its `exchange_opened` fact; 0 if nothing is recorded.
    package let sequence: Int64
    private let part: Int64
    private let source: SourceRecorder?
    private let bodies: BodyTaps?
    private let asked: RecordingDraft.ExchangeOpened?
    /// `nil` after the end.
    private let closing: Locked<Fact.ExchangeClosed?>
    #if canImport(Darwin)
    private weak let openPart: OpenPart?
    #endif

    init(
        _ request: RecordingDraft.ExchangeOpened, part: OpenPart?, source: SourceRecorder,
        bodies keeper: BodyKeeper? = nil, headers: (_ exchange: Int64?) -> [String: String] = { _ in [:] }
    ) {
        // A part that was not recorded has no sequence that an exchange could refer to.
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
                let sequence = source.record(.exchangeOpened(opened), part: part?.sequence ?? 0).sequence
                #if canImport(Darwin)
                SystemLog.began(opened, sequence, in: source)
                #endif
                return sequence
            } ?? 0
        #if canImport(Darwin)
        openPart = part
        #endif
        asked = hook == nil ? nil : kept
        self.source = sequence > 0 ? source : nil
        closing = Locked(sequence > 0 ? Fact.ExchangeClosed(exchange: sequence, state: .cancelled) : nil)
        if let keeper, sequence > 0 {
            let place = BodyPlace(part: self.part, exchange: sequence, asked: asked)
            bodies = BodyTaps(of: request.headerFields, at: place, keeper)
        } else {
            bodies = nil
        }
        self.headers = headers(sequence > 0 ? sequence : nil)
    }

    init(headers: [String: String] = [:]) {
        (sequence, part, source, bodies, asked, self.headers) = (0, 0, nil, nil, nil, headers)
        closing = Locked(nil)
        #if canImport(Darwin)
        openPart = nil
        #endif
    }

    /// Ends an abandoned exchange, which would otherwise stay open forever.
    deinit { end(.cancelled, error: RecordedError(domain: "Waybill.Exchange", code: 1, name: "abandoned")) }

    @TaskLocal package static var isSending = false

    /// Runs a closure that sends the request, and keeps other capture methods from recording it again.
    ///
    /// ```swift
    /// let response = try await exchange.sending { try await client.execute(request) }
    /// ```
    public func sending<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Self.$isSending.withValue(true) { try await body() }
    }

    package var isRecorded: Bool { source != nil }

    package var keepsBodies: Bool { bodies != nil }

    /// Records bytes of the request's body as they are sent.
    public func sent(_ bytes: some DataProtocol) {
        keep(bytes, .request)
        sent(byteCount: bytes.count)
    }

    /// Records a number of sent bytes, for a stack that only counts them. A negative number counts as 0.
    @inlinable
    public func sent(byteCount: some BinaryInteger) { count(sent: Int64(clamping: byteCount)) }

    /// Records the length of the request's body in advance. `nil` and negative numbers mean that it is unknown.
    @inlinable
    public func expectToSend(byteCount: (some BinaryInteger)?) { expect(toSend: byteCount.map { Int64(clamping: $0) }) }

    /// Records a redirect that is followed.
    public func redirected(_ response: ExchangeResponse, to url: URL) {
        update { closed, now in
            guard closed.transfer.redirects.count < Limits.redirects else { return }
            closed.transfer.redirects.append(
                Fact.Redirect(status: response.status, url: url.absoluteString, atMicroseconds: now))
        }
    }

    /// Records the response's head. Set `isTimed` to false on a server, or if the first byte arrived earlier.
    public func responded(_ response: ExchangeResponse, isTimed: Bool = true) {
        bodies?.responded(response)
        update { closed, now in
            closed.status = (0...999).contains(response.status) ? response.status : nil
            closed.headerFields = response.headerFields
            closed.transfer.httpVersion = response.httpVersion ?? closed.transfer.httpVersion
            if isTimed { closed.firstByteAtMicroseconds = closed.firstByteAtMicroseconds ?? now }
        }
    }

    /// Records bytes of the response's body as the caller receives them.
    public func received(_ bytes: some DataProtocol) {
        keep(bytes, .response)
        received(byteCount: bytes.count)
    }

    /// Records a number of received bytes, for a stack that only counts them. A negative number counts as 0.
    @inlinable
    public func received(byteCount: some BinaryInteger) { count(received: Int64(clamping: byteCount)) }

    // Bytes are counted in 64 bits because an `Int` may have only 32.

    @usableFromInline
    func count(sent byteCount: Int64) {
        update { closed, now in
            closed.sentByteCount.count(byteCount)
            closed.transfer.sentAtMicroseconds = now
        }
    }

    @usableFromInline
    func expect(toSend byteCount: Int64?) {
        update { closed, _ in closed.sentByteCount = byteCount.flatMap { $0 < 0 ? nil : $0.bounded } }
    }

    @usableFromInline
    func count(received byteCount: Int64) {
        update { closed, _ in closed.receivedByteCount.count(byteCount) }
    }

    /// Records that a WebSocket message is about to be sent, with its size and time.
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

    /// Records a received WebSocket message, as ``sent(message:isText:)`` does.
    public func received(message bytes: some DataProtocol, isText: Bool) {
        passed(bytes, isSent: false, isText: isText)
    }

    /// Records that a ping was sent over a WebSocket.
    public func pinged() {
        update { closed, _ in
            closed.openWebSocket()
            closed.transfer.webSocket?.pingCount += 1
        }
    }

    /// Records that either side closed the WebSocket, and ends the exchange. Without a code, pass 1005.
    ///
    /// It completes for the codes 1000, 1001, 1005 and 3000 to 4999 (RFC 6455, section 7.4), and fails for others.
    public func closed(code: Int, reason: String? = nil) {
        update { closed, _ in
            closed.openWebSocket()
            closed.transfer.webSocket?.closeCode = (0...65_535).contains(code) ? code : nil
            closed.transfer.webSocket?.closeReason = reason.flatMap { $0.isEmpty ? nil : $0 }
        }
        if Fact.WebSocket.isNormal(closeCode: code) { return end(.completed, error: nil) }
        end(.failed, error: RecordedError(domain: "WebSocket", code: Int64(code)))
    }

    func opensWebSocket() { update { closed, _ in closed.openWebSocket() } }

    private func passed(_ bytes: some DataProtocol, isSent: Bool, isText: Bool) {
        var number: Int64 = 0
        update { closed, now in
            closed.openWebSocket()
            closed.transfer.webSocket?.add(
                Fact.WebSocket.Message(
                    atMicroseconds: now, isSent: isSent, isText: isText, byteCount: Int64(bytes.count)))
            let socket = closed.transfer.webSocket
            number = (isSent ? socket?.sentMessageCount : socket?.receivedMessageCount) ?? 0
            if isSent {
                closed.sentByteCount.count(Int64(bytes.count))
            } else {
                closed.receivedByteCount.count(Int64(bytes.count))
            }
        }
        guard number > 0, let bodies, source?.isOn == true else { return }
        bodies.append(message: bytes, isSent ? .request : .response, isText: isText, number: number)
    }

    package func interfered(by rule: String, isMocked: Bool) {
        update { closed, _ in (closed.transfer.rule, closed.transfer.isMocked) = (rule, isMocked) }
    }

    func measured(_ measured: TransferMeasurements) {
        update { closed, _ in
            closed.transfer.phases = measured.phases
            closed.transfer.isConnectionReused = measured.isConnectionReused
            closed.transfer.httpVersion = closed.transfer.httpVersion ?? measured.httpVersion
            closed.transfer.receivedWireByteCount =
                measured.receivedWireByteCount.flatMap { $0 < 0 ? nil : $0.bounded }
        }
    }

    /// Records the body's length and the time of its first byte, unless they were recorded as they arrived.
    package func measured(receivedByteCount: Int64?, firstByteAgeMicroseconds: Int64?) {
        update { closed, now in
            if closed.receivedByteCount == nil, let receivedByteCount {
                closed.receivedByteCount.count(receivedByteCount)
            }
            if closed.firstByteAtMicroseconds == nil, let age = firstByteAgeMicroseconds {
                closed.firstByteAtMicroseconds = now - min(max(0, age), max(0, now))
            }
        }
    }

    /// Records that the whole response has arrived, with any status. Only the first end of an exchange counts.
    public func finish(error: (any Error)? = nil) { end(.completed, error: error) }

    /// Records that the exchange failed. `URLError.cancelled`, `CancellationError` and errors with
    /// ``WaybillCore/RecordableError/recordedAsCancelled`` count as cancelled.
    public func fail(_ error: any Error) {
        end(error.isCancellation ? .cancelled : .failed, error: error)
    }

    /// Records that the caller cancelled the exchange.
    public func cancel() { end(.cancelled, error: nil) }

    /// Records what the system did with the request as an event of its transaction.
    func mark(_ name: String) {
        #if canImport(Darwin)
        openPart?.report(name, attributes: ["exchange": sequence])
        #endif
    }

    private func keep(_ bytes: some DataProtocol, _ direction: ExchangeBody.Direction) {
        guard let bodies, source?.isOn == true else { return }
        bodies.append(bytes, direction)
    }

    private func update(_ body: (inout Fact.ExchangeClosed, _ now: Int64) -> Void) {
        guard let source else { return }
        let now = source.writer.recorder.elapsedMicroseconds
        closing.withLock { closing in
            guard var closed = closing.take() else { return }
            body(&closed, now)
            closing = closed
        }
    }

    private func end(_ state: ExchangeState, error: (any Error)?) {
        guard let source, var closed = closing.withLock({ $0.take() }) else { return }
        bodies?.finish(isWhole: state == .completed)
        (closed.state, closed.error) = (state, source.recorded(error))
        if closed.transfer.receivedWireByteCount == nil {
            closed.transfer.receivedWireByteCount = closed.headerFields.encodedByteCount
        }
        if let asked, let hook = source.hook, !closed.changed(by: hook, request: asked) {
            return source.forgoClosing()
        }
        #if canImport(Darwin)
        SystemLog.ended(closed, in: source)
        #endif
        closed.headerFields = source.settings.options.network.headers.applied(to: closed.headerFields)
        closed.redact(by: source.settings.redactor)
        _ = source.record(.exchangeClosed(closed), part: part)
    }
}

extension Int64? {
    /// Adds bytes within the range that a collector accepts: not negative and at most 2^53.
    fileprivate mutating func count(_ byteCount: Int64) { self = (self ?? 0).adding(Swift.max(0, byteCount)) }
}

extension Fact.ExchangeClosed {
    fileprivate mutating func openWebSocket() {
        if transfer.webSocket == nil { transfer.webSocket = Fact.WebSocket() }
    }

    fileprivate mutating func changed(by hook: RecordingHook, request: RecordingDraft.ExchangeOpened) -> Bool {
        let draft = RecordingDraft.ExchangeClosed(self, of: request)
        guard case .exchangeClosed(let kept)? = hook.ask(.exchangeClosed(draft)) else { return false }
        kept.apply(to: &self)
        return true
    }
}

extension [HeaderField] {
    fileprivate var encodedByteCount: Int64? {
        guard value(for: "Content-Encoding") != nil, let length = value(for: "Content-Length").flatMap({ Int64($0) }),
            (0...Limits.largestInteger).contains(length)
        else {
            return nil
        }
        return length
    }
}

struct TransferMeasurements: Sendable {
    var phases: Fact.Phases
    var isConnectionReused: Bool?
    var httpVersion: String?
    var receivedWireByteCount: Int64?
    /// The length of the body after decoding.
    var receivedByteCount: Int64?
    var firstByteAgeMicroseconds: Int64?
}
