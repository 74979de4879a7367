import WaybillCore

/// Tells a fact that arrives again from another fact with the same sequence.
///
/// A process that was cloned, or whose disk was restored from a snapshot, gives a sequence twice. The comparison uses
/// what no redaction changes: the kind of a fact, its part, its time and its code.
struct StoredTwins {
    private let source: Int64
    private let connection: Connection
    private let event: Statement
    private let part: Statement
    private let exchange: Statement

    init(of source: Int64, _ connection: Connection) throws(WaybillError) {
        self.source = source
        self.connection = connection
        event = try connection.statement(
            "SELECT at_us, code FROM events WHERE source = ? AND part = ? AND after = ?")
        part = try connection.statement(
            "SELECT at_us, guid, closed, closed_at_us FROM parts WHERE source = ? AND sequence = ?")
        exchange = try connection.statement(
            "SELECT at_us, closed, closed_at_us FROM network_logs WHERE source = ? AND part = ? AND sequence = ?")
    }

    /// Returns whether the store has another fact with this one's source and sequence.
    ///
    /// Call it only for a sequence that is booked as received. A fact whose row was removed since is not another one.
    func hasOther(than fact: Fact) throws(WaybillError) -> Bool {
        guard try !isStored(fact) else { return false }
        let sequence = SequenceRanges([fact.sequence...fact.sequence])
        let retired = try RetiredRows(connection: connection).sequences(of: source, meeting: sequence)
        let dropped = try RangeRows(connection: connection).dropped(of: source, meeting: sequence)
        return !retired.contains(fact.sequence) && !dropped.sequences.contains(fact.sequence)
    }

    private func isStored(_ fact: Fact) throws(WaybillError) -> Bool {
        let at: Int64? = fact.atMicroseconds
        let found: Bool?
        switch fact.content {
        case .opened(let content):
            found = try part.first(source, fact.sequence) { row in
                row.optionalInt(0) == at && row.optionalGUID(1) == content.transaction
            }
        case .closed:
            found = try part.first(source, fact.part) { row in
                row.optionalInt(2) == fact.sequence && row.optionalInt(3) == at
            }
        case .event(let content): found = try isEvent(content.code, fact)
        case .attributesSet: found = try isEvent(Tables.codeOfAttributesSet, fact)
        case .exchangeOpened:
            found = try exchange.first(source, fact.part, fact.sequence) { row in row.optionalInt(0) == at }
        case .exchangeClosed(let content):
            found = try exchange.first(source, fact.part, content.exchange) { row in
                row.optionalInt(1) == fact.sequence && row.optionalInt(2) == at
            }
        }
        return found ?? false
    }

    private func isEvent(_ code: Int, _ fact: Fact) throws(WaybillError) -> Bool? {
        // A part that begins behind its own event is nobody's, and has no row.
        let (after, isBeyond) = fact.sequence.subtractingReportingOverflow(fact.part)
        guard !isBeyond else { return nil }
        return try event.first(source, fact.part, after) { row in
            row.int(0) == fact.atMicroseconds && row.int(1) == code
        }
    }
}
