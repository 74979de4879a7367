import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Writes the facts of one source by hand. Its clock says `wall` at its start. By default, each fact is one second
/// after the previous one.
final class FactWriter {
    var source: SourceIdentity
    var clocks: [ClockAnchor]
    var names: [RecordedName] = []
    private(set) var facts: [Fact] = []
    /// The proofs of the source and of its installation, which the sets carry.
    var proof: IdentityProof? = IdentityProof()
    var installationProof: IdentityProof? = IdentityProof()
    private var now = 0

    static let wall: Int64 = 1_760_000_000_000_000

    init(_ app: String = "app", version: String = "1", wall: Int64 = FactWriter.wall) {
        source = SourceIdentity(
            id: GUID(), app: app, appVersion: version, device: "device", os: "Linux", osVersion: "6")
        clocks = [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: wall)]
    }

    var id: GUID { source.id }

    @discardableResult
    func open(
        _ transaction: GUID, useCase: Int = 0, joined: Bool = false, timeout: Int64 = 86_400_000_000,
        cause: FactID? = nil, parent: GUID? = nil, parentPart: Int64? = nil,
        attributes: Attributes = [:], sampling: Fact.Sampling? = nil, at seconds: Int? = nil
    ) -> Int64 {
        add(
            .opened(
                Fact.Opened(
                    transaction: transaction, useCase: useCase, isJoined: joined, timeoutMicroseconds: timeout,
                    cause: cause, parent: parent, parentPart: parentPart,
                    attributes: attributes, sampling: sampling)
            ), part: nil, at: seconds)
    }

    @discardableResult
    func event(
        _ code: Int, part: Int64, error: RecordedError? = nil, attributes: Attributes = [:], at seconds: Int? = nil
    ) -> Int64 {
        add(.event(Fact.Event(code: code, error: error, attributes: attributes)), part: part, at: seconds)
    }

    @discardableResult
    func close(_ part: Int64, _ outcome: TransactionOutcome, error: RecordedError? = nil, at seconds: Int? = nil)
        -> Int64
    {
        add(.closed(Fact.Closed(outcome: outcome, error: error)), part: part, at: seconds)
    }

    @discardableResult
    func openExchange(
        _ exchange: Fact.ExchangeOpened = Fact.ExchangeOpened(method: "GET", path: "/"), part: Int64,
        at seconds: Int? = nil
    )
        -> Int64
    {
        add(.exchangeOpened(exchange), part: part, at: seconds)
    }

    @discardableResult
    func closeExchange(_ exchange: Fact.ExchangeClosed, part: Int64, at seconds: Int? = nil) -> Int64 {
        add(.exchangeClosed(exchange), part: part, at: seconds)
    }

    private func add(_ content: Fact.Content, part: Int64?, at seconds: Int?) -> Int64 {
        now = seconds ?? now + 1
        let sequence = Int64(facts.count + 1)
        facts.append(
            Fact(sequence: sequence, part: part ?? sequence, atMicroseconds: Int64(now) * 1_000_000, content: content))
        return sequence
    }

    /// Returns a share with some of its facts, chosen by sequence; by default with all.
    func share(_ sequences: ClosedRange<Int64>? = nil, ended: Bool = false, dropped: [DroppedRange] = [])
        -> TransactionSet.Share
    {
        TransactionSet.Share(
            source: source, clocks: clocks, hasEnded: ended, names: names, ledger: Ledger(recorded: Int64(facts.count)),
            dropped: dropped,
            facts: facts.filter { sequences?.contains($0.sequence) ?? true }, sourceProof: proof,
            installationProof: source.installation == nil ? nil : installationProof)
    }

    func set(
        _ sequences: ClosedRange<Int64>? = nil, ended: Bool = false, dropped: [DroppedRange] = []
    ) -> TransactionSet {
        TransactionSet(id: GUID(), sources: [share(sequences, ended: ended, dropped: dropped)])
    }

    /// Registers with a store and appends its facts.
    func record(into store: Store, _ sequences: ClosedRange<Int64>? = nil) throws {
        if let installation = source.installation, let installationProof {
            try store.connection.registerInstallation(installation, proof: installationProof)
        }
        if let proof { try store.register(source, proof: proof) } else { try store.register(source) }
        try store.append(
            RecordedBatch(
                source: id, facts: facts.filter { sequences?.contains($0.sequence) ?? true }, names: names,
                clocks: clocks))
    }
}

extension Store {
    @discardableResult
    func ingest(_ decoded: TransactionSet) throws -> Receipt { try ingest(decoded, receivedAt: FactWriter.wall) }

    /// Leases as if no other process existed.
    func lease(_ limit: LeaseLimit = LeaseLimit(), owner: GUID = GUID(high: 1, low: 1), at uptime: Int64 = 0) throws
        -> TransactionSet?
    {
        try lease(owner: owner, now: uptime, expiresIn: 1_000, limit: limit, isAlive: { _ in false })
    }
}

extension StoreReader {
    /// Returns every transaction, whoever began it, as read long before anything times out.
    func all(_ filter: TransactionFilter? = nil, at wall: Int64 = FactWriter.wall) throws -> [TransactionSummary] {
        var all = TransactionFilter()
        all.beginner = .any
        return try transactions(matching: filter ?? all, limit: 1_000, after: nil, now: wall).rows
    }
}
