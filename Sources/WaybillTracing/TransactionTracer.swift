#if Tracing
public import Tracing
public import Waybill
import WaybillCore

/// A tracer that records the spans of libraries in the current transaction.
///
/// - A client span of an HTTP request or an RPC becomes an exchange. The request carries the header field if its host
///   is on the manager's list. Redirects do not carry it, because they can lead to any host.
/// - A server span joins the transaction that its request names, makes it current, and records the server's side of the
///   exchange. It closes the part by the status: below 500 it succeeded.
/// - Any other span becomes an event when it ends, with the `operationName`, the attributes and `duration_us`. Span
///   events and links (`link`) become events, too.
///
/// Outside any transaction, the tracer records nothing and propagates a received trace unchanged.
///
/// ## Usage
///
/// ```swift
/// InstrumentationSystem.bootstrap(TransactionTracer(transactions))
/// ```
public struct TransactionTracer: Tracer {
    /// The type of the spans.
    public typealias Span = TransactionSpan

    private let transactions: TransactionManager
    private let next: (any Tracer)?
    private let traceContext: TraceContextPolicy?

    /// Registered once, because the spans of all tracers use the same context key.
    private static let isCarried: Void = TransactionScope.carry { ServiceContext.current?[ScopeKey.self] }

    /// Creates a tracer.
    ///
    /// - Parameters:
    ///   - transactions: The manager that records.
    ///   - next: A tracer that receives all spans, too, and injects its own fields. Its traces have the transactions'
    ///     IDs. `InstrumentationSystem` uses only the first of several tracers, so chain them here.
    ///   - traceContext: Whether requests carry `traceparent` and join by it; `nil` for the manager's policy. With a
    ///     `next` tracer, only that one sends it.
    public init(
        _ transactions: TransactionManager, forwardingTo next: (any Tracer)? = nil,
        traceContext: TraceContextPolicy? = nil
    ) {
        (self.transactions, self.next, self.traceContext) = (transactions, next, traceContext)
        Self.isCarried
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> TransactionSpan {
        var context = context()
        var scope = TransactionScope.current(carrying: context[ScopeKey.self])
        var joined: UseCaseTransaction<Int>?
        let incoming = context[IncomingKey.self]
        if kind == .server || kind == .consumer, let incoming {
            context[IncomingKey.self] = nil
            let transaction = transactions.join(traceContext: traceContext) { incoming[$0] }
            if let transaction, scope?.contains(transaction.part) != true {
                (scope, joined) = (TransactionScope(transaction), transaction)
            }
            if transaction == nil { context[ForeignKey.self] = Self.traceFields(incoming) }
        }
        // The early exit is cheap, because most spans of a process may be outside any transaction.
        guard scope != nil || next != nil else { return TransactionSpan(context: context, record: nil) }
        let instant = instant()
        if let next { follow(scope?.part, in: &context, isTold: incoming?[TraceParent.fieldName] != nil, next) }
        let forwarded = next?.startSpan(
            operationName, context: context, ofKind: kind, at: instant, function: function, file: fileID, line: line)
        if let forwarded { context = forwarded.context }
        let record = SpanRecord(
            operationName, kind, part: scope?.part, joined: joined, transactions: transactions, next: forwarded,
            startNanoseconds: instant.nanosecondsSinceEpoch)
        context[ScopeKey.self] = scope
        context[RecordKey.self] = record
        return TransactionSpan(context: context, record: record)
    }

    /// Moves the other tracer to the transaction's trace, unless its context already has that trace.
    private func follow(_ part: OpenPart?, in context: inout ServiceContext, isTold: Bool, _ next: any Tracer) {
        guard let part, let source = part.source, part.sequence > 0, context[TraceKey.self] != part.trace else {
            return
        }
        context[TraceKey.self] = part.trace
        let parent = part.cause ?? FactID(source: source.id, sequence: part.sequence)
        guard !isTold, let told = TraceParent(of: part.trace, parent: SpanID(parent)) else { return }
        next.extract([TraceParent.fieldName: told.description], into: &context, using: FieldExtractor())
    }

    public func activeSpan(identifiedBy context: ServiceContext) -> TransactionSpan? {
        context[RecordKey.self].map { TransactionSpan(context: context, record: $0) }
    }

    @available(*, deprecated)
    public func forceFlush() { next?.forceFlush() }

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        next?.extract(carrier, into: &context, using: extractor)
        let own = transactions.sources.settings?.options.header.fieldNames ?? []
        var fields: [String: String] = [:]
        for name in own + [TraceParent.fieldName, TraceParent.stateFieldName] {
            guard let value = extractor.extract(key: name, from: carrier) else { continue }
            fields[name] = value.utf8.count > Self.lengthLimit ? "" : value
        }
        if !fields.isEmpty { context[IncomingKey.self] = fields }
    }

    private static let lengthLimit = 8_192

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        let traceContext = traceContext ?? transactions.sources.settings?.options.server.traceContext ?? .off
        // A recorder that is sending the request has already added the fields.
        if ExchangeRecorder.isSending {
            if traceContext == .off { next?.inject(context, into: &carrier, using: injector) }
            return
        }
        next?.inject(context, into: &carrier, using: injector)
        if let record = context[RecordKey.self], record.isInTransaction {
            for (name, value) in record.send(traceContext: next == nil ? traceContext : .off) {
                injector.inject(value, forKey: name, into: &carrier)
            }
        } else if next == nil {
            // Non-participants propagate a trace unchanged (W3C Trace Context, section 4.2).
            for (name, value) in context[ForeignKey.self] ?? Self.traceFields(context[IncomingKey.self] ?? [:]) {
                injector.inject(value, forKey: name, into: &carrier)
            }
        }
    }

    private static func traceFields(_ fields: [String: String]) -> [String: String] {
        guard let traceParent = fields[TraceParent.fieldName], TraceParent(parsing: traceParent) != nil else {
            return [:]
        }
        return fields.filter {
            [TraceParent.fieldName, TraceParent.stateFieldName].contains($0.key) && !$0.value.isEmpty
        }
    }
}

private enum ScopeKey: ServiceContextKey {
    typealias Value = TransactionScope
    static var nameOverride: String? { "waybill-scope" }
}

/// Holds only the record, because a span holds its context.
private enum RecordKey: ServiceContextKey {
    typealias Value = SpanRecord
    static var nameOverride: String? { "waybill-span" }
}

private enum IncomingKey: ServiceContextKey {
    typealias Value = [String: String]
    static var nameOverride: String? { "waybill-incoming" }
}

/// The fields of a foreign trace, which child requests propagate.
private enum ForeignKey: ServiceContextKey {
    typealias Value = [String: String]
    static var nameOverride: String? { "waybill-foreign-trace" }
}

private enum TraceKey: ServiceContextKey {
    typealias Value = GUID
    static var nameOverride: String? { "waybill-trace" }
}

extension ServiceContext {
    var transaction: GUID? { self[ScopeKey.self]?.part.transaction }
}

private struct FieldExtractor: Extractor {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key.lowercased()] }
}
#else
/// A tracer that records the spans of libraries in transactions. It requires the trait `Tracing`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Tracing\"])"
)
public struct TransactionTracer {}
#endif
