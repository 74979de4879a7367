import WaybillCore

/// What the header fields of an incoming request say of its transaction. None of it is trusted.
struct IncomingTransaction {
    var transaction: GUID
    /// nil: not told.
    var useCase: Int?
    /// The exchange that carries it; nil: not told.
    var cause: Fact.ID?
    /// nil: not told, or not asked for.
    var traceParent: TraceParent?

    init(_ header: TransactionHeader, traceParent: TraceParent? = nil) {
        (transaction, useCase, cause) = (header.transaction, header.useCase, header.cause)
        self.traceParent = traceParent
    }

    /// By W3C Trace Context alone; nil where the trace's ID cannot be a transaction's.
    init?(_ traceParent: TraceParent, state: String?) {
        guard traceParent.trace.isVersion7 else { return nil }
        transaction = traceParent.trace
        useCase = state.flatMap(TraceState.useCase)
        self.traceParent = traceParent
    }

    /// What is recorded of the trace: nothing where it says no more than the cause.
    var link: Attributes {
        guard let traceParent, cause.map({ SpanID($0) }) != traceParent.parent else { return [:] }
        return [TraceParent.fieldName: traceParent.description]
    }

    /// Whether a part was joined for the same request.
    func isJoined(by part: OpenPart, useCase: Int) -> Bool {
        part.isJoined && part.transaction == transaction && part.cause == cause && part.traceParent == traceParent
            && part.useCase == useCase
    }
}
