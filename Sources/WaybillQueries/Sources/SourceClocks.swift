public import WaybillCore
package import WaybillStore

/// What a store knows of one source's clocks.
public struct SourceClocks: Hashable, Sendable {
    /// In order of time; empty where none is known.
    package var anchors: [ClockAnchor]
    /// Sources that it had to do with and whose clocks could be compared with its own, the one met last in front.
    public var others: [Other]

    /// Makes clocks.
    package init(anchors: [ClockAnchor], others: [Other]) {
        self.anchors = anchors
        self.others = others
    }

    /// Another source's clock beside this one's.
    public struct Other: Hashable, Sendable {
        /// Whose clock it is.
        public var source: TransactionRecord.Source
        /// What has to be added to its times to get this source's: above 0, this source's clock is ahead.
        public var offset: ClockAlignment.Offset
        /// Where they met last.
        public var transaction: GUID

        /// Makes a comparison.
        public init(source: TransactionRecord.Source, offset: ClockAlignment.Offset, transaction: GUID) {
            self.source = source
            self.offset = offset
            self.transaction = transaction
        }
    }

    /// A time at which the wall clock was set while the source ran.
    package struct Change: Hashable, Sendable {
        /// Microseconds since 1970, by the clock as it was before.
        package var atMicroseconds: Int64
        /// Above 0: forward.
        package var byMicroseconds: Int64
    }

    /// Two anchors that are nearer to each other than this were written because a day had passed, and tell of drift;
    /// see `AnchorKeeper`.
    package static let leastChangeMicroseconds: Int64 = 100_000

    /// In order of time.
    package var changes: [Change] {
        zip(anchors, anchors.dropFirst()).compactMap { before, after in
            let change = after.offsetMicroseconds - before.offsetMicroseconds
            guard abs(change) >= Self.leastChangeMicroseconds else { return nil }
            return Change(atMicroseconds: after.atMicroseconds + before.offsetMicroseconds, byMicroseconds: change)
        }
    }
}

extension StoreReader {
    /// Transactions of a source that are looked at for others, the latest: a server has had to do with many.
    private static let transactionLimit = 200
    /// Alignments are tried so many times for each source that is wanted: a part that no request caused tells nothing
    /// of clocks.
    private static let tries = 3

    /// A source's clocks; nil where there is no such source.
    ///
    /// - Parameter limit: Of other sources.
    package func clocks(of id: GUID, others limit: Int) throws(WaybillError) -> SourceClocks? {
        try read { () throws(WaybillError) in
            guard
                let row = try connection.statement("SELECT id FROM sources WHERE uuid = ?").first(
                    id, transform: { $0.int(0) })
            else {
                return nil
            }
            return SourceClocks(
                anchors: try WallClock(of: row, connection).anchors, others: try others(of: row, id, limit: limit))
        }
    }

    private func others(of row: Int64, _ id: GUID, limit: Int) throws(WaybillError) -> [SourceClocks.Other] {
        let met = try connection.statement(
            """
            SELECT p.guid, s.uuid, s.app, s.app_version, s.device, s.os, s.os_version, \(SQL.endedBy("s")) FROM (SELECT guid, sequence FROM parts \
            WHERE source = ?1 AND guid IS NOT NULL ORDER BY sequence DESC LIMIT ?2) p CROSS JOIN parts q ON q.guid = p.guid AND q.source <> ?1 \
            CROSS JOIN sources s ON s.id = q.source ORDER BY p.sequence DESC, q.source
            """
        ).rows(row, Self.transactionLimit) { row in
            let source = TransactionRecord.Source(
                id: row.guid(1), app: row.text(2), appVersion: row.text(3), device: row.text(4), os: row.text(5),
                osVersion: row.text(6), endedBy: row.sourceEnd(7))
            return (transaction: row.guid(0), source: source)
        }
        var found: [SourceClocks.Other] = []
        var tries: [GUID: Int] = [:]
        var alignments: [GUID: ClockAlignment] = [:]
        for (transaction, source) in met {
            guard found.count < limit, alignments.count < limit * Self.tries else { break }
            guard tries[source.id, default: 0] < Self.tries, !found.contains(where: { $0.source.id == source.id })
            else { continue }
            tries[source.id, default: 0] += 1
            if alignments[transaction] == nil { alignments[transaction] = try clockAlignment(of: transaction) }
            guard let offset = alignments[transaction]?.offset(of: source.id, beside: id) else { continue }
            found.append(SourceClocks.Other(source: source, offset: offset, transaction: transaction))
        }
        return found
    }
}

/// The names of other sources.
extension SourceClocks: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var clocks = self
        for index in clocks.others.indices { clocks.others[index].source = others[index].source.redacted(by: redactor) }
        return clocks
    }
}
