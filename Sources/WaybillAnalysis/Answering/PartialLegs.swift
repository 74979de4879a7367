import WaybillCore
import WaybillReading
import WaybillStore

/// The legs of some transactions.
///
/// How one is divided depends on what other exchanges of its client say of the clocks. A store that has all
/// transactions divides them at once; one that has only some of them keeps what is needed for that, until all is known.
package struct PartialLegs: Mergeable {
    private var divided: NamedSegments<CollectedLegs>
    /// By the client's ID.
    private var undivided: [GUID: UndividedLegs] = [:]

    init(divided: NamedSegments<CollectedLegs>, undivided: [GUID: UndividedLegs] = [:]) {
        (self.divided, self.undivided) = (divided, undivided)
    }

    package mutating func merge(_ other: consuming PartialLegs) {
        divided.merge(other.divided)
        undivided.merge(other.undivided)
    }

    /// Divides the rest.
    consuming func all() -> NamedSegments<CollectedLegs> {
        while let (_, client) = undivided.popFirst() { client.divide(into: &divided) }
        return divided
    }
}

/// Transactions of one client, and its exchanges: theirs, and those that say something of the clocks.
struct UndividedLegs: Mergeable {
    private var transactions: [Transaction] = []
    /// Their servers by the place among these.
    private var exchanges: [TiedExchange] = []
    private var servers: [GUID] = []

    /// One that was closed.
    private struct Transaction {
        var sequence: Int64
        var span: ClosedRange<Int64>
        var segment: String?
        var weight: Int64
    }

    mutating func add(
        _ transaction: TransactionCursor.Transaction, closedAt: Int64, segment: String?
    ) {
        transactions.append(
            Transaction(
                sequence: transaction.sequence, span: transaction.span(until: closedAt), segment: segment,
                weight: transaction.weight))
    }

    /// Adds all exchanges that this store has of the client.
    mutating func add(
        exchangesOf source: Int64, id: GUID, among caused: CausedParts, _ sources: SourceDirectory,
        _ connection: Connection
    ) throws(WaybillError) {
        let parts = Set(transactions.map(\.sequence))
        let found = try OffsetExchanges.found(of: source, id: id, opened: .min ... .max, among: caused, connection)
        for var exchange in found where exchange.isSample || parts.contains(exchange.part) {
            if let server = exchange.server.flatMap({ sources.entries[$0.source]?.id }) {
                exchange.server?.source = place(of: server)
            }
            exchanges.append(exchange)
        }
    }

    var isEmpty: Bool { transactions.isEmpty && exchanges.isEmpty }

    private mutating func place(of server: GUID) -> Int64 {
        if let place = servers.firstIndex(of: server) { return Int64(place) }
        servers.append(server)
        return Int64(servers.count - 1)
    }

    mutating func merge(_ other: consuming UndividedLegs) {
        transactions += other.transactions
        let places = other.servers.map { place(of: $0) }
        for var exchange in other.exchanges {
            if let server = exchange.server { exchange.server?.source = places[Int(server.source)] }
            exchanges.append(exchange)
        }
    }

    func divide(into collected: inout NamedSegments<CollectedLegs>) {
        let known = OffsetExchanges(exchanges)
        for transaction in transactions {
            let division = LegsDivision(transaction.span, known.exchanges(of: transaction.sequence), known)
            collected.add(to: transaction.segment) {
                $0.add(
                    division, transaction.span.upperBound - transaction.span.lowerBound, weight: transaction.weight)
            }
        }
    }
}

extension LegsQuestion {
    /// What a store says that has only some of the transactions.
    func undivided(
        _ all: TransactionCursor, _ sources: SourceDirectory, _ context: AnswerContext
    ) throws(WaybillError) -> Folded<PartialLegs> {
        var divided = NamedSegments(CollectedLegs())
        var undivided: [Int64: UndividedLegs] = [:]
        var all = all
        let values = all.segmentValues
        try all.forEach { (transaction, _) throws(WaybillError) in
            let segment = transaction.segment.map { values[$0] }
            if let closing = transaction.closing {
                undivided[transaction.source, default: UndividedLegs()]
                    .add(transaction, closedAt: closing.at, segment: segment)
            } else {
                divided.add(to: segment) { $0.withoutEnd.addWeight(transaction.weight) }
            }
        }
        let caused = try CausedParts(by: context.connections)
        var found: [GUID: UndividedLegs] = [:]
        for (source, entry) in sources.entries {
            var client = undivided[source] ?? UndividedLegs()
            try client.add(exchangesOf: source, id: entry.id, among: caused, sources, context.connection)
            if !client.isEmpty { found[entry.id] = client }
        }
        return Folded(
            collected: PartialLegs(divided: divided, undivided: found),
            asked: try AskedTransactions(all, all.weights, context))
    }
}

extension TransactionCursor.Transaction {
    /// From its opening on; threads may take their time in one order and their sequence in another.
    func span(until closing: Int64) -> ClosedRange<Int64> { at...max(at, closing) }
}
