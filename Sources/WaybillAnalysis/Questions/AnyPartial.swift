package import WaybillCore

/// What some of the transactions say of a question: those of one store, or of several whose partials were merged.
///
/// ## Usage
///
/// ```swift
/// var all = try question.partial(from: first, now: now)
/// for store in others { try all.merge(question.partial(from: store, now: now)) }
/// let answer = try all.answer()
/// ```
package struct AnyPartial: Sendable {
    private let question: AnyQuestion
    private var partial: any ErasedPartial

    init(_ question: AnyQuestion, _ partial: any ErasedPartial) { (self.question, self.partial) = (question, partial) }

    /// Takes over what other transactions say.
    ///
    /// - Throws: `.setting` where they say it of another question.
    package mutating func merge(_ other: consuming AnyPartial) throws(WaybillError) {
        guard question == other.question else {
            throw WaybillError(.setting, "Partial answers to different questions cannot be put together.")
        }
        partial.merge(erased: other.partial)
    }

    /// The answer that one store would give that had all of them.
    ///
    /// - Throws: As ``Question/answer(from:)``.
    package consuming func answer() throws -> AnyAnswer { try question.answer(by: partial) }
}

extension AnyQuestion {
    /// The answer that one store would give that had the transactions of several.
    ///
    /// - Parameter next: Gives what one store says after the other, and nil when there are no more.
    /// - Throws: As ``Question/answer(from:)``; `.store` where there is no store.
    package func answer(byPartials next: () async throws -> AnyPartial?) async throws -> AnyAnswer {
        guard var all = try await next() else {
            throw WaybillError(.store, "There is no store to answer by; an empty one is one.")
        }
        while let partial = try await next() { try all.merge(partial) }
        return try all.answer()
    }
}

/// What some transactions say of any of the questions.
protocol ErasedPartial: Sendable {
    /// Takes over another one of the same question.
    mutating func merge(erased other: any ErasedPartial)
}

/// What some transactions say of one kind of question.
struct PartialOf<Asked: FoldedQuestion>: ErasedPartial {
    var found: Asked.Partial

    mutating func merge(erased other: any ErasedPartial) {
        if let other = other as? PartialOf { found.merge(other.found) }
    }
}
