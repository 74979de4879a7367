import WaybillCore

/// The comparison of a fact that arrives again with the fact that has its sequence.
///
/// Clones and restored snapshots of a process reuse sequences. Redaction never changes the compared fields.
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
            "SELECT at_us, closed, closed_at_us FROM exchanges WHERE source = ? AND part = ? AND sequence = ?")
    }

    /// Returns whether another fact has the sequence, which must be booked as received. A deleted row doesn't count.
    func hasOther(than fact: Fact) throws(WaybillError) -> Bool {
        guard try !isStored(fact) else { return false }
        let sequence = SequenceRanges([fact.sequence...fact.sequence])
        let retired = try RangeTable.retired(connection).sequences(of: source, meeting: sequence)
        let dropped = try connection.droppedRanges(of: source, meeting: sequence)
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
        case .unknown: found = try isEvent(Tables.codeOfUnknown, fact)
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
        // A part that begins after its own event is invalid and has no row.
        let (after, isBeyond) = fact.sequence.subtractingReportingOverflow(fact.part)
        guard !isBeyond else { return nil }
        return try event.first(source, fact.part, after) { row in
            row.int(0) == fact.atMicroseconds && row.int(1) == code
        }
    }
}
