import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Estimates of the offset between two clocks are correct within their stated uncertainty.
@Suite(.timeLimit(.minutes(10))) struct OffsetTests {
    @Test(arguments: seeds(0..<25)) func theTrueOffsetLiesWithinTheUncertainty(seed: Int) throws {
        var network = SimulatedNetwork(seed: seed)
        for _ in 0..<30 { network.runTransaction(around: Int64.random(in: 0...900_000_000, using: &network.random)) }
        let histories = network.histories()
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: network.random)
        for set in sets.sets(of: histories) { try store.ingest(set) }
        let reader = try StoreReader(place)
        let machines = Dictionary(
            uniqueKeysWithValues: histories.enumerated().map { ($0.element.source.id, $0.offset) })
        var machineOfRow: [Int64: Int] = [:]
        try reader.connection.statement("SELECT id, uuid FROM sources").forEachRow { row in
            machineOfRow[row.int(0)] = machines[row.guid(1)]
        }

        var estimateCount = 0
        for (row, client) in machineOfRow {
            let known = try OffsetExchanges(
                of: row, id: histories[client].source.id, opened: 0...10_000_000_000, reader.connection)
            for exchange in known.exchanges {
                guard let estimate = known.estimate(for: exchange) else { continue }
                estimateCount += 1
                let server = try #require(exchange.server.flatMap { machineOfRow[$0.source] })
                let time = try #require(exchange.server.flatMap { network.time(of: $0.part, in: server) })
                let offset = network.offset(from: server, to: client, at: time)
                #expect(
                    Double(estimate.interval.low) <= offset && offset <= Double(estimate.interval.high),
                    "seed \(seed): \(exchange)")
                #expect(
                    abs(Double(estimate.interval.middle) - offset) <= Double(estimate.interval.uncertainty),
                    "seed \(seed)")
            }
        }
        #expect(estimateCount > 10, "too few for the check to mean anything")
    }

    @Test func moreExchangesBringTheEstimateNearer() throws {
        var (uncertainties, errors): ([Int64], [Int64]) = ([], [])
        for count in [4, 16, 64] {
            var (uncertainty, error): (Int64, Int64) = (0, 0)
            for seed in 0..<50 {
                let estimate = try #require(OffsetSamples(samples(count, seed: seed)).estimate(at: 0, besides: 0))
                uncertainty += estimate.interval.uncertainty
                error += abs(estimate.interval.middle - Self.offset)
                #expect(estimate.sampleCount == count)
            }
            uncertainties.append(uncertainty / 50)
            errors.append(error / 50)
        }
        #expect(
            uncertainties == uncertainties.sorted(by: >) && uncertainties[2] * 4 < uncertainties[0], "\(uncertainties)")
        #expect(errors == errors.sorted(by: >) && errors[2] * 2 < errors[0], "\(errors)")
    }

    private static let offset: Int64 = 7_000_000

    /// Returns one sample for each millisecond, with up to 20 ms in one direction and up to 100 ms in the other.
    private func samples(_ count: Int, seed: Int) -> [OffsetSamples.Sample] {
        var random = RandomNumbers(seed: seed)
        return (1...Int64(count)).map { number in
            let request = Int64.random(in: 100...20_000, using: &random)
            let response = Int64.random(in: 100...100_000, using: &random)
            return OffsetSamples.Sample(
                at: number * 1_000, sequence: number,
                interval: OffsetInterval(low: Self.offset - request, high: Self.offset + response))
        }
    }

    @Test func anExchangeSaysNothingOfItself() {
        let samples = OffsetSamples(samples(3, seed: 1))
        #expect(samples.estimate(at: 2_000, besides: 2) == nil)
        #expect(samples.estimate(at: 2_000, besides: 9)?.sampleCount == 3)
    }

    /// The clock of a suspended machine stops. The samples before the pause contradict those after it.
    @Test func whatLiesBeyondAContradictionIsNotUsed() throws {
        let before = (1...Int64(5)).map {
            OffsetSamples.Sample(at: $0 * 1_000, sequence: $0, interval: OffsetInterval(low: -50, high: 50))
        }
        let after = (6...Int64(10)).map {
            OffsetSamples.Sample(at: $0 * 1_000, sequence: $0, interval: OffsetInterval(low: 8_950, high: 9_050))
        }
        let samples = OffsetSamples(before + after)
        let early = try #require(samples.estimate(at: 2_000, besides: 2))
        #expect(early.sampleCount == 4)
        #expect(abs(early.interval.middle) < 10)
        let late = try #require(samples.estimate(at: 9_000, besides: 9))
        #expect(late.sampleCount == 4)
        #expect(abs(late.interval.middle - 9_000) < 10)
    }

    @Test func whatIsMoreThanTenMinutesAwaySaysNothing() {
        let far = (1...Int64(5)).map {
            OffsetSamples.Sample(at: 600_000_001 + $0, sequence: $0, interval: OffsetInterval(low: 0, high: 1))
        }
        #expect(OffsetSamples(far).estimate(at: 0, besides: 0) == nil)
        #expect(OffsetSamples(far).estimate(at: 10, besides: 0)?.sampleCount == 5)
    }

    /// After half an hour, two good crystals may be 180 ms apart.
    @Test func anOldExchangeIsLessCertain() {
        #expect(
            OffsetInterval(low: -5, high: 5).after(microseconds: 1_800_000_000)
                == OffsetInterval(low: -180_006, high: 180_006))
    }

    /// This holds for any number of known offsets, and even if wall clocks jumped.
    @Test(arguments: seeds(0..<40)) func alignmentNeverReordersWhatOneSourceSaw(seed: Int) throws {
        var network = SimulatedNetwork(seed: seed)
        for _ in 0..<8 { network.runTransaction(around: Int64.random(in: 0...900_000_000, using: &network.random)) }
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: network.random)
        for set in sets.sets(of: network.histories()) { try store.ingest(set) }
        let reader = try StoreReader(place)
        var movedCount = 0
        for summary in try reader.all(at: 1_700_100_000_000_000) {
            let record = try #require(try reader.transaction(summary.id, now: 1_700_100_000_000_000))
            let aligned = record.aligned
            movedCount += record.clocks?.offsets.count ?? 0
            #expect(Set(aligned.timeline.map(\.id)) == Set(record.timeline.map(\.id)))
            for source in record.sources {
                let sequences = aligned.timeline.filter { $0.id.source == source.id }.map(\.id.sequence)
                #expect(sequences == sequences.sorted(), "seed \(seed)")
            }
        }
        #expect(movedCount > 0, "seed \(seed): nothing was aligned")
    }
}
