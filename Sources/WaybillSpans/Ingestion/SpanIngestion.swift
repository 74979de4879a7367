import WaybillCore
import WaybillStore

/// Makes facts of spans, which have neither source nor sequence of their own: this store records them on behalf of the
/// service, and numbers them as they come.
///
/// A span is known by its ID for as long as its transaction is kept. One that came from elsewhere stands for a part; all
/// others of its process belong to the part of the one that they are below, which ends, and so arrives, after them: they
/// wait for it. So the same facts come of the same spans in any order, however they are grouped, and however often.
struct SpanIngestion {
    /// What has been waiting as long gets a part without the span that it waits for: a process can die before that ends.
    static let patienceMicroseconds: Int64 = 60_000_000
    /// Spans that wait at a time; beyond, those that have waited longest go on without.
    static let waitingLimit = 20_000
    /// By how much a transaction may be older than its span, or seem younger: 366 days. The clock of a device may be
    /// wrong; of other traces, one in a million is taken for a transaction.
    static let ageLimit: Int64 = 366 * 86_400_000_000

    private(set) var verdict = SpanVerdict()
    private(set) var addedNameCount = 0

    private let connection: Connection
    private let redactor: Redactor
    /// The store's secret.
    private let key: [UInt8]
    private let wall: Int64
    private let factsPerTransaction: Int?
    private var nameRoom: Int?
    private let rows: SpanRows
    private let sources: SourceRows
    private let tombstones: Tombstones
    /// Why spans of a transaction are refused; of those that were looked at.
    private var reasons: [GUID: String?] = [:]
    private var partCounts: [GUID: Int] = [:]
    /// How many facts transactions have at most, and whether that was counted one by one.
    private var factCounts: [GUID: (count: Int, isExact: Bool)] = [:]
    /// Those that have got facts.
    private var touched: Set<GUID> = []

    init(
        _ connection: Connection, redactor: Redactor, key: [UInt8], at wall: Int64, factsPerTransaction: Int?,
        nameRoom: Int?
    ) throws(WaybillError) {
        self.connection = connection
        self.redactor = redactor
        self.key = key
        self.wall = wall
        self.factsPerTransaction = factsPerTransaction
        self.nameRoom = nameRoom
        rows = SpanRows(connection)
        sources = SourceRows(connection: connection)
        tombstones = try Tombstones(connection, at: wall)
    }

    /// Takes in the spans of one process.
    ///
    /// - Parameter sender: The ID of the token that they came with.
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
        let source = SpanSource(resource.attributes, sentBy: sender, key: key, redactor: redactor)
        guard let row = try register(source.recorded, proof: source.proof) else {
            return verdict.refuse(
                transactions.values.reduce(0) { $0 + $1.count },
                because: "somebody else speaks for the source of this resource")
        }
        var batch = SpanBatch(of: source.recorded, row: row.id, recorded: row.recorded)
        for (transaction, spans) in transactions.sorted(by: { $0.key < $1.key }) {
            var tree = try SpanTree(of: row.id, in: transaction, rows)
            for span in spans {
                if try tree.add(span, redactor: redactor) {
                    verdict.acceptedCount += 1
                } else {
                    verdict.knownCount += 1
                }
            }
            try place(&tree, in: &batch)
        }
        try write(batch, proof: source.proof)
    }

    /// Gives what has waited since before a time parts of its own, the oldest first.
    ///
    /// - Parameters:
    ///   - limit: At most so many transactions of a source.
    ///   - needed: No more of them once so many spans no longer wait; nil: all.
    mutating func settle(waitingSince time: Int64, limit: Int, needed: Int? = nil) throws(WaybillError) {
        var settledCount = 0
        for (transaction, source) in try rows.waiting(before: time, limit: limit) {
            let found = try connection.statement("SELECT uuid, app FROM sources WHERE id = ?").first(source) { row in
                SourceIdentity(id: row.guid(0), app: row.text(1))
            }
            guard let recorded = found, let row = try sources.find(source) else { continue }
            var batch = SpanBatch(of: recorded, row: source, recorded: row.recorded)
            var tree = try SpanTree(of: source, in: transaction, rows)
            settledCount += tree.nodes.count
            // Each part that is added is a root, which changes nothing for what waits for others.
            for (missing, ids) in try tree.waiting().sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                if tree.nodes[missing] == nil {
                    tree.addPart(for: missing, above: ids, named: recorded.app)
                } else {
                    // They name each other as parents.
                    try refuse(ids, of: tree, in: &batch)
                }
            }
            try place(&tree, in: &batch)
            try write(batch, proof: SpanSource.proof(of: recorded.id, key: key))
            if let needed, settledCount >= needed { return }
        }
    }

    /// Finds what caused the parts that came, once for all of them: that looks at whole transactions.
    mutating func finish() throws(WaybillError) {
        let causes = SpanCauses(connection)
        let leaders = LeadingParts(connection: connection)
        for transaction in touched {
            _ = try causes.find(in: transaction)
            try leaders.decide(transaction)
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

    /// The source's row, made where there is none; nil where somebody else speaks for it.
    private func register(_ source: SourceIdentity, proof: IdentityProof?) throws(WaybillError) -> SourceRow? {
        let share = SpanBatch.share(of: source, proof: proof)
        var ingestion = try Ingestion(share, unread: [], at: wall, connection)
        try ingestion.run(at: wall)
        return ingestion.refusal == nil ? try sources.find(source.id) : nil
    }

    /// Gives the spans whose part is known their facts; the others wait.
    private mutating func place(_ tree: inout SpanTree, in batch: inout SpanBatch) throws(WaybillError) {
        var groups: [SpanTree.Place: [SpanTree.Node]] = [:]
        for node in tree.nodes.values { groups[try tree.place(of: node.span.id), default: []].append(node) }
        let order = groups.keys.sorted { tree.start(of: $0) < tree.start(of: $1) }
        for place in order {
            // By start and ID, so that the order in which they came makes no difference.
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
        var count = 0
        if let known = partCounts[transaction] {
            count = known
        } else {
            count = try connection.integer(
                "SELECT count(*) FROM (SELECT 1 FROM parts WHERE guid = ? LIMIT ?)", transaction,
                TransactionQuota.partLimit)
        }
        defer { partCounts[transaction] = count }
        guard count < TransactionQuota.partLimit else { return false }
        count += 1
        return true
    }

    /// Numbers the facts of spans that belong to one part.
    ///
    /// - Parameter part: nil: it begins with one of them.
    private mutating func emit(
        _ nodes: [SpanTree.Node], into part: Int64?, _ useCase: Int, of tree: SpanTree, in batch: inout SpanBatch
    ) throws(WaybillError) {
        var taken = nodes
        let wanted = nodes.reduce(0) { $0 + $1.facts.facts.count }
        if var room = try room(of: tree.transaction, for: wanted, batch) {
            // Without the one that the part begins with there is no part.
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

    /// How many facts a transaction still takes; nil where it takes however many come.
    ///
    /// - Parameter wanted: Facts are counted one by one only where there may be no room for so many.
    private mutating func room(of transaction: GUID, for wanted: Int, _ batch: SpanBatch) throws(WaybillError) -> Int? {
        guard let factsPerTransaction else { return nil }
        let room = TransactionQuota(source: batch.row, limit: factsPerTransaction, connection)
        if factCounts[transaction] == nil {
            factCounts[transaction] = (try room.mostFacts(of: transaction), false)
        }
        var known = factCounts[transaction] ?? (0, false)
        let added = batch.factCount(of: transaction)
        if !known.isExact, known.count + added + wanted > factsPerTransaction {
            known = (try room.facts(of: transaction), true)
        }
        factCounts[transaction] = known
        let count = known.count + added
        return try room.limit(of: transaction, having: count + wanted) - count
    }

    /// Does not take spans after all. Those that had waited were answered long ago: they are counted where a source
    /// tells what was never taken, for want of room.
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

    /// Books the facts of a source, and which span each was.
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
        var ingestion = try Ingestion(share, unread: [], at: wall, connection)
        ingestion.nameRoom = nameRoom.map { $0 - addedNameCount }
        try ingestion.run(at: wall)
        addedNameCount += ingestion.addedNameCount
        verdict.factCount += ingestion.acceptedCount
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
    /// When it began, in microseconds since 1970.
    var start: Int64 { facts.facts.first?.atMicroseconds ?? 0 }
}

extension SpanTree {
    /// By what places are put in order: parts that are there, then those that begin, by their start.
    fileprivate func start(of place: Place) -> (Int, Int64, UInt64) {
        switch place {
        case .part(let part): (0, part, 0)
        case .root(let id): (1, nodes[id]?.start ?? 0, id.rawValue)
        case .missing(let id): (2, 0, id.rawValue)
        }
    }
}

/// Facts that are made of spans of one source, numbered behind those that it has.
struct SpanBatch {
    let source: SourceIdentity
    /// Its `sources.id`.
    let row: Int64
    /// The sequence of the last fact.
    private(set) var recorded: Int64
    private(set) var facts: [Fact] = []
    private(set) var names: Set<RecordedName> = []
    /// The spans that they were, each with its transaction.
    private(set) var spans: [(transaction: GUID, span: SpanRows.Span)] = []
    /// Facts that are not taken after all.
    var refusedCount = 0
    private var factCounts: [GUID: Int] = [:]

    init(of source: SourceIdentity, row: Int64, recorded: Int64) {
        self.source = source
        self.row = row
        self.recorded = recorded
    }

    func factCount(of transaction: GUID) -> Int { factCounts[transaction] ?? 0 }

    /// What a set would hold of the source, as yet without facts. Times are since 1970, as a span's own.
    static func share(of source: SourceIdentity, proof: IdentityProof?) -> TransactionSet.Share {
        TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)], sourceProof: proof)
    }

    private struct Step {
        /// The opening of the part with its own exchange first, its closing last, and all else by time.
        var rank: Int
        var node: Int
        var fact: Fact
    }

    /// Adds the facts of spans that belong to one part.
    ///
    /// - Parameter part: nil: it begins with one of them.
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
        case .event, .attributesSet, .exchangeClosed: 2
        case .closed: 3
        }
    }
}
