#if Tracing
public import Tracing
public import Waybill
import WaybillCore

/// Records what libraries report through swift-distributed-tracing in the transaction that they report it for.
///
/// - A client's span of an HTTP request or an RPC is an exchange, opened when the request is about to be sent, and the
///   request carries the header field if its host is on the manager's list: once for each span, so that a redirect carries
///   nothing to another host.
/// - A server's span joins the transaction that its request names, makes it current for what is below the span, records the
///   server's side of the exchange, and closes the part by its status: below 500 it succeeded.
/// - Every other span is an event, called by its `operationName`, with its attributes and `duration_us`, when it has ended.
///   So are span events, and links (`link`).
///
/// Outside any transaction nothing is recorded, and a trace that came in is passed on as it came.
///
/// ## Usage
///
/// ```swift
/// InstrumentationSystem.bootstrap(TransactionTracer(transactions))
/// ```
public struct TransactionTracer: Tracer {
    /// What it makes.
    public typealias Span = TransactionSpan

    private let transactions: TransactionManager
    private let next: (any Tracer)?
    private let traceContext: TraceContextPolicy?

    /// Set once: spans of all tracers carry their scope in the same place.
    private static let isCarried: Void = TransactionScope.carry { ServiceContext.current?[ScopeKey.self] }

    /// Makes a tracer.
    ///
    /// - Parameters:
    ///   - transactions: Where to record.
    ///   - next: Another tracer that gets all the spans as well, and injects its own fields; its traces have the IDs of the
    ///     transactions. nil: none. (`InstrumentationSystem` asks only the first tracer of several.)
    ///   - traceContext: Whether requests carry W3C's `traceparent`, and join by it; nil: as the manager's options say.
    ///     Where there is a tracer to forward to, sending it is that one's.
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
            // For the first span alone.
            context[IncomingKey.self] = nil
            let transaction = transactions.join(traceContext: traceContext) { incoming[$0] }
            if let transaction, scope?.contains(transaction.part) != true {
                (scope, joined) = (TransactionScope(transaction), transaction)
            }
            if transaction == nil { context[ForeignKey.self] = Self.traceFields(incoming) }
        }
        // As cheap as can be: most spans of a process may be outside of any.
        guard scope != nil || next != nil else { return TransactionSpan(context: context, record: nil) }
        let instant = instant()
        var forwarded: (any Tracing.Span)?
        if let next {
            follow(scope?.part, in: &context, isTold: incoming?[TraceParent.fieldName] != nil, next)
            let span = start(next, operationName, context, kind, instant, function, fileID, line)
            (forwarded, context) = (span, span.context)
        }
        let record = SpanRecord(
            operationName, kind, part: scope?.part, joined: joined, transactions: transactions, next: forwarded,
            startNanoseconds: instant.nanosecondsSinceEpoch)
        context[ScopeKey.self] = scope
        context[RecordKey.self] = record
        return TransactionSpan(context: context, record: record)
    }

    /// Has the other tracer go on in the transaction's trace, where its context has another one, or none.
    private func follow(_ part: OpenPart?, in context: inout ServiceContext, isTold: Bool, _ next: any Tracer) {
        guard let part, let source = part.source, part.sequence > 0, context[TraceKey.self] != part.trace else {
            return
        }
        context[TraceKey.self] = part.trace
        let parent = part.cause ?? FactID(source: source.id, sequence: part.sequence)
        guard !isTold, let told = TraceParent(of: part.trace, parent: SpanID(parent)) else { return }
        next.extract([TraceParent.fieldName: told.description], into: &context, using: FieldExtractor())
    }

    private func start(
        _ tracer: some Tracer, _ name: String, _ context: ServiceContext, _ kind: SpanKind,
        _ instant: some TracerInstant,
        _ function: String, _ file: String, _ line: UInt
    ) -> any Tracing.Span {
        tracer.startSpan(
            name, context: context, ofKind: kind, at: instant, function: function, file: file, line: line)
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
        let own = transactions.sources.settings?.header.fieldNames ?? []
        var fields: [String: String] = [:]
        for name in own + [TraceParent.fieldName, TraceParent.stateFieldName] {
            guard let value = extractor.extract(key: name, from: carrier) else { continue }
            // What is longer is malformed, and counted as that.
            fields[name] = value.utf8.count > Self.lengthLimit ? "" : value
        }
        if !fields.isEmpty { context[IncomingKey.self] = fields }
    }

    /// Bytes of a field that are carried along.
    private static let lengthLimit = 8_192

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        let traceContext = traceContext ?? transactions.sources.settings?.traceContext ?? .off
        // Whoever sends a request that is recorded already has added what is to be added.
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
            // Whoever does not take part in a trace passes it on as it came (W3C Trace Context, section 4.2).
            for (name, value) in context[ForeignKey.self] ?? Self.traceFields(context[IncomingKey.self] ?? [:]) {
                injector.inject(value, forKey: name, into: &carrier)
            }
        }
    }

    /// The fields of W3C Trace Context among those that came in; none unless they name a trace.
    private static func traceFields(_ fields: [String: String]) -> [String: String] {
        guard let traceParent = fields[TraceParent.fieldName], TraceParent(parsing: traceParent) != nil else {
            return [:]
        }
        return fields.filter {
            [TraceParent.fieldName, TraceParent.stateFieldName].contains($0.key) && !$0.value.isEmpty
        }
    }
}

/// What carries the transaction from a span to what is below it.
private enum ScopeKey: ServiceContextKey {
    typealias Value = TransactionScope
    static var nameOverride: String? { "waybill-scope" }
}

/// The span that a context was made for; its record alone, since the span holds the context.
private enum RecordKey: ServiceContextKey {
    typealias Value = SpanRecord
    static var nameOverride: String? { "waybill-span" }
}

/// The header fields of a request that has come in, until its span is started.
private enum IncomingKey: ServiceContextKey {
    typealias Value = [String: String]
    static var nameOverride: String? { "waybill-incoming" }
}

/// The fields of a trace that is no transaction here: they go along with the requests below.
private enum ForeignKey: ServiceContextKey {
    typealias Value = [String: String]
    static var nameOverride: String? { "waybill-foreign-trace" }
}

/// The trace that the other tracer was told of.
private enum TraceKey: ServiceContextKey {
    typealias Value = GUID
    static var nameOverride: String? { "waybill-trace" }
}

extension ServiceContext {
    /// The transaction that it carries; nil: none.
    var transaction: GUID? { self[ScopeKey.self]?.part.transaction }
}

private struct FieldExtractor: Extractor {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key.lowercased()] }
}
#else
/// A tracer that records in transactions what libraries report; needs the trait `Tracing`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Tracing\"])"
)
public struct TransactionTracer {}
#endif
