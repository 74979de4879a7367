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
        state.withLock { state in
            if state.entries.count >= state.limit {
                state.entries = state.entries.filter { $0.value.part != nil }
                state.limit = max(64, 2 * state.entries.count)
            }
            state.entries[part.transaction] = Entry(part: part)
        }
    }

    /// The part of a transaction, as long as its handle is held.
    func part(of transaction: GUID) -> OpenPart? { state.withLock { $0.entries[transaction]?.part } }
}
