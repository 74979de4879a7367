package import WaybillCore

package struct IngestHooks: Sendable {
    /// Returns the fact to store, of the same kind; `nil` withholds it.
    ///
    /// It is called inside the write, once for each new fact, and again if the write is repeated.
    package var willStore: (@Sendable (Fact, FactOrigin) -> Fact?)?
    /// Receives what a write stored, after its commit.
    package var didStore: (@Sendable ([StoredFacts]) -> Void)?
    /// Receives the transactions that a write finished, after its commit.
    package var didFinish: (@Sendable ([FinishedTransaction]) -> Void)?

    package init() {}
}

package final class FactOrigin: Sendable {
    package let source: SourceIdentity
    /// `nil` for an exchange outside any transaction, and for a part whose opening has not arrived.
    package let part: PlacedPart?
    /// The name of an event in its set; `nil` for another fact, and for a code without a name.
    package let eventName: String?
    /// The request of an exchange that ended; `nil` for another fact, and if the request has not arrived.
    package let request: Fact.ExchangeOpened?

    init(source: SourceIdentity, part: PlacedPart?, eventName: String?, request: Fact.ExchangeOpened?) {
        (self.source, self.part, self.eventName, self.request) = (source, part, eventName, request)
    }
}

package struct StoredFacts: Sendable {
    package let source: SourceIdentity
    /// The transactions of the facts, except those whose opening has not arrived.
    package let transactions: [GUID]
    package let factCount: Int
}

/// A finished transaction, which counts once: when both ends of the part that began it are stored.
package struct FinishedTransaction: Sendable, Equatable {
    package let useCase: String
    package let outcome: TransactionOutcome
    package let durationMicroseconds: Int64

    package init(useCase: String, outcome: TransactionOutcome, durationMicroseconds: Int64) {
        (self.useCase, self.outcome, self.durationMicroseconds) = (useCase, outcome, durationMicroseconds)
    }

    static func read(_ parts: Set<Int64>, of source: Int64, _ connection: Connection) throws(WaybillError)
        -> [FinishedTransaction]
    {
        let name = SQL.name(useCase: "p.use_case", event: "-1", otherwise: "'use case ' || p.use_case")
        let row = try connection.statement(
            """
            SELECT \(name), p.outcome, max(0, p.duration_us) FROM parts p CROSS JOIN sources s ON s.id = p.source \
            WHERE p.source = ? AND p.sequence = ? AND p.joined = 0 AND p.closed IS NOT NULL
            """)
        var finished: [FinishedTransaction] = []
        for part in parts.sorted() {
            let found = try row.first(source, part) { row in
                TransactionOutcome(rawValue: row.int(1)).map { outcome in
                    FinishedTransaction(useCase: row.text(0), outcome: outcome, durationMicroseconds: row.int(2))
                }
            }
            if case .some(.some(let transaction)) = found { finished.append(transaction) }
        }
        return finished
    }
}

/// The facts of a share that `willStore` changes or withholds.
///
/// A withheld fact is booked as dropped, so it is recognized if it arrives again. Facts of a withheld part or exchange
/// are withheld, too, because they would have nothing to belong to.
struct Withholding: ~Copyable {
    private(set) var withheld: Set<Int64> = []
    /// Facts that were withheld before.
    private(set) var knownCount = 0

    private let willStore: @Sendable (Fact, FactOrigin) -> Fact?
    private let share: TransactionSet.Share
    private let source: SourceRow
    private let connection: Connection
    private let booked: SequenceRanges
    private var parts: [Int64: PlacedPart?] = [:]
    private var requests: [Int64: Fact.ExchangeOpened?] = [:]
    private var names: [Int: [Int: String]] = [:]
    /// Exchanges within a part. Others are roots, which an eraser finds.
    private var exchanges: [(part: Int64, sequence: Int64)] = []

    init(
        _ share: TransactionSet.Share, of source: SourceRow, _ connection: Connection,
        _ willStore: @escaping @Sendable (Fact, FactOrigin) -> Fact?
    ) throws(WaybillError) {
        (self.share, self.source, self.connection, self.willStore) = (share, source, connection, willStore)
        let roots = SequenceRanges(each: share.facts.flatMap(\.roots))
        booked = try connection.droppedRanges(of: source.id, meeting: roots)
            .filter { $0.reason == .withheld }.sequences
        for part in share.continuedParts { parts[part.part] = PlacedPart(part) }
        for fact in share.facts {
            switch fact.content {
            case .opened(let content):
                parts[fact.sequence] = PlacedPart(content)
            case .exchangeOpened(let content): requests[fact.sequence] = content
            case .event, .attributesSet, .closed, .exchangeClosed, .unknown: break
            }
        }
        for name in share.names { if let event = name.event { names[name.useCase, default: [:]][event] = name.name } }
    }

    /// Asks the host about a new fact, and replaces it by what is to be stored.
    mutating func withholds(_ fact: inout Fact) throws(WaybillError) -> Bool {
        if booked.contains(fact.sequence) || withheld.contains(fact.sequence) {
            knownCount += 1
            return true
        }
        let isOfWithheld = fact.roots.contains { booked.contains($0) || withheld.contains($0) }
        if !isOfWithheld, let kept = willStore(fact, try origin(of: fact)) {
            if case .exchangeOpened(let content) = kept.content { requests[fact.sequence] = content }
            fact = kept
            return false
        }
        withheld.insert(fact.sequence)
        if case .exchangeOpened = fact.content, fact.part != 0 { exchanges.append((fact.part, fact.sequence)) }
        return true
    }

    /// Books the withheld facts, and removes facts of theirs that arrived earlier. Call it after all rows are written.
    func book() throws(WaybillError) {
        guard !withheld.isEmpty else { return }
        let isThere = try connection.statement(
            "SELECT EXISTS(SELECT 1 FROM exchanges WHERE source = ? AND part = ? AND sequence = ?)")
        var singles: [Int64] = []
        for exchange in exchanges
        where try isThere.first(source.id, exchange.part, exchange.sequence, transform: { $0.bool(0) }) == true {
            singles.append(exchange.sequence)
        }
        var eraser = FactEraser(connection, because: .withheld)
        try eraser.erase(SequenceRanges(each: withheld), singles: SequenceRanges(each: singles), of: source)
        try eraser.finish()
    }

    private mutating func origin(of fact: Fact) throws(WaybillError) -> FactOrigin {
        let part = try part(of: fact)
        var (eventName, request): (String?, Fact.ExchangeOpened?)
        switch fact.content {
        case .event(let content): eventName = part.flatMap { names[$0.useCase]?[content.code] }
        case .exchangeClosed(let content): request = try self.request(of: content.exchange, in: fact.part)
        case .opened, .attributesSet, .closed, .exchangeOpened, .unknown: break
        }
        return FactOrigin(source: share.source, part: part, eventName: eventName, request: request)
    }

    private mutating func part(of fact: Fact) throws(WaybillError) -> PlacedPart? {
        guard fact.part != 0 else { return nil }
        if let known = parts[fact.part] { return known }
        let found = try PlacedParts(of: source.id, connection).part(fact.part)
        parts[fact.part] = .some(found)
        return found
    }

    private mutating func request(of exchange: Int64, in part: Int64) throws(WaybillError) -> Fact.ExchangeOpened? {
        if let known = requests[exchange] { return known }
        let found = try connection.statement(
            """
            SELECT \(FactRowReader.exchangeOpenedColumns) FROM exchanges l \
            WHERE l.source = ? AND l.part = ? AND l.sequence = ? AND l.method IS NOT NULL
            """
        ).first(source.id, part, exchange, transform: FactRowReader.exchangeOpened)
        var request: Fact.ExchangeOpened?
        if case .exchangeOpened(let content)? = found?.content { request = content }
        requests[exchange] = .some(request)
        return request
    }
}
