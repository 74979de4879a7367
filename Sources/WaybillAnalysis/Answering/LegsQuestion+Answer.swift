public import WaybillCore
import WaybillReading
import WaybillStore

/// Client by client, since what its other exchanges say of the clocks is read with those that are asked about.
extension LegsQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> LegsAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<PartialLegs> {
        try partial(from: context, batchCount: 50_000)
    }

    /// - Parameter batchCount: How many transactions of a client are divided at a time, which bounds the memory that
    ///   exchanges take.
    func partial(from context: AnswerContext, batchCount: Int) throws(WaybillError) -> Folded<PartialLegs> {
        let sources = try SourceDirectory(context.connection)
        let all = try TransactionCursor(
            filter, segmentation: segmentation, reading: .times, sources: sources, context)
        guard !context.isPartial else { return try undivided(all, sources, context) }
        let caused = all.count < JoinedParts.many ? nil : try CausedParts(by: context.connections)
        return try context.fold(all, into: Segmented(CollectedLegs())) { (asked, collected) throws(WaybillError) in
            let connection = asked.connection
            var ofSource: [TransactionCursor.Transaction] = []
            try asked.forEach { (transaction, _) throws(WaybillError) in
                if let first = ofSource.first, first.source != transaction.source || ofSource.count == batchCount {
                    try Self.divide(ofSource, sources, caused, into: &collected, connection)
                    ofSource.removeAll(keepingCapacity: true)
                }
                ofSource.append(transaction)
            }
            try Self.divide(ofSource, sources, caused, into: &collected, connection)
        }.map { PartialLegs(divided: $0.named(all.segmentValues)) }
    }

    package func answer(_ found: consuming Folded<PartialLegs>) throws(WaybillError) -> LegsAnswer {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.all().answer(by: segmentation) { $0.segment($1) }
        answer.weighed = asked.weighing
        let total = answer.total
        guard total.duration.count == 0 else { return answer }
        answer.whyEmpty = asked.whyNone { found in
            "None of \(found) was closed with an exchange: \(total.withoutEnd) without a close, "
                + "\(total.withoutExchange) without an exchange."
        }
        return answer
    }

    /// Divides some of one source.
    private static func divide(
        _ transactions: [TransactionCursor.Transaction], _ sources: SourceDirectory, _ caused: CausedParts?,
        into collected: inout Segmented<CollectedLegs>,
        _ connection: Connection
    ) throws(WaybillError) {
        guard let source = transactions.first?.source, let id = sources.entries[source]?.id else { return }
        let known = try OffsetExchanges(
            of: source, id: id, opened: times(of: transactions), among: caused, connection)
        for transaction in transactions {
            guard let closing = transaction.closing else {
                collected.add(transaction) { $0.withoutEnd.addWeight(transaction.weight) }
                continue
            }
            let span = transaction.span(until: closing.at)
            let division = LegsDivision(span, known.exchanges(of: transaction.sequence), known)
            collected.add(transaction) {
                $0.add(division, span.upperBound - span.lowerBound, weight: transaction.weight)
            }
        }
    }

    /// When they were sending, and so far around it that other exchanges say something.
    private static func times(of transactions: [TransactionCursor.Transaction]) -> ClosedRange<Int64> {
        var (first, last) = (Int64.max, Int64.min)
        for transaction in transactions {
            first = min(first, transaction.at)
            last = max(last, transaction.at, transaction.closing?.at ?? 0)
        }
        return first - OffsetSamples.windowMicroseconds...last + OffsetSamples.windowMicroseconds
    }
}

package struct CollectedLegs: Mergeable {
    private var legs = LegTable(repeating: Durations())
    private var durations = Durations()
    private var uncertainties = Durations()
    /// Weights, added up; so are the following.
    var withoutEnd: Int64 = 0
    private var withoutExchange: Int64 = 0
    private var withoutServer: Int64 = 0
    private var withoutSplit: Int64 = 0

    mutating func add(_ division: LegsDivision?, _ duration: Int64, weight: Int64) {
        guard let division else {
            withoutExchange.addWeight(weight)
            return
        }
        durations.append(duration, weight: weight)
        for leg in Leg.allCases {
            if let microseconds = division.legs[leg] { legs[leg].append(microseconds, weight: weight) }
        }
        for microseconds in division.uncertainties { uncertainties.append(microseconds, weight: weight) }
        if division.legs[.exchange] != nil { withoutServer.addWeight(weight) }
        if division.legs[.network] != nil { withoutSplit.addWeight(weight) }
    }

    package mutating func merge(_ other: consuming CollectedLegs) {
        for leg in Leg.allCases { legs[leg].merge(other.legs[leg]) }
        durations.merge(other.durations)
        uncertainties.merge(other.uncertainties)
        withoutEnd.addWeight(other.withoutEnd)
        withoutExchange.addWeight(other.withoutExchange)
        withoutServer.addWeight(other.withoutServer)
        withoutSplit.addWeight(other.withoutSplit)
    }

    /// Leaves the durations in another order.
    mutating func segment(_ value: String?) -> LegsSegment {
        let shares = Leg.allCases.map { leg in
            var total = Duration.zero
            legs[leg].forEach { total += .microseconds($0.times($1)) }
            return LegsSegment.Share(leg: leg, total: total, statistics: DurationStatistics(&legs[leg]))
        }
        return LegsSegment(
            value: value, legs: shares, duration: DurationStatistics(&durations),
            withoutEnd: Weights.count(withoutEnd), withoutExchange: Weights.count(withoutExchange),
            withoutServer: Weights.count(withoutServer), withoutSplit: Weights.count(withoutSplit),
            uncertainty: DurationStatistics(&uncertainties))
    }
}
