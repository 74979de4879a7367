#if ClickHouse
import Dispatch
import WaybillCore
package import WaybillReading
import WaybillStore

extension ClickHouseStore {
    /// Copies all that a store in SQLite holds: facts with when they came, ledgers, names, and what was erased.
    ///
    /// What is here already is left out, so that it can be done again after it broke off, or to bring what is new.
    ///
    /// - Parameter progress: Told how many facts were looked at so far, and how many there are.
    /// - Returns: How many facts were written.
    package func take(
        from store: SQLiteStore, progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> Int64 {
        let wall = clock.wallMicroseconds()
        let (pieces, continuation) = AsyncThrowingStream<SourceBooks, any Error>.makeStream()
        let (rest, total) = try await store.read { reader in
            try reader.reading {
                let scan = BooksScan(reader.connection, at: wall)
                return (try scan.rest(), try scan.factCount())
            }
        }
        try await queue.write(StoreChanges(names: rest.names, tombstones: rest.tombstones), at: wall)
        // Reading is a few pieces ahead of writing.
        let (room, isOver) = (DispatchSemaphore(value: 0), Locked(false))
        for _ in 0..<4 { room.signal() }
        Task {
            do {
                try await store.read { reader in
                    try reader.reading {
                        try BooksScan(reader.connection, at: wall).forEach { piece in
                            room.wait()
                            if isOver.withLock({ $0 }) { throw CancellationError() }
                            continuation.yield(piece)
                        }
                    }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        defer {
            isOver.withLock { $0 = true }
            room.signal()
        }
        var (seen, written): (Int64, Int64) = (0, 0)
        for try await piece in pieces {
            seen += Int64(piece.share.facts.count)
            written += try await take(piece, at: wall)
            room.signal()
            progress(seen, total)
        }
        return written
    }

    private func take(_ piece: SourceBooks, at wall: Int64) async throws -> Int64 {
        let source = piece.share.source.id
        let (known, record) = try await reading { store in
            try await store.read { reader in
                guard let row = try SourceRows(connection: reader.connection).find(source) else {
                    return (SequenceRanges(), nil as SourceRow?)
                }
                return (try RangeRows(connection: reader.connection).booked(of: row.id), row)
            }
        }
        var books = piece
        let facts = piece.share.facts.filter { !known.contains($0.sequence) }
        // Books that say nothing new are not written again.
        let isNews =
            record.map { row in
                row.recorded < piece.share.ledger.recorded || (piece.share.hasEnded && !row.hasEnded)
            } ?? true
        guard !facts.isEmpty || piece.share.facts.isEmpty && isNews else { return 0 }
        let new = SequenceRanges(each: facts.lazy.map(\.sequence))
        books.share.facts = facts
        books.arrivals = piece.arrivals.flatMap { arrival in
            let range = SequenceRanges([arrival.first...arrival.last])
            return range.subtracting(range.subtracting(new)).ranges.map {
                SourceBooks.Arrival(first: $0.lowerBound, last: $0.upperBound, received: arrival.received)
            }
        }
        var changes = StoreChanges()
        changes.books = [books]
        try await queue.write(changes, at: wall)
        return Int64(facts.count)
    }
}
#endif
