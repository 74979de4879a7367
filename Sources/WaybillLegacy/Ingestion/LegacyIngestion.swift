package import WaybillCore
package import WaybillQueries
package import WaybillStore

/// Makes facts from a set of version 0.0.1. Its logs have no identity, so one source numbers those of all senders.
/// The first set with a transaction begins it, and later ones join it as further parts. A part is marked as a possible
/// duplicate, but kept, if one of its logs equals an earlier one. The times are ignored, because they are the flush's.
struct LegacyIngestion {
    let connection: Connection
    let redactor: Redactor
    let receivedMicroseconds: Int64
    let recorded: Int64

    /// The attribute of a part whose logs may have been received before.
    static let possibleDuplicate = "possibleDuplicate"
    /// The attribute with an unreadable time of a log, which gets the time of its arrival instead.
    static let unreadableTimestamp = "unreadableTimestamp"
    private static let app = "apptxnset-v0.0.1"

    fileprivate var known: [GUID: Set<Log>] = [:]
    fileprivate var facts: [Fact] = []

    fileprivate struct Log: Hashable {
        var code: Int
        var error: RecordedError?
        var attributes: Attributes

        init(_ event: Fact.Event) {
            code = event.code
            error = event.error
            attributes = event.attributes.filter { $0.key != LegacyIngestion.unreadableTimestamp }
        }
    }

    mutating func share(_ set: LegacySet, of source: GUID) throws(WaybillError) -> TransactionSet.Share {
        for transaction in set.transactions { try add(transaction) }
        // The source starts in 1970, because the logs' times are since then. The proof is not stored, so no set of
        // another format can name this source.
        return TransactionSet.Share(
            source: SourceIdentity(id: source, app: Self.app),
            clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
            ledger: Ledger(recorded: next - 1), facts: facts, sourceProof: IdentityProof())
    }

    private var next: Int64 { recorded + Int64(facts.count) + 1 }

    private mutating func add(_ transaction: LegacySet.Transaction) throws(WaybillError) {
        let before: Set<Log>? = if let seen = known[transaction.id] { seen } else { try logs(of: transaction.id) }
        let part = next
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
        append(.opened(opened), part: part, at: begun)
        for (time, content) in events { append(.event(content), part: part, at: time) }
        known[transaction.id] = (before ?? []).union(logs)
    }

    private mutating func append(_ content: Fact.Content, part: Int64, at time: Int64) {
        let fact = Fact(sequence: next, part: part, atMicroseconds: time, content: content)
        // The old framework redacts nothing.
        facts.append(fact.redacted(by: redactor))
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
        // Redacted, because it is compared with stored logs.
        event.redact(by: redactor)
        return event
    }

    private func logs(of transaction: GUID) throws(WaybillError) -> Set<Log>? {
        let parts = try connection.statement(
            "SELECT p.source, p.sequence FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ? AND s.app = ?"
        ).rows(transaction, Self.app) { row in (source: row.int(0), sequence: row.int(1)) }
        guard !parts.isEmpty else { return nil }
        var logs: Set<Log> = []
        for part in parts {
            for fact in try PartFacts.all(of: part.sequence, in: part.source, connection) {
                if case .event(let content) = fact.content { logs.insert(Log(content)) }
            }
        }
        return logs
    }
}

extension SQLiteStore {
    /// Puts unreadable transactions into quarantine. All facts are known if the same bytes arrived within the last day.
    /// `digest` is a collision-resistant hash of the body.
    package func add(_ set: LegacySet, digest: [UInt8]) async throws(WaybillError) -> Receipt {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        return try await writer.add { store throws(WaybillError) in
            try store.ingest(set, digest: digest, receivedAt: wall, redactor: redactor)
        }
    }
}

extension Store {
    /// How long the same bytes count as the same set: 24 hours.
    package static let legacyMemoryMicroseconds: Int64 = 86_400_000_000

    /// Returns a receipt to send only after the commit is synced.
    package func ingest(
        _ set: LegacySet, digest: [UInt8], receivedAt wall: Int64, redactor: Redactor = Redactor()
    ) throws(WaybillError) -> Receipt {
        try write { () throws(WaybillError) in
            try Schema.makeLegacyTables(connection)
            let digest = ColumnValue.blob(digest)
            try connection.statement("DELETE FROM legacy_sets WHERE received_us <= ?").run(
                wall - Self.legacyMemoryMicroseconds)
            let isKnown =
                try connection.statement("SELECT 1 FROM legacy_sets WHERE digest = ?").first(digest) { _ in true }
                ?? false
            if isKnown { return Receipt(set: GUID(), acceptedCount: 0, knownCount: set.factCount) }
            try connection.statement("INSERT INTO legacy_sets(digest, received_us) VALUES (?, ?)").run(digest, wall)
            return try book(set, as: try legacySource(), receivedAt: wall, redactor: redactor).receipt
        }
    }

    /// - Parameter source: Only the caller numbers its facts.
    package func book(
        _ set: LegacySet, as source: GUID, receivedAt wall: Int64, redactor: Redactor
    ) throws(WaybillError) -> (receipt: Receipt, shares: [TransactionSet.Share]) {
        try Schema.makeLegacyTables(connection)
        let rejections = try quarantine(set.unread, of: source, redactor: redactor, at: wall)
        var legacy = LegacyIngestion(
            connection: connection, redactor: redactor, receivedMicroseconds: wall,
            recorded: try connection.sourceRow(source)?.recorded ?? 0)
        let share = try legacy.share(set, of: source)
        guard !share.facts.isEmpty else {
            return (Receipt(set: GUID(), acceptedCount: 0, rejections: rejections), [])
        }
        let ingestion = try book(share, at: wall, factsPerTransaction: factsPerTransaction, isVouchedFor: true)
        try connection.decideLeaders(of: ingestion.undecided)
        let receipt = Receipt(
            set: GUID(), acceptedCount: ingestion.takenCount, rejections: ingestion.rejections + rejections)
        return (receipt, [share])
    }

    /// Keeps unreadable transactions, except erased ones.
    private func quarantine(
        _ unread: [LegacySet.Unread], of source: GUID, redactor: Redactor, at wall: Int64
    ) throws(WaybillError) -> [Receipt.Rejection] {
        let tombstones = try Tombstones(connection, at: wall)
        let quarantine = LegacyQuarantine(connection: connection)
        var rejections: [Receipt.Rejection] = []
        for (index, entry) in unread.enumerated() {
            rejections.append(
                Receipt.Rejection(source: source, sequence: nil, index: index, reason: redactor.text(entry.reason)))
            if let id = entry.transaction, try tombstones.contains(id) { continue }
            try quarantine.add(entry, redactor: redactor, at: wall)
        }
        return rejections
    }

    private func legacySource() throws(WaybillError) -> GUID {
        let key = "legacy_source"
        if let source = try setting(key).flatMap({ GUID($0) }) { return source }
        let source = GUID()
        try set(key, to: source.description)
        return source
    }
}

extension LegacyQuarantine {
    package func add(_ unread: LegacySet.Unread, redactor: Redactor, at wall: Int64) throws(WaybillError) {
        let json = String(decoding: redactor.body(unread.json, contentType: "application/json"), as: UTF8.self)
        try add(
            LegacyQuarantined(
                transaction: unread.transaction, reason: redactor.text(unread.reason), json: json,
                receivedMicroseconds: wall))
    }
}
