public import Foundation

/// A fact that the collector rejected, or that was too large for it all by itself. It is settled, and blocks nothing.
public struct QuarantinedFact: Hashable, Sendable {
    /// Who recorded it, and its number there.
    public var id: Fact.ID
    /// Why, in the collector's words.
    public var reason: String
    /// When it was rejected, in microseconds since 1970.
    package var rejectedAtMicroseconds: Int64
    /// When it was rejected.
    public var rejected: Date { Date(microseconds: rejectedAtMicroseconds) }
    /// The fact itself; nil where it is no longer there, erased or taken by retention.
    public var fact: Fact?

    package init(id: Fact.ID, reason: String, rejectedAtMicroseconds: Int64, fact: Fact? = nil) {
        self.id = id
        self.reason = reason
        self.rejectedAtMicroseconds = rejectedAtMicroseconds
        self.fact = fact
    }

    /// Makes a description.
    public init(id: Fact.ID, reason: String, rejected: Date, fact: Fact? = nil) {
        self.init(id: id, reason: reason, rejectedAtMicroseconds: rejected.microseconds, fact: fact)
    }
}

extension QuarantinedFact: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var quarantined = self
        quarantined.reason = redactor.text(reason)
        quarantined.fact = fact.redacted(by: redactor)
        return quarantined
    }
}
