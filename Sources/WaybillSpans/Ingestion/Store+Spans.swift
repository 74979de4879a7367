package import WaybillCore
package import WaybillReading
package import WaybillStore

extension SQLiteStore {
    /// Takes in spans; returns only after the synced commit.
    ///
    /// - Parameter sender: The ID of the token that they came with; empty where there is none.
    package func add(_ request: TraceRequest, sentBy sender: String) async throws(WaybillError) -> SpanVerdict {
        let (wall, redactor, limit) = (clock.wallMicroseconds(), redactor, writer.factsPerTransaction)
        return try await writer.run { store throws(WaybillError) in
            try store.ingest(
                request, sentBy: sender, receivedAt: wall, factsPerTransaction: limit, redactor: redactor)
        }
    }

    /// Gives spans that have waited too long for the one that they are below a part of their own.
    ///
    /// - Returns: How many facts came of it.
    package func settleWaitingSpans() async throws(WaybillError) -> Int {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        return try await writer.run { store throws(WaybillError) in
            try store.settleWaitingSpans(at: wall, redactor: redactor)
        }
    }
}

/// Spans come in.
extension Store {
    /// Transactions whose waiting spans one write goes through.
    private static let settledAtOnce = 500

    /// Books spans in one SQLite transaction.
    ///
    /// - Parameters:
    ///   - sender: The ID of the token that they came with; empty where there is none.
    ///   - wall: Now, in microseconds since 1970.
    ///   - factsPerTransaction: Spans that would give a transaction more are refused; nil: however many come.
    /// - Returns: Right to be answered once this has returned and commits are synced.
    package func ingest(
        _ request: TraceRequest, sentBy sender: String = "", receivedAt wall: Int64, factsPerTransaction: Int? = nil,
        redactor: Redactor = Redactor()
    ) throws(WaybillError) -> SpanVerdict {
        try write { () throws(WaybillError) in
            var ingestion = try spanIngestion(at: wall, factsPerTransaction: factsPerTransaction, redactor: redactor)
            for resource in request.resources { try ingestion.add(resource, sentBy: sender) }
            try ingestion.settle(waitingSince: wall - SpanIngestion.patienceMicroseconds, limit: Self.settledAtOnce)
            // As many as there are too many, so that no other request waits for all of them.
            let excess = try SpanRows(connection).waitingCount(limit: .max) - SpanIngestion.waitingLimit
            if excess > 0 { try ingestion.settle(waitingSince: .max, limit: Self.settledAtOnce, needed: excess) }
            try ingestion.finish()
            nameCount? += ingestion.addedNameCount
            var verdict = ingestion.verdict
            for (reason, count) in request.faults { verdict.refuse(count, because: reason) }
            return verdict
        }
    }

    /// Gives spans that have waited too long for the one that they are below a part of their own.
    package func settleWaitingSpans(at wall: Int64, redactor: Redactor = Redactor()) throws(WaybillError) -> Int {
        guard try SpanRows(connection).waitingCount(limit: 1) > 0 else { return 0 }
        return try write { () throws(WaybillError) in
            var ingestion = try spanIngestion(at: wall, factsPerTransaction: nil, redactor: redactor)
            try ingestion.settle(waitingSince: wall - SpanIngestion.patienceMicroseconds, limit: Self.settledAtOnce)
            try ingestion.finish()
            nameCount? += ingestion.addedNameCount
            return ingestion.verdict.factCount
        }
    }

    private func spanIngestion(at wall: Int64, factsPerTransaction: Int?, redactor: Redactor) throws(WaybillError)
        -> SpanIngestion
    {
        try SpanIngestion(
            connection, redactor: redactor, key: try spanKey(), at: wall, factsPerTransaction: factsPerTransaction,
            nameRoom: try nameRoom())
    }

    /// The secret that the IDs of sources are made with, of this store alone.
    private func spanKey() throws(WaybillError) -> [UInt8] {
        let name = "span_key"
        if let key = try setting(name) { return Array(key.utf8) }
        let key = "\(GUID())\(GUID())"
        try connection.statement("INSERT INTO settings(key, value) VALUES (?, ?)").run(name, key)
        return Array(key.utf8)
    }
}
