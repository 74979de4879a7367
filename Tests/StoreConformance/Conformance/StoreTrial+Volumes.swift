import WaybillCore
import WaybillQueries

/// Compares the numbers above lists: each step of time must have as many rows of each outcome as the list.
extension StoreTrial {
    func compareVolume(
        _ filter: TransactionFilter, _ known: NaiveAnswers
    ) async throws(StoreConformance.Finding) {
        let rows = known.runs.filter { known.passes(filter, $0) }.map { ($0.begun, $0.outcome) }
        try await compareVolume(ListRequest(matching: filter), of: .transactions, rows)
    }

    func compareVolume(_ filter: ExchangeFilter, _ known: NaiveAnswers) async throws(StoreConformance.Finding) {
        let rows = known.exchanges.filter { known.passes(filter, $0) }.map { exchange in
            let isRefused = exchange.closing?.closed.status.map { $0 >= 400 } == true
            return (exchange.wall, isRefused ? .failed : exchange.state.outcome)
        }
        try await compareVolume(ListRequest(matching: filter), of: .exchanges, rows)
    }

    private func compareVolume(
        _ request: ListRequest, of subject: ListRequest.Subject, _ rows: [(time: Int64, outcome: TransactionOutcome)]
    ) async throws(StoreConformance.Finding) {
        guard let store = store as? any BrowsableStore else { return }
        var volume: ListVolume?
        do {
            volume = try await store.volume(request, of: subject, within: .seconds(600), borders: Self.borders)
        } catch is QueryFailure {
            return  // an erasure removed a name; the comparison of lists checks that both refuse
        } catch {}  // reported below, unless there are no rows
        var counts = [[TransactionOutcome: Int]](repeating: [:], count: volume?.counts.count ?? 0)
        let borders = volume?.borders ?? []
        var outside = 0
        for row in rows {
            if let step = borders.indices.dropLast().last(where: {
                borders[$0] <= row.time && row.time < borders[$0 + 1]
            }) {
                counts[step][row.outcome, default: 0] += 1
            } else {
                outside += 1
            }
        }
        try await compare("\(subject) outside the volume of \(request.items)", 0) { outside }
        try await compare("the volume of \(subject) matching \(request.items)", counts.map { $0 as [_: _]? }) {
            volume?.counts ?? []
        }
    }

    /// Seven steps, some without rows.
    @Sendable private static func borders(_ times: ClosedRange<Int64>) -> [Int64] {
        let length = (times.upperBound - times.lowerBound) / 7 + 1
        return (0...7).map { times.lowerBound + $0 * length }
    }
}

extension ExchangeRecord.State {
    fileprivate var outcome: TransactionOutcome {
        switch self {
        case .completed, .mocked: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        case .interrupted: .interrupted
        case .inProgress: .open
        }
    }
}
