public import WaybillCore

/// The clock offsets between the sources of a transaction. ``aligning(_:)`` applies them to a record.
public struct ClockAlignment: Hashable, Sendable, Codable {
    /// The source with the reference clock: the one of the leading part.
    public var reference: GUID
    /// The known offsets of other sources. Callers precede the servers that they called.
    public var offsets: [Offset]

    /// Creates an alignment.
    public init(reference: GUID, offsets: [Offset]) {
        self.reference = reference
        self.offsets = offsets
    }

    /// The offset of one source's clock from the reference.
    public struct Offset: Hashable, Sendable, Codable {
        /// The source.
        public var source: GUID
        /// The microseconds to add to its times. Negative if its clock is ahead.
        package var microseconds: Int64
        package var uncertaintyMicroseconds: Int64
        /// The number of other exchanges behind the estimate. With 0, request and response can't be separated.
        public var sampleCount: Int

        package init(source: GUID, microseconds: Int64, uncertaintyMicroseconds: Int64, sampleCount: Int) {
            self.source = source
            self.microseconds = microseconds
            self.uncertaintyMicroseconds = uncertaintyMicroseconds
            self.sampleCount = sampleCount
        }

        private enum CodingKeys: String, CodingKey {
            case source, uncertaintyMicroseconds, sampleCount
            /// With the unit, as every time in JSON.
            case microseconds = "offsetMicroseconds"
        }
    }
}

extension ClockAlignment {
    /// The offset of a source; `nil` for the reference and for unknown offsets.
    public subscript(source: GUID) -> Offset? { offsets.first { $0.source == source } }

    /// The offset to add to a source's times to get another's; `nil` if either is unknown.
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

    /// Returns the record with aligned times. Aligning it again changes nothing.
    ///
    /// Each source keeps its order and durations. The summary keeps the begin time of the reference.
    public func aligning(_ record: TransactionRecord) -> TransactionRecord {
        let moves = Dictionary(offsets.map { ($0.source, $0.microseconds) }) { first, _ in first }
        var aligned = record
        for index in aligned.parts.indices {
            let move = moves[aligned.parts[index].id.source] ?? 0
            aligned.parts[index].openedMicroseconds.move(move)
            aligned.parts[index].closedMicroseconds?.move(move)
        }
        for index in aligned.exchanges.indices {
            aligned.exchanges[index].move(microseconds: moves[aligned.exchanges[index].id.source] ?? 0)
        }
        aligned.exchanges.sort(by: TransactionRecord.Exchange.precedes)
        for index in aligned.timeline.indices {
            aligned.timeline[index].timeMicroseconds.move(moves[aligned.timeline[index].id.source] ?? 0)
        }
        aligned.timeline.putInOrder()
        for (index, child) in (aligned.family?.below ?? []).enumerated() {
            let source = child.parentPart?.source
            aligned.family?.below[index].begunMicroseconds.move(source.flatMap { moves[$0] } ?? 0)
        }
        aligned.clocks = self
        for index in offsets.indices { aligned.clocks?.offsets[index].microseconds = 0 }
        return aligned
    }
}

extension TransactionRecord {
    /// The record with the times of the source that began it, as far as ``clocks`` knows the offsets.
    ///
    /// The events of one source keep their order. Times of a source with an unknown offset don't change.
    ///
    /// ```swift
    /// guard let record = try await transactions.transaction(id) else { return }
    /// for entry in record.aligned.timeline { print(entry.time, entry.label) }
    /// ```
    public var aligned: TransactionRecord { clocks?.aligning(self) ?? self }
}

extension TransactionRecord.Exchange {
    static func precedes(_ left: Self, _ right: Self) -> Bool {
        (left.openedMicroseconds, left.id.source, left.id.sequence)
            < (right.openedMicroseconds, right.id.source, right.id.sequence)
    }

    fileprivate mutating func move(microseconds: Int64) {
        openedMicroseconds.move(microseconds)
        firstByteMicroseconds?.move(microseconds)
        closedMicroseconds?.move(microseconds)
        transfer = transfer.timed { $0.adding(microseconds) }
    }
}

extension Int64 {
    fileprivate mutating func move(_ microseconds: Int64) { self = adding(microseconds) }
}

extension [TransactionRecord.Entry] {
    /// Sorts across sources by time, keeping the order within each source; ties by source.
    ///
    /// A wall clock that was set back must not change the source's own order.
    mutating func putInOrder() {
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
