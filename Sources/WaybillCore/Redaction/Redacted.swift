/// A value that a ``Redactor`` has processed; there is no other way to create one.
@propertyWrapper
package struct Redacted<Value> {
    package let value: Value
    package var wrappedValue: Value { value }

    fileprivate init(_ value: Value) { self.value = value }
}

extension Redacted: Sendable where Value: Sendable {}
extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}

extension Redacted: Encodable where Value: Encodable {
    package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

package protocol Redactable {
    /// Redacts every string. Rules may be newer than the capture.
    mutating func redact(by redactor: Redactor)
}

extension Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var copy = self
        copy.redact(by: redactor)
        return copy
    }
}

extension Redactor {
    package func redacted<Value: Redactable>(_ value: Value) -> Redacted<Value> { Redacted(value.redacted(by: self)) }
}

extension Array: Redactable where Element: Redactable {
    package mutating func redact(by redactor: Redactor) {
        for index in indices { self[index].redact(by: redactor) }
    }
}

extension Optional: Redactable where Wrapped: Redactable {
    package mutating func redact(by redactor: Redactor) { self?.redact(by: redactor) }
}

/// Redacts the values only, because keys are IDs.
extension Dictionary: Redactable where Value: Redactable {
    package mutating func redact(by redactor: Redactor) { self = mapValues { $0.redacted(by: redactor) } }
}

extension String: Redactable {
    package mutating func redact(by redactor: Redactor) { self = redactor.text(self) }
}

extension Attributes: Redactable {
    package mutating func redact(by redactor: Redactor) { self = redactor.attributes(self).0 }
}

extension RecordedError: Redactable {
    package mutating func redact(by redactor: Redactor) { self = redactor.error(self) }
}

extension SourceIdentity: Redactable {
    package mutating func redact(by redactor: Redactor) {
        app.redact(by: redactor)
        appVersion.redact(by: redactor)
        device.redact(by: redactor)
        os.redact(by: redactor)
        osVersion.redact(by: redactor)
        attributes.redact(by: redactor)
    }
}

extension RecordedName: Redactable {
    package mutating func redact(by redactor: Redactor) { name.redact(by: redactor) }
}

extension TransactionSet: Redactable {
    package mutating func redact(by redactor: Redactor) { sources.redact(by: redactor) }
}

extension TransactionSet.Share: Redactable {
    package mutating func redact(by redactor: Redactor) {
        source.redact(by: redactor)
        names.redact(by: redactor)
        facts.redact(by: redactor)
    }
}
