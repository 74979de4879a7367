/// A value that a ``Redactor`` has processed; there is no other way to create one.
package struct Redacted<Value> {
    package let value: Value

    fileprivate init(_ value: Value) { self.value = value }
}

extension Redacted: Sendable where Value: Sendable {}
extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}

extension Redacted: Encodable where Value: Encodable {
    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

package protocol Redactable {
    /// Returns a copy with every string redacted. Rules may be newer than the capture.
    func redacted(by redactor: Redactor) -> Self
}

extension Redactor {
    package func redacted<Value: Redactable>(_ value: Value) -> Redacted<Value> { Redacted(value.redacted(by: self)) }
}

extension Array: Redactable where Element: Redactable {
    package func redacted(by redactor: Redactor) -> Self { map { $0.redacted(by: redactor) } }
}

extension Optional: Redactable where Wrapped: Redactable {
    package func redacted(by redactor: Redactor) -> Self { map { $0.redacted(by: redactor) } }
}

/// Redacts the values only, because keys are IDs.
extension Dictionary: Redactable where Value: Redactable {
    package func redacted(by redactor: Redactor) -> Self { mapValues { $0.redacted(by: redactor) } }
}

extension String: Redactable {
    package func redacted(by redactor: Redactor) -> Self { redactor.text(self) }
}

extension Fact: Redactable {
    package func redacted(by redactor: Redactor) -> Self { redactor.fact(self) }
}

extension SourceIdentity: Redactable {
    package func redacted(by redactor: Redactor) -> Self { redactor.source(self) }
}

extension RecordedName: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        RecordedName(useCase: useCase, event: event, name: redactor.text(name))
    }
}

extension TransactionSet: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var set = self
        for index in set.sources.indices { set.sources[index].redact(by: redactor) }
        return set
    }
}

extension TransactionSet.Share {
    fileprivate mutating func redact(by redactor: Redactor) {
        source = source.redacted(by: redactor)
        names = names.redacted(by: redactor)
        for index in facts.indices { facts[index] = facts[index].redacted(by: redactor) }
    }
}
