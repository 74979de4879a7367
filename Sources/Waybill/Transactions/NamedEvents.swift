import WaybillCore

/// Codes for events that have only a name, as ``NameCode`` derives them.
final class NamedEvents: Sendable {
    struct Event {
        var code: Int
        /// As it is recorded.
        var name: String
        /// Whether it stands for names for which there was no room.
        var isNameless = false
    }

    /// Names that a source keeps: a span may be called by what its caller made up, an ID in it.
    static let limit = 500
    /// What the others are called.
    static let nameless = "other"

    private struct Key: Hashable {
        var useCase: Int
        var name: String
    }

    private let known = Locked<[Key: Event]>([:])

    /// The event that is called so, and whether it is a new one.
    func event(_ name: String, in useCase: Int, _ redactor: Redactor) -> (event: Event, isNew: Bool) {
        // Of long ones that differ behind the limit, one is kept. Cut before it is redacted, half a secret might stay.
        let name = name.utf8.count > Limits.labelLength ? Self.label(name, redactor) : name
        return known.withLock { known in
            var key = Key(useCase: useCase, name: name)
            if let event = known[key] { return (event, false) }
            var event = Event(code: 0, name: Self.label(name, redactor))
            if known.count >= Self.limit {
                event = Event(code: 0, name: Self.nameless, isNameless: true)
                key.name = Self.nameless
                if let event = known[key] { return (event, false) }
            }
            event.code = NameCode.code(of: event.name)
            known[key] = event
            return (event, true)
        }
    }

    /// What is recorded of a name; a name must not be empty.
    private static func label(_ name: String, _ redactor: Redactor) -> String {
        let label = redactor.text(name)
        return label.isEmpty ? "unnamed" : label.cut(to: Limits.labelLength) ?? label
    }
}
