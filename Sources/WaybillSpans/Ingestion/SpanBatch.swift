import WaybillCore
import WaybillStore

/// Facts that are made of spans of one source, numbered behind those that it has.
struct SpanBatch {
    let source: RecordedSource
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

    init(of source: RecordedSource, row: Int64, recorded: Int64) {
        self.source = source
        self.row = row
        self.recorded = recorded
    }

    func factCount(of transaction: GUID) -> Int { factCounts[transaction] ?? 0 }

    /// What a set would hold of the source, as yet without facts. Times are since 1970, as a span's own.
    static func share(of source: RecordedSource, proof: IdentityProof?) -> TransactionSet.Share {
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
