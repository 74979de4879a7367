package import WaybillCore
import WaybillStore

/// The transactions above and below one.
///
/// Who is whose parent was said from outside, so that there may be circles, and trees of any size: the way up ends
/// after ``ParentWalk/limit`` steps, and what was met is not met again.
extension StoreReader {
    /// nil where there are none.
    func family(of summary: TransactionSummary, now wall: Int64) throws(WaybillError) -> TransactionRecord.Family? {
        guard summary.parent != nil || summary.children != nil else { return nil }
        var met: Set<GUID> = [summary.id]
        var family = TransactionRecord.Family(above: [], below: [])
        var next = summary.parent
        while let id = next, met.insert(id).inserted, let above = try self.summary(of: id, now: wall) {
            guard family.above.count < ParentWalk.limit else {
                family.isCut = true
                break
            }
            family.above.insert(above, at: 0)
            next = above.parent
        }
        var children: [GUID: [TransactionSummary]] = [:]
        var (level, count, depth) = ([summary.id], 0, 0)
        while !level.isEmpty {
            guard depth < ParentWalk.limit, count < ParentWalk.familyLimit else {
                family.isCut = true
                break
            }
            var found: [GUID] = []
            for parent in level {
                let room = ParentWalk.familyLimit - count
                let some = try self.children(of: parent, limit: room + 1, now: wall).filter {
                    met.insert($0.id).inserted
                }
                family.isCut = family.isCut || some.count > room
                children[parent] = Array(some.prefix(room))
                found += some.prefix(room).map(\.id)
                count += min(some.count, room)
            }
            (level, depth) = (found, depth + 1)
        }
        family.below = ParentWalk.inOrder(children, below: summary.id)
        return family.above.isEmpty && family.below.isEmpty ? nil : family
    }

    private func summary(of transaction: GUID, now wall: Int64) throws(WaybillError) -> TransactionSummary? {
        let leader = try connection.statement(
            "SELECT p.source, p.sequence FROM parts p WHERE p.guid = ? AND p.listed_us IS NOT NULL"
        ).first(transaction) { row in (source: row.int(0), sequence: row.int(1)) }
        guard let leader else { return nil }
        return try summary(leader: leader.sequence, of: leader.source, now: wall)
    }

    private func children(of parent: GUID, limit: Int, now wall: Int64) throws(WaybillError) -> [TransactionSummary] {
        let leaders = try connection.statement(
            """
            SELECT p.source, p.sequence FROM parts p JOIN sources s ON s.id = p.source \
            WHERE p.parent = ? AND p.listed_us IS NOT NULL ORDER BY p.listed_us, s.uuid, p.sequence LIMIT ?
            """
        ).rows(parent, limit) { row in (source: row.int(0), sequence: row.int(1)) }
        var children: [TransactionSummary] = []
        for leader in leaders {
            if let child = try summary(leader: leader.sequence, of: leader.source, now: wall) { children.append(child) }
        }
        return children
    }
}

/// How far transactions are followed from parent to parent.
package enum ParentWalk {
    /// Steps upwards, and downwards.
    package static let limit = 32
    /// Transactions that are told below one.
    package static let familyLimit = 500

    /// Each behind its parent.
    package static func inOrder(_ children: [GUID: [TransactionSummary]], below parent: GUID) -> [TransactionSummary] {
        (children[parent] ?? []).flatMap { [$0] + inOrder(children, below: $0.id) }
    }
}
