import WaybillCore

/// The parts whose header field was handed out, to know a request that carries it.
final class AnnouncedParts: Sendable {
    private struct Entry { weak var part: OpenPart? }
    private struct State {
        var entries: [GUID: Entry] = [:]
        var limit = 64
    }

    private let state = Locked(State())

    /// The header field of a part is handed out.
    func note(_ part: OpenPart) {
        // Let go after the lock: the last reference to a part closes it, about which the app is asked.
        let found = state.withLock { state -> [OpenPart] in
            var found: [OpenPart] = []
            if state.entries.count >= state.limit {
                let alive = state.entries.compactMapValues(\.part)
                found = Array(alive.values)
                state.entries = alive.mapValues { Entry(part: $0) }
                state.limit = max(64, 2 * state.entries.count)
            }
            state.entries[part.transaction] = Entry(part: part)
            return found
        }
        withExtendedLifetime(found) {}
    }

    /// The part of a transaction, as long as its handle is held.
    func part(of transaction: GUID) -> OpenPart? { state.withLock { $0.entries[transaction]?.part } }
}
