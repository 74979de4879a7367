public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// Every call throws what `URLSession` throws, `URLError.cancelled` as soon as the task is canceled, and
// `URLError.timedOut` at its deadline. A parameter with a default value cannot leave its type open otherwise:
// `UseCaseTransaction<Int>?.none` stands for any transaction that is not given.
extension CapturedSession {
    /// Sends a request, whose body may be data or a stream of its own, and waits for the whole answer.
    ///
    /// - Parameters:
    ///   - request: Sent as it is, with the header field where it is to have one.
    ///   - transaction: What it is made for; nil: the current transaction, or none.
    ///   - deadline: The longest all of it may take; nil: no longer than the configuration's
    ///     `timeoutIntervalForResource`.
    /// - Throws: What `URLSession` throws; `URLError.cancelled` as soon as the task is canceled; `URLError.timedOut` at
    ///   the deadline.
    public func data<Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(of: request, part: transaction.part(), deadline: deadline).value(into: MemorySink.init)
    }

    /// Gets what is at an address: a `URL`, or its text; as ``data(for:in:deadline:)``.
    ///
    /// - Throws: Also `URLError.badURL` where the text is no URL.
    public func data<Event>(
        from address: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(of: address.urlRequest, part: transaction.part(), deadline: deadline).value(
            into: MemorySink.init)
    }

    /// Sends a request with a body from memory, and waits for the whole answer; as ``data(for:in:deadline:)``.
    ///
    /// Where `progress` is given, it is told how far the transfer is, on a serial queue of the session.
    public func upload<Event>(
        for request: URLRequest, from body: Data,
        in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(
            of: request, body: .data(body), part: transaction.part(), deadline: deadline, progress: progress
        )
        .value(into: MemorySink.init)
    }

    /// Sends a request with a body from a file, and waits for the whole answer; as
    /// ``upload(for:from:in:deadline:progress:)``.
    public func upload<Event>(
        for request: URLRequest, fromFile file: URL,
        in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (Data, URLResponse) {
        try await exchange(
            of: request, body: .file(file), part: transaction.part(), deadline: deadline, progress: progress
        )
        .value(into: MemorySink.init)
    }

    /// Sends a request and writes the answer's body to a file; as ``data(for:in:deadline:)``.
    ///
    /// Where `progress` is given, it is told how far the transfer is, on a serial queue of the session.
    ///
    /// - Returns: A new file in the temporary folder, which is the caller's to move or to remove.
    /// - Throws: Also `URLError.cannotCreateFile` and `.cannotWriteToFile`.
    public func download<Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (URL, URLResponse) {
        try await exchange(of: request, part: transaction.part(), deadline: deadline, progress: progress).value(
            into: FileSink<URL>.init)
    }

    /// Writes what is at an address, a `URL` or its text, to a file; as ``download(for:in:deadline:progress:)``.
    public func download<Event>(
        from address: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (URL, URLResponse) {
        try await exchange(of: address.urlRequest, part: transaction.part(), deadline: deadline, progress: progress)
            .value(into: FileSink<URL>.init)
    }

    /// Sends a request, waits for the head of the answer, and gives its body as it comes; as
    /// ``data(for:in:deadline:)``.
    ///
    /// Where `URLSession` gives single bytes, this gives them in the pieces in which they come. Letting go of the
    /// sequence, or canceling the task that reads it, cancels the exchange. What is not read waits in memory: on Linux
    /// a transfer cannot be held. Where `progress` is given, it is told how far the transfer is, the request's body
    /// too, on a serial queue of the session.
    public func bytes<Event>(
        for request: URLRequest, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil,
        progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) async throws -> (CapturedBytes, URLResponse) {
        try await CapturedBytes.open(
            exchange(of: request, part: transaction.part(), deadline: deadline, progress: progress))
    }

    /// Gives what is at an address, a `URL` or its text, as it comes; as ``bytes(for:in:deadline:progress:)``.
    public func bytes<Event>(
        from address: some RequestTarget, in transaction: UseCaseTransaction<Event>? = UseCaseTransaction<Int>?.none,
        deadline: Duration? = nil
    ) async throws -> (CapturedBytes, URLResponse) {
        try await CapturedBytes.open(exchange(of: address.urlRequest, part: transaction.part(), deadline: deadline))
    }
}
