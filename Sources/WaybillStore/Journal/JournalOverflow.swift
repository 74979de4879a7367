import WaybillCore

/// Closings that a full journal has no room for: they wait in memory, in order of their sequence.
///
/// The journal keeps room for the closings of a part of what may be open. So what is open can always be closed, however
/// much that is; each closing here was counted when it was opened.
final class JournalOverflow: Sendable {
    private struct State {
        var facts: [Fact] = []
        /// How many of them were handed out, and are not in the store yet.
        var takenCount = 0
    }

    private let state = Locked(State())

    var isEmpty: Bool { state.withLock { $0.facts.isEmpty } }

    /// Whether something is there that was not handed out.
    var hasMore: Bool { state.withLock { $0.facts.count > $0.takenCount } }

    /// Adds a closing.
    ///
    /// - Parameter sequence: Takes its sequence, which no later call precedes.
    func append(_ content: Fact.Content, part: Int64, atMicroseconds: Int64, sequence: () -> Int64) -> Int64 {
        state.withLock { state in
            let sequence = sequence()
            state.facts.append(
                Fact(sequence: sequence, part: part, atMicroseconds: atMicroseconds, content: content))
            return sequence
        }
    }

    /// Adds what was not handed out yet to facts of the file, in order of sequence, up to the first gap.
    ///
    /// - Parameter last: The last sequence that was handed out.
    func merge(into facts: inout [Fact], last: inout Int64) {
        state.withLock { state in
            let first = state.takenCount
            while state.takenCount < state.facts.count {
                let sequence = state.facts[state.takenCount].sequence
                guard sequence <= last + 1 else { break }
                last = max(last, sequence)
                state.takenCount += 1
            }
            guard state.takenCount > first else { return }
            facts = (facts + state.facts[first..<state.takenCount]).sorted { $0.sequence < $1.sequence }
        }
    }

    /// What was handed out is in the store.
    func confirm() {
        state.withLock { state in
            state.facts.removeFirst(state.takenCount)
            state.takenCount = 0
        }
    }

    /// What was handed out is not in the store: it is handed out again.
    func giveBack() { state.withLock { $0.takenCount = 0 } }
}
