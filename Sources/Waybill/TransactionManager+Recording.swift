public import WaybillCore

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
            part: begin(U.code, timeout: U.timeout, attributes: attributes, below: parent, in: source))
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
    /// Returning means succeeded; `CancellationError` or `URLError.cancelled` means canceled; any other error means
    /// failed with that error. A `finish` inside wins. The closure keeps the caller's isolation.
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
    ///   - header: Looks up a header field of the request by name, in any case; nil where it is absent.
    public func join<U: UseCase>(
        _ useCase: U.Type, attributes: Attributes = [:], header: (String) -> String?
    ) -> UseCaseTransaction<U> {
        let source = sources.source
        source?.note(U.self)
        guard let source, let told = read(header, in: source) else {
            return UseCaseTransaction(
                part: begin(U.code, timeout: U.timeout, attributes: attributes, below: .current, in: source))
        }
        if told.useCase != U.code { sources.counters.add(to: \.mismatchedUseCases) }
        if let part = joinedAlready(told, useCase: U.code, attributes: attributes, in: source) {
            return UseCaseTransaction(part: part)
        }
        guard isAdmitted(told, by: source) else {
            let nothing = OpenPart(transaction: told.transaction, useCase: U.code, sequence: 0, source: source)
            return UseCaseTransaction(part: nothing)
        }
        return UseCaseTransaction(
            part: join(told, useCase: U.code, timeout: U.timeout, attributes: attributes, in: source))
    }

    /// Joins the transaction that an incoming request belongs to, before anything is known of its use case; gives the
    /// part that was joined for the same request already, where the current task works for that.
    ///
    /// - Returns: nil without a valid header field, and for one that is not to be believed: of a use case that is not
    ///   among ``Options/useCases``, or of one more transaction than ``Options/joinsPerMinute``. Such a request leaves no
    ///   trace but a count.
    public func join(attributes: Attributes = [:], header: (String) -> String?) -> UseCaseTransaction<Int>? {
        guard let source = sources.source, let told = read(header, in: source) else { return nil }
        guard source.joins.knows(useCase: told.useCase) else {
            sources.counters.add(to: \.unknownUseCases)
            diagnostics.once(
                "A request's header field names a use case that options.useCases does not have, and nothing was recorded of it. "
                    + "Add those of your app: [Login.code]; nil takes any.")
            return nil
        }
        if let part = joinedAlready(told, useCase: told.useCase, attributes: attributes, in: source) {
            return UseCaseTransaction(part: part)
        }
        guard isAdmitted(told, by: source) else { return nil }
        return UseCaseTransaction(
            part: join(told, useCase: told.useCase, timeout: .seconds(86_400), attributes: attributes, in: source))
    }

    private func begin(
        _ useCase: Int, timeout: Duration, attributes: Attributes, below parent: TransactionParent?,
        in source: SourceRecorder?
    ) -> OpenPart {
        guard let source else { return OpenPart(transaction: GUID(), useCase: useCase, sequence: 0, source: nil) }
        var opened = Fact.Opened(
            transaction: GUID(), useCase: useCase, timeoutMicroseconds: max(0, timeout.microseconds),
            attributes: attributes)
        let parent = parent.flatMap { sources.admits($0, for: source) ? $0 : nil }
        opened.parent = parent?.transaction
        opened.parentPart = parent?.part.flatMap { $0.source == source.id ? $0.sequence : nil }
        return source.open(opened, root: parent?.root)
    }

    /// The part that was joined for the same request, by a middleware further out.
    private func joinedAlready(
        _ told: TransactionHeader, useCase: Int, attributes: Attributes, in source: SourceRecorder
    ) -> OpenPart? {
        let cause = told.cause
        let part = TransactionScope.innermost {
            $0.isJoined && $0.transaction == told.transaction && $0.cause == cause && $0.useCase == useCase
                && $0.source === source
        }
        if !attributes.isEmpty { _ = part?.set(Fact.AttributesSet(attributes: attributes)) }
        return part
    }

    private func join(
        _ told: TransactionHeader, useCase: Int, timeout: Duration, attributes: Attributes, in source: SourceRecorder
    ) -> OpenPart {
        source.open(
            Fact.Opened(
                transaction: told.transaction, useCase: useCase, isJoined: true,
                timeoutMicroseconds: max(0, timeout.microseconds),
                cause: told.cause,
                attributes: attributes))
    }

    /// Whether one more request may join its transaction; where it may not, that is counted and told.
    private func isAdmitted(_ told: TransactionHeader, by source: SourceRecorder) -> Bool {
        let now = source.settings.clock.uptimeMicroseconds()
        if source.joins.admits(told.transaction, now: now) { return true }
        sources.counters.add(to: \.refusedJoins)
        diagnostics.once(
            "Requests name more than \(source.settings.joinsPerMinute) new transactions a minute, or have more than "
                + "\(JoinGate.requestLimit) in one; nothing is recorded of the others. "
                + "Set options.joinsPerMinute higher if they are yours.")
        return false
    }

    private func read(_ header: (String) -> String?, in source: SourceRecorder) -> TransactionHeader? {
        let (told, isThere) = source.settings.header.read(header)
        if told == nil, isThere {
            sources.counters.add(to: \.malformedHeaders)
            diagnostics.once(
                "A request's \(source.settings.header.name) header field could not be read and was ignored.")
        }
        return told
    }
}
