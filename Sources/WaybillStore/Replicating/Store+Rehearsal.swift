package import WaybillCore

/// What a write would change, without the change: for a store whose rows are kept elsewhere, and of which this one is
/// a copy.
extension Store {
    /// The verdicts on sets, and what they would change.
    ///
    /// - Parameter factsPerTransaction: Facts of a transaction beyond so many are rejected; nil: however many come.
    package func rehearse(_ arrivals: [ReceivedSet], factsPerTransaction: Int?) throws(WaybillError) -> (
        results: [Result<Receipt, WaybillError>], changes: StoreChanges
    ) {
        var facts: [Fact.ID: Fact] = [:]
        for share in arrivals.flatMap(\.set.set.sources) {
            for fact in share.facts {
                let id = Fact.ID(source: share.source.id, sequence: fact.sequence)
                if facts[id] == nil { facts[id] = fact }
            }
        }
        let fact: (Fact.ID) -> Fact? = { facts[$0] }
        return try rehearse(fact) { () throws(WaybillError) in
            var results: [Result<Receipt, WaybillError>] = []
            for arrival in arrivals {
                results.append(
                    try connection.savepoint { () throws(WaybillError) in
                        try book(
                            arrival.set, at: arrival.atMicroseconds, factsPerTransaction: factsPerTransaction,
                            hasRows: false)
                    })
            }
            return results
        }
    }

    /// What an erasure would erase and change.
    package func rehearseErasure(_ scope: ErasureScope, at wall: Int64) throws(WaybillError) -> (
        erasure: Erasure, changes: StoreChanges
    ) {
        try rehearse { () throws(WaybillError) in try eraseRows(scope, at: wall) }
    }

    /// What one step towards limits would take away and change; see ``RecordStore/retire(_:)``.
    package func rehearseRetirement(_ step: (Store) throws(WaybillError) -> Int) throws(WaybillError) -> (
        factCount: Int, changes: StoreChanges
    ) {
        try rehearse { () throws(WaybillError) in try step(self) }
    }

    private func rehearse<Value>(
        _ fact: (Fact.ID) -> Fact? = { _ in nil }, _ body: () throws(WaybillError) -> Value
    ) throws(WaybillError) -> (Value, StoreChanges) {
        let changed = ChangedRows(connection: connection)
        try changed.begin()
        defer { nameCount = nil }
        return try write { () throws(WaybillError) in
            let last = try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'") as Int64
            var (value, changes) = try undone { () throws(WaybillError) in
                let value = try body()
                return (value, try changed.changes(behind: last, fact))
            }
            for index in changes.books.indices { try findGone(&changes.books[index]) }
            return (value, changes)
        }
    }

    /// What `body` gives, whatever it wrote.
    private func undone<Value>(_ body: () throws(WaybillError) -> Value) throws(WaybillError) -> Value {
        try connection.execute("SAVEPOINT rehearsal")
        let result = Result { () throws(WaybillError) in try body() }
        try connection.execute("ROLLBACK TO rehearsal; RELEASE rehearsal")
        return try result.get()
    }

    /// Finds what is here and would not be any more.
    private func findGone(_ books: inout SourceBooks) throws(WaybillError) {
        guard let source = try SourceRows(connection: connection).find(books.share.source.id) else { return }
        let erased = books.share.dropped.filter { $0.reason == .erased }.sequences
        if !erased.isEmpty {
            let received = try RangeRows(connection: connection).booked(of: source.id, meeting: erased)
            books.gone = received.subtracting(received.subtracting(erased))
        }
        if !books.retired.isEmpty {
            let before = try RetiredRows(connection: connection).sequences(of: source.id)
            books.gone = books.gone.union(books.retired.subtracting(before))
        }
    }
}
