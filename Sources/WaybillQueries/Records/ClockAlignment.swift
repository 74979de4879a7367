public import WaybillCore

/// How far the clocks of a transaction's sources are apart: what makes one picture of their times.
///
/// The times of a ``TransactionRecord`` are raw: each source's, as its own clock said. ``aligning(_:)`` makes a record
/// whose times go by one clock.
public struct ClockAlignment: Hashable, Sendable, Codable {
    /// The source whose clock the others are compared with: the one of the leading part.
    public var reference: GUID
    /// One for each other source of which something is known: whose part was caused by an exchange of the reference, or
    /// of another one here. Callers before those whom they called.
    public var offsets: [Offset]

    /// Makes an alignment.
    public init(reference: GUID, offsets: [Offset]) {
        self.reference = reference
        self.offsets = offsets
    }

    /// One source's clock beside that of the reference.
    public struct Offset: Hashable, Sendable, Codable {
        /// The source.
        public var source: GUID
        /// Microseconds to add to its times: negative where its clock is ahead.
        package var microseconds: Int64
        /// Microseconds by which that may be too much or too little.
        package var uncertaintyMicroseconds: Int64
        /// How many other exchanges it was found by; 0: only the one that caused the part, so that its request and its
        /// response cannot be told apart.
        public var sampleCount: Int

        /// Makes an offset.
        package init(source: GUID, microseconds: Int64, uncertaintyMicroseconds: Int64, sampleCount: Int) {
            self.source = source
            self.microseconds = microseconds
            self.uncertaintyMicroseconds = uncertaintyMicroseconds
            self.sampleCount = sampleCount
        }

        private enum CodingKeys: String, CodingKey {
            case source, uncertaintyMicroseconds, sampleCount
            /// With its unit, as every time in JSON.
            case microseconds = "offsetMicroseconds"
        }
    }
}

extension ClockAlignment {
    /// The offset of a source; nil for the reference, and where nothing is known of it, so that its times stay as they
    /// are.
    public subscript(source: GUID) -> Offset? { offsets.first { $0.source == source } }

    /// What has to be added to the times of a source to get those of another one; nil where nothing is known of either.
    package func offset(of source: GUID, beside other: GUID) -> Offset? {
        guard let left = place(of: source), let right = place(of: other) else { return nil }
        return Offset(
            source: source, microseconds: left.microseconds.subtracting(right.microseconds),
            uncertaintyMicroseconds: left.uncertaintyMicroseconds.adding(right.uncertaintyMicroseconds),
            sampleCount: min(left.sampleCount, right.sampleCount))
    }

    private func place(of source: GUID) -> Offset? {
        source == reference
            ? Offset(source: source, microseconds: 0, uncertaintyMicroseconds: 0, sampleCount: .max) : self[source]
    }

    /// The same record with aligned times.
    ///
    /// All times of a source are moved by the same, so that it keeps its order and its durations; also a wall clock
    /// that was set meanwhile still shows. The beginning in the record's summary is that of the reference and stays.
    /// What is left to be added to the times of the result is 0, as uncertain as before: aligning it again changes
    /// nothing.
    public func aligning(_ record: TransactionRecord) -> TransactionRecord {
        let moves = Dictionary(offsets.map { ($0.source, $0.microseconds) }) { first, _ in first }
        var aligned = record
        for index in aligned.parts.indices {
            guard let move = moves[aligned.parts[index].id.source] else { continue }
            aligned.parts[index].openedMicroseconds.move(move)
            aligned.parts[index].closedMicroseconds?.move(move)
        }
        for index in aligned.exchanges.indices {
            guard let move = moves[aligned.exchanges[index].id.source] else { continue }
            aligned.exchanges[index].move(microseconds: move)
        }
        aligned.exchanges.sort {
            ($0.openedMicroseconds, $0.id.source, $0.id.sequence) < (
                $1.openedMicroseconds, $1.id.source, $1.id.sequence
            )
        }
        for index in aligned.timeline.indices {
            aligned.timeline[index].timeMicroseconds.move(moves[aligned.timeline[index].id.source] ?? 0)
        }
        aligned.timeline.putInOrder()
        for (index, child) in (aligned.family?.below ?? []).enumerated() {
            guard let source = child.parentPart?.source, let move = moves[source] else { continue }
            aligned.family?.below[index].begunMicroseconds.move(move)
        }
        aligned.clocks = self
        for index in offsets.indices { aligned.clocks?.offsets[index].microseconds = 0 }
        return aligned
    }
}

extension TransactionRecord {
    /// The same with aligned times: those of the source that began it, as far as the clocks of the others are known;
    /// see ``clocks``.
    ///
    /// Nothing changes its place among what one source saw. Where nothing is known of a source's clock, its times stay
    /// as they are.
    ///
    /// ```swift
    /// guard let record = try await transactions.transaction(id) else { return }
    /// for entry in record.aligned.timeline { print(entry.time, entry.label) }
    /// ```
    public var aligned: TransactionRecord { clocks?.aligning(self) ?? self }
}

extension TransactionRecord.Exchange {
    fileprivate mutating func move(microseconds: Int64) {
        openedMicroseconds.move(microseconds)
        firstByteMicroseconds?.move(microseconds)
        closedMicroseconds?.move(microseconds)
        transfer.sentAtMicroseconds?.move(microseconds)
        for index in transfer.redirects.indices { transfer.redirects[index].atMicroseconds.move(microseconds) }
        transfer.webSocket = transfer.webSocket?.timed { $0.adding(microseconds) }
    }
}

extension Int64 {
    fileprivate mutating func move(_ microseconds: Int64) { self = adding(microseconds) }
}

extension [TransactionRecord.Entry] {
    /// Each source's as they are; across sources by time as far as that allows; ties by source.
    fileprivate mutating func putInOrder() {
        var latest: [GUID: Int64] = [:]
        var placed: [(time: Int64, number: Int, entry: TransactionRecord.Entry)] = []
        for (number, entry) in enumerated() {
            let time = Swift.max(latest[entry.id.source] ?? .min, entry.timeMicroseconds)
            latest[entry.id.source] = time
            placed.append((time, number, entry))
        }
        self = placed.sorted {
            ($0.time, $0.entry.id.source, $0.number) < ($1.time, $1.entry.id.source, $1.number)
        }.map(\.entry)
    }
}
