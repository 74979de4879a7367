#if ClickHouse
import WaybillCore
import WaybillReading

/// Gives places to what this process inserts, as ``WaybillReading/ArrivalPlace`` says.
///
/// An export's cursor takes for granted that what a writer inserted comes in the order of its places. So a process that
/// does not know what became of an insert, which may still come, goes on as another writer.
final class ArrivalNumbers: Sendable {
    private static let beginning: Int64 = 1_767_225_600_000_000

    private struct State {
        var writer = ArrivalNumbers.anyWriter()
        /// In units of 100 microseconds since the beginning.
        var last = ArrivalPlace.first / ArrivalPlace.writerCount
        /// The last place of each writer, by writer.
        var seen: [Int64: Int64] = [:]
    }

    private let state = Locked(State())

    /// The first of some that follow each other in steps of ``WaybillReading/ArrivalPlace/writerCount``: later than any
    /// that was seen.
    func next(_ count: Int) -> Int64 {
        let now = (SystemClock().wallMicroseconds() - Self.beginning) / 100
        return state.withLock { state in
            let first = max(now, state.last + 1)
            state.last = first + Int64(max(1, count)) - 1
            return first * ArrivalPlace.writerCount + state.writer
        }
    }

    /// Takes note of what all have given.
    ///
    /// - Parameter seen: The last place of each writer, by writer.
    func follow(_ seen: [Int64: Int64]) {
        state.withLock { state in
            state.seen = seen
            // What this one has not given is another one's, which has the same place by chance.
            if let other = seen[state.writer], other / ArrivalPlace.writerCount > state.last { Self.renew(&state) }
            state.last = max(state.last, (seen.values.max() ?? 0) / ArrivalPlace.writerCount)
        }
    }

    /// Goes on behind a place that was read.
    func pass(_ place: Int64) {
        state.withLock { state in state.last = max(state.last, place / ArrivalPlace.writerCount) }
    }

    /// Goes on as another writer.
    func renew() { state.withLock(Self.renew) }

    private static func renew(_ state: inout State) {
        let recently = (state.seen.values.max() ?? 0) - ArrivalPlace.perHour
        for _ in 0..<100 {
            state.writer = anyWriter()
            if state.seen[state.writer] ?? 0 <= max(0, recently) { return }
        }
    }

    private static func anyWriter() -> Int64 { Int64.random(in: 0..<ArrivalPlace.writerCount) }
}
#endif
