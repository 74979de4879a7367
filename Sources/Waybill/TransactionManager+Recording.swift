public import Foundation
public import WaybillCore
import WaybillStore

// Beginning and joining transactions: none of this throws or waits.
extension TransactionManager {
    /// Begins a transaction, for the lifetime of a screen or of anything else that has no closure around it.
    ///
    /// - Parameters:
    ///   - useCase: What the user is doing.
    ///   - attributes: What describes the transaction, e.g. the variant of a test.
    ///   - parent: The transaction below which it is begun; nil: none. Default: the one that the current task works for.
    /// - Returns: The handle. Keep it: letting go of it unfinished records `abandoned`.
    public func begin<U: UseCase>(
        _ useCase: U.Type, attributes: Attributes = [:], parent: TransactionParent? = .current
    ) -> UseCaseTransaction<U> {
        let source = sources.source
        source?.note(U.self)
        return UseCaseTransaction(
            part: begin(
                U.code, type: ObjectIdentifier(U.self), timeout: U.timeout, attributes: attributes, below: parent,
                in: source))
    }

    /// Begins a transaction of a use case that has a number but no Swift type.
    public func begin(
        useCase code: Int, attributes: Attributes = [:], parent: TransactionParent? = .current
    ) -> UseCaseTransaction<Int> {
        UseCaseTransaction(
            part: begin(code, timeout: .seconds(86_400), attributes: attributes, below: parent, in: sources.source))
    }

    /// Begins a transaction, makes it the current one while a closure runs, and closes it by how the closure ends.
    ///
    /// Returning means succeeded; `CancellationError` or `URLError.cancelled`, also behind another error, means canceled;
    /// any other error means failed with that error. A `finish` inside wins. The closure keeps the caller's isolation.
    ///
    /// Inside of another one it is a transaction of its own, below that one: neither's outcome decides the other's.
    @discardableResult
    public func perform<U: UseCase, Result>(
        _ useCase: U.Type, attributes: Attributes = [:], parent: TransactionParent? = .current,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (UseCaseTransaction<U>) async throws -> Result
    ) async rethrows -> Result {
        try await begin(useCase, attributes: attributes, parent: parent).perform(isolation: isolation, body)
    }

    /// As the asynchronous form, for closures that do not wait.
    @discardableResult
    public func perform<U: UseCase, Result>(
        _ useCase: U.Type, attributes: Attributes = [:], parent: TransactionParent? = .current,
        _ body: (UseCaseTransaction<U>) throws -> Result
    ) rethrows -> Result {
        try begin(useCase, attributes: attributes, parent: parent).perform(body)
    }

    /// For a compiler error that helps: of two overloads that fail alike, the compiler says nothing at all.
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
    /// Always returns a handle: without a valid header field it begins a transaction of the server's own. What comes in
    /// is not trusted: it grants nothing, and a malformed one is ignored and counted. Where it names another use case,
    /// the type given here wins. Where more transactions come in than ``Options/joinsPerMinute``, the handle records
    /// nothing. Where the current task works for the part that was joined for the same request, as below a middleware, it
    /// is that part's handle.
    ///
    /// ```swift
    /// let login = transactions.join(Login.self) { request.headers[$0] }
    /// ```
    ///
    /// - Parameters:
    ///   - useCase: What the request is for.
    ///   - attributes: What describes the server's part.
    ///   - traceContext: Whether W3C's `traceparent` is read; nil: as ``Options/traceContext`` says.
    ///   - header: Looks up a header field of the request by name, in any case; nil where it is absent.
    public func join<U: UseCase>(
        _ useCase: U.Type, attributes: Attributes = [:], traceContext: TraceContextPolicy? = nil,
        header: (String) -> String?
    ) -> UseCaseTransaction<U> {
        let source = sources.source
        source?.note(U.self)
        guard let source, let told = read(header, traceContext, in: source) else {
            return UseCaseTransaction(
                part: begin(
                    U.code, type: ObjectIdentifier(U.self), timeout: U.timeout, attributes: attributes,
                    below: .current, in: source))
        }
        if let code = told.useCase, code != U.code { sources.counters.add(to: \.mismatchedUseCases) }
        if let part = joinedAlready(told, useCase: U.code, attributes: attributes, in: source) {
            return UseCaseTransaction(part: part)
        }
        guard isAdmitted(told, by: source) else {
            let nothing = OpenPart(
                transaction: told.transaction, useCase: U.code, type: ObjectIdentifier(U.self), sequence: 0,
                source: source)
            return UseCaseTransaction(part: nothing)
        }
        return UseCaseTransaction(
            part: join(
                told, useCase: U.code, type: ObjectIdentifier(U.self), timeout: U.timeout, attributes: attributes,
                in: source))
    }

    /// Joins the transaction that an incoming request belongs to, before anything is known of its use case; gives the
    /// part that was joined for the same request already, where the current task works for that.
    ///
    /// - Returns: nil without a valid header field, and for one that is not to be believed: of a use case that is not
    ///   among ``Options/useCases``, or of one more transaction than ``Options/joinsPerMinute``. Such a request leaves no
    ///   trace but a count.
    public func join(
        attributes: Attributes = [:], traceContext: TraceContextPolicy? = nil, header: (String) -> String?
    ) -> UseCaseTransaction<Int>? {
        guard let source = sources.source, let told = read(header, traceContext, in: source) else { return nil }
        guard let useCase = told.useCase ?? source.settings.onlyUseCase, source.joins.knows(useCase: useCase) else {
            sources.counters.add(to: \.unknownUseCases)
            diagnostics.once(
                "A request's header field names a use case that options.useCases does not have, or none, and nothing was recorded "
                    + "of it. Add those of your app: [Login.code]; nil takes any.")
            return nil
        }
        if let part = joinedAlready(told, useCase: useCase, attributes: attributes, in: source) {
            return UseCaseTransaction(part: part)
        }
        guard isAdmitted(told, by: source) else { return nil }
        return UseCaseTransaction(
            part: join(told, useCase: useCase, timeout: .seconds(86_400), attributes: attributes, in: source))
    }

    /// - Parameter past: When it began, in microseconds since the source started; `nil`: now.
    func begin(
        _ useCase: Int, type: ObjectIdentifier? = nil, timeout: Duration, attributes: Attributes,
        below parent: TransactionParent?, in source: SourceRecorder?, at past: Int64? = nil
    ) -> OpenPart {
        guard let source else {
            return OpenPart(transaction: GUID(), useCase: useCase, type: type, sequence: 0, source: nil)
        }
        var opened = Fact.Opened(
            transaction: GUID(), useCase: useCase, timeoutMicroseconds: max(0, timeout.microseconds),
            attributes: attributes)
        let parent = parent.flatMap { sources.admits($0, for: source) ? $0 : nil }
        opened.parent = parent?.transaction
        opened.parentPart = parent?.part.flatMap { $0.source == source.id ? $0.sequence : nil }
        return source.open(opened, type: type, below: parent, at: past)
    }

    /// The part that was joined for the same request, by a middleware further out.
    private func joinedAlready(
        _ told: IncomingTransaction, useCase: Int, attributes: Attributes, in source: SourceRecorder
    ) -> OpenPart? {
        let part = TransactionScope.innermost { $0.source === source && told.isJoined(by: $0, useCase: useCase) }
        if !attributes.isEmpty { _ = part?.set(Fact.AttributesSet(attributes: attributes)) }
        return part
    }

    private func join(
        _ told: IncomingTransaction, useCase: Int, type: ObjectIdentifier? = nil, timeout: Duration,
        attributes: Attributes, in source: SourceRecorder
    ) -> OpenPart {
        source.open(
            Fact.Opened(
                transaction: told.transaction, useCase: useCase, isJoined: true,
                timeoutMicroseconds: max(0, timeout.microseconds),
                cause: told.cause,
                attributes: told.link.merging(attributes) { $1 }),
            type: type, traceParent: told.traceParent)
    }

    /// Whether one more request may join its transaction; where it may not, that is counted and told.
    private func isAdmitted(_ told: IncomingTransaction, by source: SourceRecorder) -> Bool {
        let now = source.settings.clock.uptimeMicroseconds()
        if source.joins.admits(told.transaction, now: now) { return true }
        sources.counters.add(to: \.refusedJoins)
        diagnostics.once(
            "Requests name more than \(source.settings.joinsPerMinute) new transactions a minute, or have more than "
                + "\(JoinGate.requestLimit) in one; nothing is recorded of the others. "
                + "Set options.joinsPerMinute higher if they are yours.")
        return false
    }

    private func read(
        _ header: (String) -> String?, _ traceContext: TraceContextPolicy?, in source: SourceRecorder
    ) -> IncomingTransaction? {
        let (told, isThere) = source.settings.header.read(header)
        if told == nil, isThere { ignored(source.settings.header.name) }
        let traceContext = traceContext ?? source.settings.traceContext
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

// Clearing what was recorded, and starting over as another installation.
extension TransactionManager {
    /// Erases what was recorded until now: the rows at once, and their bytes from the files.
    ///
    /// What was not delivered yet is told to the collector as a count, no more. What was delivered is not taken back:
    /// erase it there, too. A transaction that is still open goes as well, and what its handle records later is booked
    /// as erased; unless its beginning was delivered already: then what follows is recorded and delivered as before, or
    /// the collector would never see it end. Another process that records into the same store keeps what it recorded in
    /// its own journal for up to five seconds. Uploads in the background that hold erased facts end. With everything, and with the installation, the ``context`` goes, too,
    /// with what was remembered of it.
    ///
    /// - Returns: What was there to erase.
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be written; or when the rows are gone, and a reader
    ///   of the store keeps the bytes: then erase once more.
    @discardableResult
    public func erase(_ selection: Erasure.Selection) async throws -> Erasure {
        switch selection {
        case .all, .installation: try sources.context.forget()
        case .ids, .before, .networkLogs: break
        }
        let isEverything = selection == .all
        guard let source = await sources.drainedSource() else {
            if isEverything { sources.noteErasure(from: nil, isEverything: true) }
            return Erasure()
        }
        defer { sources.changes.tell(.reload) }
        let wall = source.settings.clock.wallMicroseconds()
        for source in sources.liveForerunners {
            try await source.writer.run { _, store in try source.writer.scrubJournal(store) }
        }
        return try await source.writer.run { [sources] opened, store in
            // Also where the rows are gone and their bytes are not yet: what is under way holds them, too.
            defer { sources.noteErasure(from: store, isEverything: isEverything) }
            let scope = selection.scope(installation: opened.source.installation)
            return try source.writer.erase(scope, from: store, at: wall)
        }
    }

    /// Records under a new, random installation ID from now on, so that nothing ties what follows to what was before.
    ///
    /// What was recorded stays, under the old ID: erase it first if it is to go. Handles from before go on under the
    /// old ID, too; the ``context`` is empty from now on. Does nothing where nothing was ever recorded: there is no ID yet.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` when the store cannot be written; then the ID is what it was.
    public func resetInstallation() async throws { try await sources.renewInstallation() }
}

extension Erasure {
    /// What ``Waybill/TransactionManager/erase(_:)`` takes away; transactions whole, but for ``networkLogs``.
    public enum Selection: Sendable, Hashable {
        /// Everything that was recorded.
        case all
        /// These transactions.
        case ids([GUID])
        /// The transactions that began before this time.
        case before(Date)
        /// The network exchanges, in and outside of transactions, with what was kept of their bodies. Events stay.
        case networkLogs
        /// What was recorded under the present installation ID, and the transactions that began under it; after
        /// ``Waybill/TransactionManager/resetInstallation()`` that is what came since.
        case installation

        /// - Parameter installation: The present one.
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
