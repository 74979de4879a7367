import WaybillCore
import WaybillReading
import WaybillStore

/// Answers a ``LegsQuery``: client by client, since what its other exchanges say of the clocks is read with those that are asked about.
struct LegsReading {
    private let connection: Connection
    private let batchCount: Int

    /// - Parameter batchCount: How many transactions of a client are divided at a time, which bounds the memory that exchanges take.
    init(_ connection: Connection, batchCount: Int = 50_000) {
        self.connection = connection
        self.batchCount = batchCount
    }

    fileprivate struct Collected {
        var legs: [Leg: Durations] = [:]
        var durations = Durations()
        var uncertainties = Durations()
        var withoutEnd = 0
        var withoutExchange = 0
        var withoutServer = 0
        var withoutSplit = 0
    }

    func answer(_ query: LegsQuery, now wall: Int) throws(WaybillError) -> LegsAnswer {
        let sources = try AskedSources(connection)
        let asked = try AskedTransactions(
            query.filter, segmentation: query.segmentation, reading: .times, sources: sources, now: wall, connection)
        var collected = Segmented(Collected(), by: query.segmentation)
        var ofSource: [AskedTransactions.Transaction] = []
        try asked.forEach { (transaction, _) throws(WaybillError) in
            if let first = ofSource.first, first.source != transaction.source || ofSource.count == batchCount {
                try divide(ofSource, sources, into: &collected)
                ofSource.removeAll(keepingCapacity: true)
            }
            ofSource.append(transaction)
        }
        try divide(ofSource, sources, into: &collected)
        let (total, segments) = collected.result(asked.segmentValues) { $0.segment($1) }
        return LegsAnswer(total: total, segments: segments)
    }

    /// Divides some of one source.
    private func divide(
        _ transactions: [AskedTransactions.Transaction], _ sources: AskedSources, into collected: inout Segmented<Collected>
    ) throws(WaybillError) {
        guard let source = transactions.first?.source, let id = sources.entries[source]?.id else { return }
        let known = try OffsetExchanges(of: source, id: id, opened: Self.times(of: transactions), connection)
        for transaction in transactions {
            guard let closing = transaction.closing else {
                collected.add(transaction) { $0.withoutEnd += 1 }
                continue
            }
            // Threads may take their time in one order and their sequence in another.
            let span = transaction.at...max(transaction.at, closing.at)
            let division = LegsDivision(span, known.exchanges(of: transaction.sequence), known)
            collected.add(transaction) { $0.add(division, span.upperBound - span.lowerBound) }
        }
    }

    /// When they were sending, and so far around it that other exchanges say something.
    private static func times(of transactions: [AskedTransactions.Transaction]) -> ClosedRange<Int> {
        var (first, last) = (Int.max, Int.min)
        for transaction in transactions {
            first = min(first, transaction.at)
            last = max(last, transaction.at, transaction.closing?.at ?? 0)
        }
        return first - OffsetSamples.windowMicroseconds...last + OffsetSamples.windowMicroseconds
    }
}

extension LegsReading.Collected {
    fileprivate mutating func add(_ division: LegsDivision?, _ duration: Int) {
        guard let division else {
            withoutExchange += 1
            return
        }
        durations.append(duration)
        for (leg, microseconds) in division.legs { legs[leg, default: Durations()].append(microseconds) }
        for microseconds in division.uncertainties { uncertainties.append(microseconds) }
        if division.legs[.exchange] != nil { withoutServer += 1 }
        if division.legs[.network] != nil { withoutSplit += 1 }
    }

    fileprivate func segment(_ value: String?) -> LegsSegment {
        var (durations, uncertainties) = (durations, uncertainties)
        let shares = Leg.allCases.map { leg in
            var microseconds = legs[leg] ?? Durations()
            var total = 0
            microseconds.forEach { total += $0 }
            return LegsSegment.Share(leg: leg, totalMicroseconds: total, statistics: DurationStatistics(&microseconds))
        }
        return LegsSegment(
            value: value, legs: shares, duration: DurationStatistics(&durations), withoutEnd: withoutEnd,
            withoutExchange: withoutExchange, withoutServer: withoutServer, withoutSplit: withoutSplit,
            uncertainty: DurationStatistics(&uncertainties))
    }
}
