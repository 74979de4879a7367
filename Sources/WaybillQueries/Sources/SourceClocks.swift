package import WaybillCore
import WaybillStore

package struct SourceClocks: Hashable, Sendable {
    package var anchors: [ClockAnchor]
    /// The sources with comparable clocks, the latest one first.
    package var others: [Other]

    package struct Other: Hashable, Sendable {
        package var source: TransactionRecord.Source
        /// The duration to add to its times to get this source's. Positive if this source's clock is ahead.
        package var offset: ClockAlignment.Offset
        /// The last transaction of both sources.
        package var transaction: GUID
    }

    package struct Change: Hashable, Sendable {
        package var atMicroseconds: Int64
        package var byMicroseconds: Int64
    }

    /// Smaller differences between anchors are drift: `AnchorKeeper` writes an anchor each day.
    package static let leastChangeMicroseconds: Int64 = 100_000

    package var changes: [Change] {
        zip(anchors, anchors.dropFirst()).compactMap { before, after in
            let change = after.offsetMicroseconds - before.offsetMicroseconds
            guard abs(change) >= Self.leastChangeMicroseconds else { return nil }
            return Change(atMicroseconds: after.atMicroseconds + before.offsetMicroseconds, byMicroseconds: change)
        }
    }
}

extension SourceClocks {
    /// The number of latest transactions to search for other sources, because servers have many.
    package static let transactionLimit = 200
    /// The number of alignments per source, because parts without a causing request have none.
    package static let tries = 3
}

extension StoreReader {
    func others(of row: Int64, _ id: GUID, limit: Int) throws(WaybillError) -> [SourceClocks.Other] {
        let met = try connection.statement(
            """
            SELECT p.guid, \(TransactionRecord.Source.columns) FROM (SELECT guid, sequence FROM parts \
            WHERE source = ?1 AND guid IS NOT NULL ORDER BY sequence DESC LIMIT ?2) p CROSS JOIN parts q ON q.guid = p.guid AND q.source <> ?1 \
            CROSS JOIN sources s ON s.id = q.source ORDER BY p.sequence DESC, q.source
            """
        ).rows(row, SourceClocks.transactionLimit) { row in
            (transaction: row.guid(0), source: TransactionRecord.Source(row.dropFirst(1)))
        }
        var found: [SourceClocks.Other] = []
        var tries: [GUID: Int] = [:]
        var alignments: [GUID: ClockAlignment] = [:]
        for (transaction, source) in met {
            guard found.count < limit, alignments.count < limit * SourceClocks.tries else { break }
            guard tries[source.id, default: 0] < SourceClocks.tries,
                !found.contains(where: { $0.source.id == source.id })
            else { continue }
            tries[source.id, default: 0] += 1
            if alignments[transaction] == nil { alignments[transaction] = try clockAlignment(of: transaction) }
            guard let offset = alignments[transaction]?.offset(of: source.id, beside: id) else { continue }
            found.append(SourceClocks.Other(source: source, offset: offset, transaction: transaction))
        }
        return found
    }
}

extension SourceClocks: Redactable {
    package mutating func redact(by redactor: Redactor) {
        for index in others.indices { others[index].source.redact(by: redactor) }
    }
}
