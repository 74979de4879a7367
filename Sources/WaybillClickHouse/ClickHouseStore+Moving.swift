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
        try await queue.take(StoreChanges(names: rest.names, tombstones: rest.tombstones), at: wall)
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
        var (group, size): ([SourceBooks], Int64) = ([], 0)
        for try await piece in pieces {
            room.signal()
            group.append(piece)
            size += Int64(piece.share.facts.count)
            guard size >= Self.factsPerWrite || group.count >= Self.sourcesPerWrite else { continue }
            written += try await take(group, at: wall)
            seen += size
            (group, size) = ([], 0)
            progress(seen, total)
        }
        written += try await take(group, at: wall)
        progress(seen + size, total)
        return written
    }

    /// What is written at a time: each makes files on the servers, and one more question of what is there.
    private static let (factsPerWrite, sourcesPerWrite): (Int64, Int) = (50_000, 1_000)

    /// - Returns: How many facts were not there yet.
    private func take(_ pieces: [SourceBooks], at wall: Int64) async throws -> Int64 {
        var booked = try await tables.sources(Set(pieces.map(\.share.source.id))).mapValues { source in
            (known: source.known, ledger: source.books.share.ledger, hasEnded: source.books.share.hasEnded)
        }
        var changes = StoreChanges()
        for piece in pieces {
            let share = piece.share
            let before = booked[share.source.id]
            let known = before?.known ?? SequenceRanges()
            let facts = share.facts.filter { !known.contains($0.sequence) }
            // Books that say nothing new are not written again.
            let isNews =
                before.map { before in
                    before.ledger.recorded < share.ledger.recorded || (share.hasEnded && !before.hasEnded)
                } ?? true
            guard !facts.isEmpty || share.facts.isEmpty && isNews else { continue }
            let new = SequenceRanges(each: facts.lazy.map(\.sequence))
            var books = piece
            books.share.facts = facts
            books.arrivals = piece.arrivals.flatMap { arrival in
                let range = SequenceRanges([arrival.first...arrival.last])
                return range.subtracting(range.subtracting(new)).ranges.map {
                    SourceBooks.Arrival(first: $0.lowerBound, last: $0.upperBound, received: arrival.received)
                }
            }
            changes.books.append(books)
            booked[share.source.id] = (known.union(new), share.ledger, share.hasEnded || before?.hasEnded == true)
        }
        guard !changes.books.isEmpty else { return 0 }
        try await queue.take(changes, at: wall)
        return changes.books.reduce(0) { $0 + Int64($1.share.facts.count) }
    }
}
#endif
