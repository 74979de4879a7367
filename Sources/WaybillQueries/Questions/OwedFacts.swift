import WaybillCore
import WaybillStore

/// The facts that sources recorded and a store lacks, and the number of transactions that they can change.
///
/// A fact belongs to one transaction, so it adds or changes one at most. A source that owes facts may have ended, too,
/// which interrupts its open transactions.
package struct OwedFacts: Sendable {
    package var sourceCount = 0
    package var factCount: Int64 = 0
    package var transactionCount = 0

    /// The reasons that keep facts out of a store on purpose. They are no part of the history.
    private static let intended = [Ledger.DropReason.erased, .withheld].map(\.rawValue)
    /// A store still has its own facts that sampling dropped.
    private static let lost = [Ledger.DropReason.quota, .age, .damaged].map(\.rawValue)

    fileprivate init() {}

    init(of question: some FoldedQuestion, _ context: AnswerContext) throws(WaybillError) {
        let filter = question.rowSelection.transactions
        guard filter.sampledOneIn == 1 else {
            throw WaybillError(.setting, "A sample can't be certified. Ask about all transactions.")
        }
        guard !question.looksAtFamilies, !context.isPartial || context.elsewhere.open != nil else {
            throw WaybillError(
                .setting,
                "This can't be certified: one missing fact of a parent or child can change many transactions. Ask without them."
            )
        }
        let connection = context.connection
        func count(_ table: String, _ condition: String) -> String {
            "(SELECT ifnull(sum(last - first + 1), 0) FROM \(table) WHERE source = s.id AND \(condition))"
        }
        func reasons(_ reasons: [String]) -> String { "reason IN ('\(reasons.joined(separator: "', '"))')" }
        // A source recorded the facts that it owes before its last set arrived. Clocks err by less than a day.
        let since = filter.sinceMicroseconds ?? .min
        let sources = try connection.statement(
            """
            SELECT s.id, s.uuid, s.ended, s.refused, iif(s.heard_us IS NULL, \(count("dropped", reasons(Self.lost))), \
            s.recorded - \(count("ranges", "lease IS NULL")) - \(count("dropped", reasons(Self.intended)))) \
            FROM sources s WHERE s.heard_us IS NULL OR s.heard_us >= ?
            """
        ).rows(since.subtracting(LeadingParts.farthestMicroseconds)) { row in
            (
                row: row.int(0) as Int64, id: row.guid(1), hasEnded: row.bool(2),
                count: max(0, row.int(3)).adding(max(0, row.int(4)))
            )
        }
        let open = try connection.statement(
            "SELECT count(*) FROM parts WHERE source = ? AND listed_us IS NOT NULL AND outcome = \(TransactionOutcome.open.rawValue)"
        )
        var changes: Int64 = 0
        for source in sources where source.count > 0 {
            sourceCount += 1
            factCount = factCount.adding(source.count)
            var interrupted: Int64 = 0
            if !source.hasEnded {
                interrupted = try open.first(source.row) { row in row.int(0) } ?? 0
                interrupted += context.elsewhere.open?[source.id] ?? 0
            }
            changes = changes.adding(source.count).adding(interrupted)
        }
        transactionCount = Int(clamping: changes)
    }
}

extension AnswerContext {
    /// Returns a context that counts each transaction once, because sampled ones are among the missing.
    func certifying(_ question: some FoldedQuestion) throws(WaybillError) -> AnswerContext {
        guard question.isCertified == true, owed == nil else { return self }
        var context = self
        context.owed = rows == nil ? try OwedFacts(of: question, self) : OwedFacts()
        return context
    }
}
