import WaybillCore

extension Recording {
    /// Opens the exchange of a request that was made without the library, and cannot be given a header field any more.
    ///
    /// It belongs to the transaction that its header field names, where that is one of ours; without that field to its caller's. One that
    /// carries the number of an exchange of ours is recorded already.
    func observeExchange(_ request: ExchangeRequest, of caller: OpenPart?) -> OpenExchange {
        guard let source, let told = source.settings.header.read(request.value(for:)).header else {
            return openExchange(request, part: caller)
        }
        if told.source == source.id, told.exchange != nil { return OpenExchange() }
        return openExchange(request, part: source.announcedParts.part(of: told.transaction))
    }
}

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
