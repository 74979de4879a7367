import WaybillCore
import WaybillStore

/// Makes facts from spans, and numbers them on behalf of the service. A span with a remote parent opens a part.
/// Other spans belong to the part of their parent, which arrives after them, so they wait for it.
/// As a result, the same spans become the same facts in any order and grouping.
struct SpanIngestion {
    /// The time after which waiting spans get a part without its root, because the process may have died.
    static let patienceMicroseconds: Int64 = 60_000_000
    /// If more spans wait, the oldest ones stop waiting.
    static let waitingLimit = 20_000
    /// The maximum time between a transaction and its span: 366 days, because a device's clock may be wrong.
    /// One in a million other traces is mistaken for a transaction.
    static let ageLimit: Int64 = 366 * 86_400_000_000

    private(set) var verdict = SpanVerdict()
    private(set) var shares: [TransactionSet.Share] = []

    private let store: Store
    private var connection: Connection { store.connection }
    private let redactor: Redactor
    private let writer: SpanWriter
    private let wall: Int64
    private let rows: SpanRows
    private let tombstones: Tombstones
    /// The reason for refusing each checked transaction; `nil` if its spans are accepted.
    private var reasons: [GUID: String?] = [:]
    private var partCounts: [GUID: Int] = [:]
    /// The upper bound of each transaction's facts, and whether it is exact.
    private var factCounts: [GUID: (count: Int, isExact: Bool)] = [:]
    private var touched: Set<GUID> = []

    init(_ store: Store, redactor: Redactor, by writer: SpanWriter, at wall: Int64) throws(WaybillError) {
        self.store = store
        self.redactor = redactor
        self.writer = writer
        self.wall = wall
        rows = SpanRows(store.connection)
        tombstones = try Tombstones(store.connection, at: wall)
    }

    mutating func add(_ resource: ReceivedResource, sentBy sender: String) throws(WaybillError) {
        var transactions: [GUID: [ReceivedSpan]] = [:]
        for span in resource.spans {
            if let reason = try reasonToRefuse(span) {
                verdict.refuse(because: reason)
            } else {
                transactions[span.transaction, default: []].append(span)
            }
        }
        guard !transactions.isEmpty else { return }
        let source = SpanSource(resource.attributes, sentBy: sender, writer, redactor: redactor)
        guard let row = try register(source.recorded, proof: source.proof) else {
            return verdict.refuse(
                transactions.values.reduce(0) { $0 + $1.count },
                because: "somebody else speaks for the source of this resource")
        }
        var batch = SpanBatch(source: source.recorded, row: row.id, recorded: row.recorded)
        for (transaction, spans) in transactions.sorted(by: { $0.key < $1.key }) {
            var tree = try SpanTree(of: row.id, in: transaction, rows)
            for span in spans {
                let isElsewhere =
                    if writer.isOneOfMany { try rows.isKnown(span.id, besides: row.id, in: transaction) } else { false }
                // The original would keep what the host changes or withholds.
                let keepsOriginal = store.hooks.willStore == nil
                if !isElsewhere, try tree.add(span, redactor: redactor, keepsOriginal: keepsOriginal) {
                    verdict.acceptedCount += 1
                } else {
                    verdict.knownCount += 1
                }
            }
            try place(&tree, in: &batch)
        }
        try write(batch, proof: source.proof)
    }

    /// Makes parts for spans that have waited since before a time, the oldest first.
    /// It reads `limit` transactions at most, and stops once `needed` spans no longer wait.
    mutating func settle(waitingSince time: Int64, limit: Int, needed: Int? = nil) throws(WaybillError) {
        var settledCount = 0
        for (transaction, source) in try rows.waiting(before: time, limit: limit) {
            settledCount += try settle(transaction, source)
            if let needed, settledCount >= needed { return }
        }
    }

    /// Returns how many spans waited.
    mutating func settle(_ transaction: GUID, _ source: Int64) throws(WaybillError) -> Int {
        let found = try connection.statement("SELECT uuid, app FROM sources WHERE id = ?").first(source) { row in
            SourceIdentity(id: row.guid(0), app: row.text(1))
        }
        guard let recorded = found, let row = try connection.sourceRow(source) else { return 0 }
        var batch = SpanBatch(source: recorded, row: source, recorded: row.recorded)
        var tree = try SpanTree(of: source, in: transaction, rows)
        let count = tree.nodes.count
        // Each added part is a root, which does not affect other waiting spans.
        for (missing, ids) in try tree.waiting().sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if tree.nodes[missing] == nil {
                tree.addPart(for: missing, above: ids, named: recorded.app)
            } else {
                // These spans are each other's parents.
                try refuse(ids, of: tree, in: &batch)
            }
        }
        try place(&tree, in: &batch)
        try write(batch, proof: writer.proof(of: recorded.id))
        return count
    }

    /// Finds the causes of all new parts at the end, because that reads whole transactions.
    mutating func finish() throws(WaybillError) {
        let causes = SpanCauses(connection)
        for transaction in touched {
            _ = try causes.find(in: transaction)
            try connection.decideLeader(of: transaction)
        }
        touched = []
    }

    // MARK: Which are taken

    private mutating func reasonToRefuse(_ span: ReceivedSpan) throws(WaybillError) -> String? {
        if span.parent == span.id { return "a span that is its own parent" }
        if let known = reasons[span.transaction] { return known }
        let reason = try reasonToRefuse(span.transaction, at: span.startMicroseconds)
        reasons[span.transaction] = .some(reason)
        return reason
    }

    private func reasonToRefuse(_ transaction: GUID, at start: Int64) throws(WaybillError) -> String? {
        let opened = Fact.Opened(transaction: transaction, useCase: 0, isJoined: true)
        if try tombstones.refuse(opened, begunBeside: []) { return "its transaction was erased" }
        // RFC 9562, section 5.7: version 7, variant 0b10, and the milliseconds since 1970.
        let isShaped = transaction.high >> 12 & 0xF == 7 && transaction.low >> 62 == 0b10
        if isShaped, abs(transaction.millisecondsSince1970 * 1000 - start) <= Self.ageLimit { return nil }
        let isKnown = try connection.integer("SELECT EXISTS(SELECT 1 FROM parts WHERE guid = ?)", transaction) != 0
        return isKnown ? nil : "its trace is no transaction of Waybill"
    }

    // MARK: Facts

    /// Finds the row of a source, or creates it; `nil` if another sender owns the source.
    private func register(_ source: SourceIdentity, proof: IdentityProof?) throws(WaybillError) -> SourceRow? {
        let ingestion = try store.book(SpanBatch.share(of: source, proof: proof), at: wall)
        return ingestion.refusal == nil ? try connection.sourceRow(source.id) : nil
    }

    /// Makes the facts of spans whose part is known. The others wait.
    private mutating func place(_ tree: inout SpanTree, in batch: inout SpanBatch) throws(WaybillError) {
        var groups: [SpanTree.Place: [SpanTree.Node]] = [:]
        for node in tree.nodes.values { groups[try tree.place(of: node.span.id), default: []].append(node) }
        let order = groups.keys.sorted { tree.start(of: $0) < tree.start(of: $1) }
        for place in order {
            // Sorted by start and ID, because the order of arrival must not matter.
            let nodes = (groups[place] ?? []).sorted {
                ($0.start, $0.span.id.rawValue) < ($1.start, $1.span.id.rawValue)
            }
            switch place {
            case .missing:
                for node in nodes where node.isNew {
                    var row = node.span
                    row.waiting = node.facts.encoded
                    try rows.write(row, of: batch.row, in: tree.transaction, at: wall)
                }
            case .part(let part):
                let useCase: Int = try connection.integer(
                    "SELECT ifnull(use_case, 0) FROM parts WHERE source = ? AND sequence = ?", batch.row, part)
                try emit(nodes, into: part, useCase, of: tree, in: &batch)
            case .root(let id):
                guard let root = nodes.first(where: { $0.span.id == id }), let first = root.facts.names.first,
                    try hasRoom(forPartOf: tree.transaction)
                else {
                    try refuse(nodes.map(\.span.id), of: tree, in: &batch)
                    continue
                }
                try emit(nodes, into: nil, first.useCase, of: tree, in: &batch)
            }
        }
    }

    private mutating func hasRoom(forPartOf transaction: GUID) throws(WaybillError) -> Bool {
        let count: Int =
            if let known = partCounts[transaction] {
                known
            } else {
                try connection.integer(
                    "SELECT count(*) FROM (SELECT 1 FROM parts WHERE guid = ? LIMIT ?)", transaction,
                    TransactionQuota.partLimit)
            }
        partCounts[transaction] = count + 1
        return count < TransactionQuota.partLimit
    }

    /// Numbers the facts of a part's spans. If `part` is `nil`, one of the spans opens it.
    private mutating func emit(
        _ nodes: [SpanTree.Node], into part: Int64?, _ useCase: Int, of tree: SpanTree, in batch: inout SpanBatch
    ) throws(WaybillError) {
        var taken = nodes
        let wanted = nodes.reduce(0) { $0 + $1.facts.facts.count }
        if var room = try room(of: tree.transaction, for: wanted, batch) {
            let needed = nodes.first { $0.facts.isPart }?.facts.facts.count ?? 0
            guard needed <= room else { return try refuse(nodes.map(\.span.id), of: tree, in: &batch) }
            room -= needed
            taken = nodes.filter { node in
                if node.facts.isPart { return true }
                guard node.facts.facts.count <= room else { return false }
                room -= node.facts.facts.count
                return true
            }
            let names = Set(taken.map(\.span.id))
            try refuse(nodes.map(\.span.id).filter { !names.contains($0) }, of: tree, in: &batch)
        }
        batch.add(taken, to: part, useCase, of: tree.transaction)
    }

    /// The remaining facts of a transaction; `nil` without a limit. It is exact only if `wanted` facts may not fit.
    private mutating func room(of transaction: GUID, for wanted: Int, _ batch: SpanBatch) throws(WaybillError) -> Int? {
        guard let limit = store.factsPerTransaction else { return nil }
        let room = TransactionQuota(source: batch.row, limit: limit, connection)
        if factCounts[transaction] == nil {
            factCounts[transaction] = (try room.mostFacts(of: transaction), false)
        }
        var known = factCounts[transaction] ?? (0, false)
        let added = batch.factCount(of: transaction)
        if !known.isExact, known.count + added + wanted > limit {
            known = (try room.facts(of: transaction), true)
        }
        factCounts[transaction] = known
        let count = known.count + added
        return try room.limit(of: transaction, having: count + wanted) - count
    }

    /// Refuses spans for lack of room. Those that waited were acknowledged, so the source's ledger counts them.
    private mutating func refuse(_ ids: [SpanID], of tree: SpanTree, in batch: inout SpanBatch) throws(WaybillError) {
        for id in ids {
            guard let node = tree.nodes[id] else { continue }
            if node.isNew {
                verdict.acceptedCount -= 1
                verdict.refuse(because: "its transaction has as many parts or facts as it may have")
            } else {
                batch.refusedCount += node.facts.facts.count
                try connection.statement("DELETE FROM spans WHERE guid = ? AND source = ? AND span = ?").run(
                    tree.transaction, batch.row, id)
            }
        }
    }

    private mutating func write(_ batch: SpanBatch, proof: IdentityProof?) throws(WaybillError) {
        var share = SpanBatch.share(of: batch.source, proof: proof)
        (share.facts, share.names) = (batch.facts, Array(batch.names))
        share.ledger.recorded = batch.recorded
        if batch.refusedCount > 0 {
            share.ledger.refused =
                try connection.integer("SELECT refused FROM sources WHERE id = ?", batch.row)
                + Int64(batch.refusedCount)
        }
        guard !share.facts.isEmpty || batch.refusedCount > 0 else { return }
        let ingestion = try store.book(share, at: wall)
        shares.append(share)
        verdict.factCount += ingestion.takenCount
        touched.formUnion(ingestion.undecided)
        for (transaction, span) in batch.spans {
            try rows.write(span, of: batch.row, in: transaction, at: wall)
            touched.insert(transaction)
        }
        for transaction in Set(batch.spans.map(\.transaction)) {
            factCounts[transaction]?.count += batch.factCount(of: transaction)
        }
    }
}

extension SpanTree.Node {
    /// Microseconds since 1970.
    var start: Int64 { facts.facts.first?.atMicroseconds ?? 0 }
}

extension SpanTree {
    fileprivate func start(of place: Place) -> (Int, Int64, UInt64) {
        switch place {
        case .part(let part): (0, part, 0)
        case .root(let id): (1, nodes[id]?.start ?? 0, id.rawValue)
        case .missing(let id): (2, 0, id.rawValue)
        }
    }
}

struct SpanBatch {
    let source: SourceIdentity
    let row: Int64
    private(set) var recorded: Int64
    private(set) var facts: [Fact] = []
    private(set) var names: Set<RecordedName> = []
    private(set) var spans: [(transaction: GUID, span: SpanRows.Span)] = []
    var refusedCount = 0
    private(set) var factCounts: [GUID: Int] = [:]

    func factCount(of transaction: GUID) -> Int { factCounts[transaction] ?? 0 }

    /// A share of the source without facts. Its times are since 1970, like those of spans.
    static func share(of source: SourceIdentity, proof: IdentityProof?) -> TransactionSet.Share {
        TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)], sourceProof: proof)
    }

    private struct Step {
        /// The part's opening and exchange come first, its closing comes last, and time orders the rest.
        var rank: Int
        var node: Int
        var fact: Fact
    }

    mutating func add(_ nodes: [SpanTree.Node], to part: Int64?, _ useCase: Int, of transaction: GUID) {
        var steps: [Step] = []
        for (index, node) in nodes.enumerated() {
            steps += node.facts.facts.map { Step(rank: node.rank(of: $0), node: index, fact: $0) }
            for name in node.facts.names {
                names.insert(RecordedName(useCase: useCase, event: name.event, name: name.name))
            }
        }
        let part = part ?? recorded + 1
        let order = steps.indices.sorted { left, right in
            let (a, b) = (steps[left], steps[right])
            return (a.rank, a.fact.atMicroseconds, left) < (b.rank, b.fact.atMicroseconds, right)
        }
        var sequences: [Int: [Int64: Int64]] = [:]
        for index in order {
            recorded += 1
            var (fact, node) = (steps[index].fact, steps[index].node)
            sequences[node, default: [:]][fact.sequence] = recorded
            if case .exchangeClosed(var content) = fact.content {
                content.exchange = sequences[node]?[content.exchange] ?? recorded
                fact.content = .exchangeClosed(content)
            }
            (fact.sequence, fact.part) = (recorded, part)
            facts.append(fact)
        }
        factCounts[transaction, default: 0] += steps.count
        for (index, node) in nodes.enumerated() {
            var span = node.span
            span.part = part
            span.fact = span.fact ?? node.facts.facts.first.flatMap { sequences[index]?[$0.sequence] }
            span.waiting = nil
            span.isUncaused = span.fact == part && span.parent != nil
            spans.append((transaction, span))
        }
    }
}

extension SpanTree.Node {
    fileprivate func rank(of fact: Fact) -> Int {
        guard facts.isPart else { return 2 }
        return switch fact.content {
        case .opened: 0
        case .exchangeOpened: 1
        case .event, .attributesSet, .exchangeClosed, .unknown: 2
        case .closed: 3
        }
    }
}
