#if Tracing
import Tracing
import Waybill
import WaybillCore

final class SpanRecord: Sendable {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var status: SpanStatus?
        var error: (any Error)?
        var errorAttributes: SpanAttributes = [:]
        var exchange: ExchangeRecorder?
        var isOpeningExchange = false
        var reportCount = 0
        var endNanoseconds: UInt64?

        var hasEnded: Bool { endNanoseconds != nil }

        /// Returns the state to record; `nil` before the end and while an exchange opens.
        mutating func takeEnded() -> State? {
            guard hasEnded, !isOpeningExchange else { return nil }
            defer { exchange = nil }
            return self
        }
    }

    /// The default limit of OpenTelemetry's SDKs.
    private static let reportLimit = 128

    private let kind: SpanKind
    private let part: OpenPart?
    /// The joined transaction to finish with the span; `nil` if someone else finishes the part.
    private let joined: UseCaseTransaction<Int>?
    private let transactions: TransactionManager
    private let next: (any Tracing.Span)?
    private let startNanoseconds: UInt64
    /// Whether the span belongs to a request that is already recorded as an exchange.
    private let isSent = ExchangeRecorder.isSending
    private let state: Locked<State>

    init(
        _ name: String, _ kind: SpanKind, part: OpenPart?, joined: UseCaseTransaction<Int>?,
        transactions: TransactionManager, next: (any Tracing.Span)?, startNanoseconds: UInt64
    ) {
        (self.kind, self.part, self.joined, self.transactions) = (kind, part, joined, transactions)
        (self.next, self.startNanoseconds) = (next, startNanoseconds)
        state = Locked(State(name: name))
    }

    var isInTransaction: Bool { part != nil }

    var isRecording: Bool { part != nil || next?.isRecording == true }

    var name: String {
        get { state.withLock { $0.name } }
        set {
            state.withLock { if !$0.hasEnded { $0.name = newValue } }
            next?.operationName = newValue
        }
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set {
            state.withLock { if !$0.hasEnded { $0.attributes = newValue } }
            next?.attributes = newValue
            if kind == .server, let part { receive(in: part) }
        }
    }

    func set(_ status: SpanStatus) {
        state.withLock { if !$0.hasEnded { $0.status = status } }
        next?.setStatus(status)
    }

    func note(_ error: any Error, _ attributes: SpanAttributes, at instant: some TracerInstant) {
        state.withLock { if !$0.hasEnded { ($0.error, $0.errorAttributes) = (error, attributes) } }
        next?.recordError(error, attributes: attributes, at: instant)
    }

    func add(_ event: SpanEvent) {
        next?.addEvent(event)
        guard let part = takesReport() else { return }
        part.report(event.name, attributes: Attributes(event.attributes, of: part))
    }

    func add(_ link: SpanLink) {
        next?.addLink(link)
        guard let part = takesReport() else { return }
        var attributes = Attributes(link.attributes, of: part)
        if let transaction = link.context.transaction { attributes["transaction"] = .string(transaction.description) }
        part.report("link", attributes: attributes)
    }

    private func takesReport() -> OpenPart? {
        guard let part else { return nil }
        let hasRoom = state.withLock { state in
            state.reportCount += 1
            return state.reportCount <= Self.reportLimit
        }
        if !hasRoom { part.omitReport() }
        return hasRoom ? part : nil
    }

    // MARK: Exchanges

    /// Returns the header fields once. Later calls belong to redirects, which can lead to any host.
    func send(traceContext: TraceContextPolicy) -> [String: String] {
        guard let part, kind == .client, !isSent else { return [:] }
        let exchange = openExchange { attributes, name in
            ExchangeRequest(client: attributes, name: name).map {
                transactions.sources.openExchange($0, part: part, traceContext: traceContext)
            }
        }
        return exchange?.headers ?? [:]
    }

    private func receive(in part: OpenPart) {
        _ = openExchange { attributes, name in
            guard let request = SpanRequest(attributes, .server, spanName: name), let target = request.target else {
                return nil
            }
            // This does nothing if an outer middleware already records the exchange.
            return transactions.openServerExchange(
                method: request.method, authority: request.authority, target: target,
                headerFields: attributes.headerFields("http.request.header."),
                in: UseCaseTransaction<Int>(part: part))
        }
    }

    /// Calls `open` without the lock, because it calls the app's closures, which may use this span. If the span ends
    /// meanwhile, its end is recorded here.
    private func openExchange(_ open: (SpanAttributes, _ name: String) -> ExchangeRecorder?) -> ExchangeRecorder? {
        let claimed: State? = state.withLock { state in
            guard state.exchange == nil, !state.isOpeningExchange, !state.hasEnded else { return nil }
            state.isOpeningExchange = true
            return state
        }
        guard let claimed else { return nil }
        let exchange = open(claimed.attributes, claimed.name)
        let ended = state.withLock { state in
            (state.exchange, state.isOpeningExchange) = (exchange, false)
            return state.takeEnded()
        }
        if let ended { record(ended) }
        return exchange
    }

    // MARK: The end

    func end(at instant: some TracerInstant) {
        let endNanoseconds = instant.nanosecondsSinceEpoch
        let (isFirst, last): (Bool, State?) = state.withLock { state in
            guard !state.hasEnded else { return (false, nil) }
            state.endNanoseconds = endNanoseconds
            return (true, state.takeEnded())
        }
        if let last { record(last) }
        if isFirst { next?.end(at: instant) }
    }

    private func record(_ last: State) {
        let response = SpanResponse(last.attributes)
        if let exchange = last.exchange {
            end(exchange, last, response)
        } else if let part, kind != .server, !isSent {
            report(last, in: part)
        }
        if let joined { finish(joined, last, response) }
    }

    private func end(_ exchange: ExchangeRecorder, _ last: State, _ response: SpanResponse) {
        if let count = last.attributes.requestByteCount { exchange.expectToSend(byteCount: count) }
        if let count = last.attributes.responseByteCount { exchange.received(byteCount: count) }
        guard let status = response.status else {
            return if let error = last.error { exchange.fail(error) } else { exchange.finish() }
        }
        let fields = last.attributes.headerFields("http.response.header.")
        exchange.responded(ExchangeResponse(status: status, headerFields: fields), isTimed: kind == .client)
        exchange.finish(error: last.error ?? response.error)
    }

    private func finish(_ joined: UseCaseTransaction<Int>, _ last: State, _ response: SpanResponse) {
        if last.error?.isCancellation == true { return joined.finish(.cancelled) }
        guard response.isFailure ?? (last.error != nil || last.status?.code == .error) else { return joined.finish() }
        if let error = last.error ?? response.error { return joined.finish(.failed, error: error) }
        joined.finish(.failed, code: response.status ?? 0)
    }

    /// Uses the span's own instants, because a library can report past times, such as the wait in a queue.
    private func report(_ last: State, in part: OpenPart) {
        var attributes = last.attributes
        attributes.merge(last.errorAttributes)
        if let status = last.status {
            attributes["otel.status_code"] = status.code == .error ? "ERROR" : "OK"
            attributes["otel.status_description"] = status.message
        }
        var kept = Attributes(attributes, of: part)
        let endNanoseconds = max(startNanoseconds, last.endNanoseconds ?? 0)
        kept["duration_us"] = .integer(numericCast((endNanoseconds - startNanoseconds) / 1000))
        part.report(last.name, error: last.error, attributes: kept)
    }
}
#endif
