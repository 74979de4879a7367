public import Foundation
public import WaybillCore
import WaybillStore

extension TransactionManager {
    /// Begins a transaction, for the lifetime of a screen or of any work without an enclosing closure.
    ///
    /// `parent` defaults to the current transaction. Keep the handle: releasing it unfinished records `abandoned`.
    public func begin<U: UseCase>(
        _ useCase: U.Type, attributes: Attributes = [:], parent: TransactionParent? = .current
    ) -> UseCaseTransaction<U> {
        let source = sources.source
        source?.note(U.self)
        return UseCaseTransaction(
            part: begin(
                Fact.Opened(U.self, GUID(), attributes), type: ObjectIdentifier(U.self), below: parent, in: source))
    }

    /// Begins a transaction of a use case that has a code but no Swift type. Its timeout is one day.
    public func begin(
        useCase code: Int, attributes: Attributes = [:], parent: TransactionParent? = .current
    ) -> UseCaseTransaction<Int> {
        let opened = Fact.Opened(transaction: GUID(), useCase: code, attributes: attributes)
        return UseCaseTransaction(part: begin(opened, below: parent, in: sources.source))
    }

    /// Begins a transaction, makes it current while a closure runs, and finishes it.
    ///
    /// The outcome is succeeded if the closure returns; cancelled for `CancellationError` or `URLError.cancelled`, also
    /// as an underlying error; failed for other errors. A `finish` inside wins. Nested transactions have independent
    /// outcomes.
    @discardableResult
    public func perform<U: UseCase, Value, Failure: Error>(
        _ useCase: U.Type, attributes: Attributes = [:], parent: TransactionParent? = .current,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (UseCaseTransaction<U>) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await begin(useCase, attributes: attributes, parent: parent).perform(isolation: isolation, body)
    }

    /// Begins a transaction, makes it current while a synchronous closure runs, and finishes it.
    @discardableResult
    public func perform<U: UseCase, Value, Failure: Error>(
        _ useCase: U.Type, attributes: Attributes = [:], parent: TransactionParent? = .current,
        _ body: (UseCaseTransaction<U>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try begin(useCase, attributes: attributes, parent: parent).perform(body)
    }

    /// Gives a helpful compiler error, which the compiler omits when two overloads fail alike.
    @available(
        *, unavailable,
        message:
            "`perform` takes a use case, `attributes:`, `parent:` and a closure. Put what describes the transaction into its attributes."
    )
    public func perform<U: UseCase>(
        _ useCase: U.Type, attributes: Attributes = [:], parent: TransactionParent? = nil, _ unknown: Any,
        _ body: (UseCaseTransaction<U>) async throws -> Any
    ) {}

    /// Joins the transaction of an incoming request, on a server.
    ///
    /// It always returns a handle. Without a valid header field, it begins a new transaction. The use case here
    /// overrides the one in the header field. Beyond ``Options/Server-swift.struct/joinsPerMinute``, the handle records
    /// nothing. If a middleware already joined for the same request, it returns that part's handle.
    ///
    /// ```swift
    /// let login = transactions.join(Login.self) { request.headers[$0] }
    /// ```
    ///
    /// `header` returns the value of a header field by its case-insensitive name; `nil` if it is absent.
    public func join<U: UseCase>(
        _ useCase: U.Type, attributes: Attributes = [:], traceContext: TraceContextPolicy? = nil,
        header: (String) -> String?
    ) -> UseCaseTransaction<U> {
        let (source, type) = (sources.source, ObjectIdentifier(U.self))
        source?.note(U.self)
        guard let source, let told = read(header, traceContext, in: source) else {
            let opened = Fact.Opened(U.self, GUID(), attributes)
            return UseCaseTransaction(part: begin(opened, type: type, below: .current, in: source))
        }
        if let code = told.useCase, code != U.code { sources.counters.add(to: \.mismatchedUseCases) }
        let opened = Fact.Opened(U.self, told.transaction, attributes)
        return UseCaseTransaction(
            part: join(told, opened, type: type, in: source) ?? OpenPart(opened, type: type, in: source))
    }

    /// Joins the transaction of an incoming request whose use case is not yet known.
    ///
    /// If a middleware already joined for the same request, it returns that part's handle. It returns `nil` without a
    /// valid header field, for a use case that is not in ``Options/Server-swift.struct/accepting``, and beyond
    /// ``Options/Server-swift.struct/joinsPerMinute``.
    public func join(
        attributes: Attributes = [:], traceContext: TraceContextPolicy? = nil, header: (String) -> String?
    ) -> UseCaseTransaction<Int>? {
        guard let source = sources.source, let told = read(header, traceContext, in: source) else { return nil }
        guard let useCase = told.useCase ?? source.settings.onlyUseCase, source.joins.knows(useCase: useCase) else {
            sources.counters.add(to: \.unknownUseCases)
            diagnostics.once(
                "A request's header field names a use case that options.server.accepting does not have, or none, and nothing was recorded "
                    + "of it. Add those of your app: .only(Login.self).")
            return nil
        }
        let opened = Fact.Opened(transaction: told.transaction, useCase: useCase, attributes: attributes)
        return join(told, opened, in: source).map { UseCaseTransaction(part: $0) }
    }

    func begin(
        _ opened: Fact.Opened, type: ObjectIdentifier? = nil, below parent: TransactionParent?,
        in source: SourceRecorder?, at past: Int64? = nil
    ) -> OpenPart {
        guard let source else { return OpenPart(opened, type: type, in: nil) }
        var opened = opened
        let parent = parent.flatMap { sources.admits($0, for: source) ? $0 : nil }
        opened.parent = parent?.transaction
        opened.parentPart = parent?.part.flatMap { $0.source == source.id ? $0.sequence : nil }
        return source.open(opened, type: type, below: parent, at: past)
    }

    /// Returns the part that already joined for the same request, or else a new one; `nil` beyond the limits.
    private func join(
        _ told: IncomingTransaction, _ opened: Fact.Opened, type: ObjectIdentifier? = nil, in source: SourceRecorder
    ) -> OpenPart? {
        let joined = TransactionScope.innermost {
            $0.source === source && told.isJoined(by: $0, useCase: opened.useCase)
        }
        if let joined {
            if !opened.attributes.isEmpty { _ = joined.set(Fact.AttributesSet(attributes: opened.attributes)) }
            return joined
        }
        guard isAdmitted(told, by: source) else { return nil }
        var opened = opened
        (opened.isJoined, opened.cause) = (true, told.cause)
        opened.attributes = told.link.merging(opened.attributes) { $1 }
        return source.open(opened, type: type, traceParent: told.traceParent)
    }

    private func isAdmitted(_ told: IncomingTransaction, by source: SourceRecorder) -> Bool {
        let now = source.settings.options.clock.uptimeMicroseconds()
        if source.joins.admits(told.transaction, now: now) { return true }
        sources.counters.add(to: \.refusedJoins)
        diagnostics.once(
            "Requests name more than \(source.settings.options.server.joinsPerMinute) new transactions a minute, or have more than "
                + "\(JoinGate.requestLimit) in one; nothing is recorded of the others. "
                + "Set options.server.joinsPerMinute higher if they are yours.")
        return false
    }

    private func read(
        _ header: (String) -> String?, _ traceContext: TraceContextPolicy?, in source: SourceRecorder
    ) -> IncomingTransaction? {
        let (told, isThere) = source.settings.options.header.read(header)
        if told == nil, isThere { ignored(source.settings.options.header.name) }
        let traceContext = traceContext ?? source.settings.options.server.traceContext
        guard traceContext != .off else { return told.map { IncomingTransaction($0) } }
        let field = header(TraceParent.fieldName)
        var traceParent = field.flatMap { TraceParent(parsing: $0) }
        let state = traceParent.flatMap { _ in header(TraceParent.stateFieldName) }
        traceParent?.others = state.flatMap(TraceState.others)
        if field != nil, traceParent == nil { ignored(TraceParent.fieldName) }
        if let told { return IncomingTransaction(told, traceParent: traceParent) }
        guard traceContext == .join, let traceParent else { return nil }
        return IncomingTransaction(traceParent, state: state)
    }

    private func ignored(_ field: String) {
        sources.counters.add(to: \.malformedHeaders)
        diagnostics.once("A request's \(field) header field could not be read and was ignored.")
    }
}

extension Fact.Opened {
    init<U: UseCase>(_ useCase: U.Type, _ transaction: GUID, _ attributes: Attributes) {
        self.init(
            transaction: transaction, useCase: U.code, timeoutMicroseconds: max(0, U.timeout.microseconds),
            attributes: attributes)
    }
}

extension TransactionManager {
    /// Erases facts recorded so far: the rows at once, and their bytes from the files. Returns the counts.
    ///
    /// The collector learns only the number of erased facts that were not delivered; erase delivered facts there, too.
    /// Open transactions are erased as well. If a transaction's opening was already delivered, its later facts are
    /// still delivered, or it would never end at the collector. Another process on the store keeps its journal for up
    /// to five seconds. Background uploads with erased facts end. `.all` and `.installation` also clear the
    /// ``context``.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be written. If a reader keeps the bytes, erase again.
    @discardableResult
    public func erase(_ selection: Erasure.Selection) async throws(WaybillError) -> Erasure {
        switch selection {
        case .all, .installation: try sources.context.forget()
        case .ids, .before, .networkLogs: break
        }
        let isEverything = selection == .all
        guard let source = await sources.drainedSource() else {
            if isEverything { sources.noteErasure(nil, true) }
            return Erasure()
        }
        defer { sources.changes.tell(.reload) }
        let wall = source.settings.options.clock.wallMicroseconds()
        for source in sources.liveForerunners {
            try await source.writer.run { _, store in try source.writer.scrubJournal(store) }
        }
        return try await source.writer.run { [sources] opened, store in
            // Also if the rows are gone but their bytes are not, since uploads contain them, too.
            defer { sources.noteErasure(store, isEverything) }
            let scope = selection.scope(installation: opened.source.installation)
            return try source.writer.erase(scope, from: store, at: wall)
        }
    }

    /// Starts a new, random installation ID, which can't be connected with earlier data, and clears the ``context``.
    ///
    /// Recorded data and earlier handles keep the old ID. Without recorded data it does nothing.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be written. The ID stays the same then.
    public func resetInstallation() async throws(WaybillError) { try await sources.renewInstallation() }
}

extension Erasure {
    /// The data to erase: whole transactions, except for ``networkLogs``.
    public enum Selection: Sendable, Equatable {
        /// All data.
        case all
        /// The transactions with these IDs.
        case ids([GUID])
        /// The transactions that began before this time.
        case before(Date)
        /// All network exchanges and their bodies. Events stay.
        case networkLogs
        /// The data since the last ``Waybill/TransactionManager/resetInstallation()``.
        case installation

        func scope(installation: GUID?) -> ErasureScope {
            switch self {
            case .all: .all
            case .ids(let ids): .transactions(ids)
            case .before(let date): .begunBefore(date)
            case .networkLogs: .networkLogs
            case .installation: installation.map { .installation($0) } ?? .transactions([])
            }
        }
    }
}
