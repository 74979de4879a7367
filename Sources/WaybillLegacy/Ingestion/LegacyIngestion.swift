import WaybillCore
import WaybillReading
import WaybillStore

/// Makes facts of a set of version 0.0.1, whose logs have neither source nor sequence: one source stands for all its
/// senders, and numbers what comes.
///
/// What a set has of a transaction is a part of its own: the first began the transaction, those that follow joined it.
/// A part is marked as a possible duplicate where it has a log that an earlier one of the transaction has, too, but for
/// its time, which is the flush's. It is kept: a user can have done the same thing twice.
struct LegacyIngestion {
    let connection: Connection
    let redactor: Redactor
    /// Now, in microseconds since 1970.
    let receivedMicroseconds: Int64

    /// Marks a part whose logs may have been received before.
    static let possibleDuplicate = "possibleDuplicate"
    /// Where the time of a log cannot be told: holds it as it was written. The log then has the time when it came.
    static let unreadableTimestamp = "unreadableTimestamp"

    private var known: [GUID: Set<Log>] = [:]
    private var facts: [Fact] = []

    init(connection: Connection, redactor: Redactor, receivedMicroseconds: Int64) {
        self.connection = connection
        self.redactor = redactor
        self.receivedMicroseconds = receivedMicroseconds
    }

    /// What two logs of a transaction have to have in common to be perhaps the same.
    private struct Log: Hashable {
        var code: Int
        var error: RecordedError?
        var attributes: Attributes

        init(_ event: Fact.Event) {
            code = event.code
            error = event.error
            attributes = event.attributes.filter { $0.key != LegacyIngestion.unreadableTimestamp }
        }
    }

    /// The set as the next facts of that source.
    ///
    /// - Parameter recorded: How many facts the source has.
    mutating func share(_ set: LegacySet, of source: GUID, recorded: Int64) throws(WaybillError) -> TransactionSet.Share
    {
        facts = []
        for transaction in set.transactions { try add(transaction, of: source, after: recorded) }
        // Times are since 1970, as the logs' own; so the source has started then.
        return TransactionSet.Share(
            source: RecordedSource(id: source, app: "apptxnset-v0.0.1"),
            clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
            ledger: Ledger(recorded: recorded + Int64(facts.count)), facts: facts)
    }

    private mutating func add(_ transaction: LegacySet.Transaction, of source: GUID, after recorded: Int64)
        throws(WaybillError)
    {
        var before = known[transaction.id]
        if before == nil { before = try logs(of: transaction.id, source) }
        let part = recorded + Int64(facts.count) + 1
        let events = transaction.logs.map { log in
            let time = LegacyDate.microseconds(log.timestamp).flatMap {
                (0...Limits.largestInteger).contains($0) ? $0 : nil
            }
            return (time: time ?? receivedMicroseconds, content: event(log, isTimeKnown: time != nil))
        }
        let logs = Set(events.map { Log($0.content) })
        var opened = Fact.Opened(
            transaction: transaction.id, useCase: transaction.useCase, isJoined: before != nil,
            attributes: attributes(of: transaction))
        if let before, !before.isDisjoint(with: logs) { opened.attributes[Self.possibleDuplicate] = true }
        let begun = events.map(\.time).min() ?? receivedMicroseconds
        append(.opened(opened), part: part, at: begun, after: recorded)
        for (time, content) in events { append(.event(content), part: part, at: time, after: recorded) }
        known[transaction.id] = (before ?? []).union(logs)
    }

    private mutating func append(_ content: Fact.Content, part: Int64, at time: Int64, after recorded: Int64) {
        let fact = Fact(sequence: recorded + Int64(facts.count) + 1, part: part, atMicroseconds: time, content: content)
        // That framework redacts nothing.
        facts.append(redactor.fact(fact))
    }

    private func attributes(of transaction: LegacySet.Transaction) -> Attributes {
        var attributes: Attributes = [:]
        let texts = [
            ("deviceMake", transaction.deviceMake), ("deviceOS", transaction.deviceOS),
            ("deviceOSVersion", transaction.deviceOSVersion),
        ]
        for (name, text) in texts { if let text, !text.isEmpty { attributes[name] = .string(text) } }
        return attributes
    }

    private func event(_ log: LegacySet.Log, isTimeKnown: Bool) -> Fact.Event {
        var event = Fact.Event(code: log.event)
        switch log.errorCode {
        case .number(let code): event.error = RecordedError(code: code, text: log.errorDescription)
        case .text(let code):
            event.attributes["errorCode"] = .string(code)
            event.attributes["errorDescription"] = log.errorDescription.map { .string($0) }
        case nil: event.attributes["errorDescription"] = log.errorDescription.map { .string($0) }
        }
        event.attributes["context"] = log.context.map { .string($0) }
        if !isTimeKnown { event.attributes[Self.unreadableTimestamp] = .string(log.timestamp) }
        // As it will be read again.
        if case .event(let content) = redactor.fact(
            Fact(sequence: 1, part: 1, atMicroseconds: 0, content: .event(event))
        ).content {
            return content
        }
        return event
    }

    /// Of a transaction's parts here; nil where it has none.
    private func logs(of transaction: GUID, _ source: GUID) throws(WaybillError) -> Set<Log>? {
        let parts = try connection.statement(
            "SELECT p.source, p.sequence FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ? AND s.uuid = ?"
        ).rows(transaction, source) { row in (source: row.int(0), sequence: row.int(1)) }
        guard !parts.isEmpty else { return nil }
        var logs: Set<Log> = []
        for part in parts {
            for fact in try PartFacts(connection: connection).facts(of: part.sequence, in: part.source) {
                if case .event(let content) = fact.content { logs.insert(Log(content)) }
            }
        }
        return logs
    }
}
