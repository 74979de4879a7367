public import WaybillCore

/// The transactions that the current task works for, the innermost first.
package struct CurrentTransaction: Sendable {
    @TaskLocal static var stack: CurrentTransaction?

    package let part: OpenPart
    private let outer: Box?

    private final class Box: Sendable {
        let value: CurrentTransaction
        init(_ value: CurrentTransaction) { self.value = value }
    }

    /// Makes a part the innermost one, around those that are current already.
    init(_ part: OpenPart) {
        self.part = part
        outer = Self.stack.map { Box($0) }
    }

    /// The innermost part; nil outside any transaction.
    package static var innermost: OpenPart? { stack?.part }

    /// The innermost part that was recorded: what was withheld, or found no room, is nobody's parent.
    static var innermostRecorded: OpenPart? {
        var current = stack
        while let candidate = current, candidate.part.sequence == 0 { current = candidate.outer?.value }
        return current?.part
    }

    /// The innermost part of a use case; nil where there is none.
    static func innermost(useCase: Int) -> OpenPart? {
        var current = stack
        while let candidate = current {
            if candidate.part.useCase == useCase { return candidate.part }
            current = candidate.outer?.value
        }
        return nil
    }
}

extension UseCase {
    /// The transaction of this use case that the current task works for; nil outside one.
    ///
    /// Found anywhere below `perform`, and in the handlers below a server's middleware, without passing the handle
    /// along:
    ///
    /// ```swift
    /// Login.current?.log(.serverStarted)
    /// ```
    public static var current: UseCaseTransaction<Self>? {
        guard let part = CurrentTransaction.innermost(useCase: code) else { return nil }
        part.source?.note(Self.self)
        return UseCaseTransaction(part: part)
    }
}
