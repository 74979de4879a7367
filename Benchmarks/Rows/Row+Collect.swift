#if Collector
import Foundation
import Hummingbird
import TestSupport
import WaybillCollector
import WaybillCore
import WaybillStore

/// The throughput of a collector over HTTP, with its clients on the same two cores. The bodies are encoded beforehand,
/// and no two are the same.
extension Row {
    /// Sets of 2,000 facts into a synced store: sent, decoded, stored and answered one after the other.
    static let collect = collecting("collect", clients: 1)

    /// The same by four clients at once.
    static let collect4 = collecting("collect4", clients: 4)

    /// Sets of one login over 64 connections, against ``NaiveCollector``. Both take turns, several times.
    static let collectNaive = Row("collectNaive", unit: "facts/s", against: "JSONDecoder, a commit each") {
        try await comparingSmallSets { ours, naive, factCount in
            Comparison(
                value: ours.map { Double(factCount) / $0.seconds }.median,
                baseline: naive.map { Double(factCount) / $0.seconds }.median)
        }
    }

    /// How long the slowest hundredth of those sets waits for its answer.
    static let collectLatency = Row("collectLatency", unit: "ms, p99", against: "JSONDecoder, a commit each") {
        try await comparingSmallSets { ours, naive, _ in
            Comparison(
                value: ours.map(\.slowestHundredth).median * 1000, baseline: naive.map(\.slowestHundredth).median * 1000
            )
        }
    }

    private static func collecting(_ name: String, clients: Int) -> Row {
        Row(name, unit: "facts/s", against: "bare synced inserts") {
            let folder = TemporaryDirectory.place()
            defer { try? FileManager.default.removeItem(at: folder) }
            let (size, rounds, setsPerRound) = (2_000, 12, 8)
            let histories = (0..<clients).map { _ in Interleaved.batches(rounds * setsPerRound / clients, of: size) }
            let requests = histories.map { batches in
                let source = SourceIdentity(
                    id: GUID(), app: "bench", appVersion: "1", device: "", os: "", osVersion: "")
                return batches.map { LoadConnection.request(TransactionSet($0, of: source)) }
            }
            let bare = try BareStore(folder: folder.appending(path: "bare"), isSynced: true)
            let bareBatches = Interleaved.batches(rounds * setsPerRound, of: size)
            let collector = try Collector(folder: folder.appending(path: "collector"), access: .open)
            let server = try await RunningServer(collector.router())

            var values: [Double] = []
            var baselines: [Double] = []
            let share = setsPerRound / clients
            for round in 0..<rounds {
                let chosen = requests.map { Array($0[round * share..<(round + 1) * share]) }
                values.append(Double(setsPerRound * size) / (try await Load.run(chosen, to: server.port).seconds))
                let start = ContinuousClock.now
                for batch in bareBatches[round * setsPerRound..<(round + 1) * setsPerRound] { try bare.insert(batch) }
                baselines.append(Double(setsPerRound * size) / ((ContinuousClock.now - start) / .seconds(1)))
            }
            return Comparison(value: values.median, baseline: baselines.median)
        }
    }

    private static func comparingSmallSets(_ compare: ([Load], [Load], _ factCount: Int) -> Comparison) async throws
        -> Comparison
    {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let (connections, setsEach, rounds) = (64, 20, 5)
        let naive = try await RunningServer(NaiveCollector(folder: folder.appending(path: "naive")).router())
        let ours = try await RunningServer(
            Collector(folder: folder.appending(path: "collector"), access: .open).router())
        var loads: (ours: [Load], naive: [Load]) = ([], [])
        var sequences: Range<Int64> = 0..<0
        for _ in 0..<rounds {
            let requests = (0..<connections).map { _ in
                (0..<setsEach).map { _ in LoadConnection.request(.oneLogin(sequences: &sequences)) }
            }
            loads.ours.append(try await Load.run(requests, to: ours.port))
            loads.naive.append(try await Load.run(requests, to: naive.port))
        }
        return compare(loads.ours, loads.naive, connections * setsEach * sequences.count)
    }
}

extension TransactionSet {
    fileprivate init(_ facts: [Fact], of source: SourceIdentity) {
        let share = Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_760_518_800_000_000)],
            ledger: Ledger(recorded: facts.last?.sequence ?? 0), facts: facts)
        self.init(id: GUID(), sources: [share])
    }

    /// Returns a launch of an app that sends one login of 18 events. The naive collector has one source, so sequences
    /// continue from set to set.
    fileprivate static func oneLogin(sequences: inout Range<Int64>) -> TransactionSet {
        sequences = sequences.upperBound + 1..<sequences.upperBound + 21
        let part = sequences.lowerBound
        let facts = sequences.map { sequence in
            let content: Fact.Content =
                switch sequence {
                case part: .opened(Fact.Opened(transaction: GUID(), useCase: 0))
                case sequences.upperBound - 1: .closed(Fact.Closed(outcome: .succeeded))
                default: .event(Fact.Event(code: Int(sequence - part)))
                }
            return Fact(sequence: sequence, part: part, atMicroseconds: sequence * 1_000, content: content)
        }
        return TransactionSet(
            facts, of: SourceIdentity(id: GUID(), app: "bench", appVersion: "1", device: "", os: "", osVersion: ""))
    }
}
#endif
