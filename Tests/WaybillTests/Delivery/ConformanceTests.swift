import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import Waybill

/// Every transport in the box passes the kit, and the kit finds every way to break a rule.
@Suite(.timeLimit(.minutes(5)))
struct ConformanceTests {
    // MARK: Transports that conform

    @Test func urlSessionTransportConforms() async throws {
        let collector = try ScriptedCollector()
        let transport = URLSessionTransport(collector: collector.server.url())
        let conformance = TransportConformance(
            transport, arrived: { collector.taken.map { $0.encoded() } }, breakDown: { collector.server.stop() })
        #expect(await conformance.findings() == [])
        #expect(collector.taken.count == 14 || collector.taken.count == 15, "the cancelled one may have arrived")
    }

    @Test func fileTransportConforms() async throws {
        let folder = try TemporaryDirectory()
        let place = folder.file("outbox")
        let conformance = TransportConformance(
            FileTransport(folder: place),
            arrived: {
                try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil).map {
                    Array(try Data(contentsOf: $0))
                }
            },
            breakDown: {
                try FileManager.default.removeItem(at: place)
                try Data().write(to: place)
            })
        #expect(await conformance.findings() == [])
    }

    @Test func theTransportOfTheGuideForTwoPlacesConforms() async {
        let (first, second) = (InMemoryTransport(), InMemoryTransport())
        for arrived in [first, second] {
            let conformance = TransportConformance(
                TwoPlaces(main: first, copy: second), arrived: { arrived.transactionSets.map { $0.encoded() } },
                breakDown: { second.answerNext { _ in throw CancellationError() } })
            #expect(await conformance.findings() == [])
        }
    }

    // MARK: Transports that don't

    private struct Broken: FlushTransport {
        let answer: @Sendable (OutgoingSet) async throws -> Receipt
        func send(_ set: OutgoingSet) async throws -> Receipt { try await answer(set) }
    }

    private func rules(_ answer: @escaping @Sendable (OutgoingSet) async throws -> Receipt) async -> Set<String> {
        Set(await TransportConformance(Broken(answer: answer)).findings().map(\.rule))
    }

    @Test func aReceiptOfAnotherSetIsFound() async {
        #expect(
            await rules { Receipt(set: GUID(), acceptedCount: $0.factCount) } == [
                "A receipt names the set that was sent."
            ])
    }

    @Test func countsThatDoNotAddUpAreFound() async {
        let rule = "The counts of a receipt add up to the facts that were sent."
        #expect(await rules { Receipt(set: $0.id, acceptedCount: $0.factCount + 1) } == [rule])
    }

    @Test func aRejectionOfWhatHasNoFaultIsFound() async {
        let found = await rules { set in
            guard set.factCount > 0 else { return Receipt(set: set.id, acceptedCount: 0) }
            let rejection = Receipt.Rejection(source: GUID(), sequence: 1, index: 0, reason: "No.")
            return Receipt(set: set.id, acceptedCount: set.factCount - 1, rejections: [rejection])
        }
        #expect(found == ["Facts without a fault are not rejected."])
    }

    @Test func aLimitOnTheSizeIsFound() async {
        let found = await rules { set in
            guard set.body.count < 100_000 else { throw WaybillError(.refused, "Too large.") }
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
        #expect(found == ["A set of 2,000 facts and half a megabyte is taken."])
    }

    @Test func aTransportThatTakesNothingTwiceIsFound() async {
        let seen = Locked<Set<GUID>>([])
        let found = await rules { set in
            guard seen.withLock({ $0.insert(set.id).inserted }) else { throw WaybillError(.refused, "Seen.") }
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
        #expect(found == ["A set that is sent again is taken."])
    }

    @Test func aTransportThatTakesNoEmptySetIsFound() async {
        let found = await rules { set in
            guard set.factCount > 0 else { throw WaybillError(.refused, "Empty.") }
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
        #expect(found == ["A set without facts is taken: it tells that a source has ended."])
    }

    @Test func aTransportThatMixesReceiptsUpIsFound() async {
        let underWay = Locked<Set<GUID>>([])
        let found = await rules { set in
            underWay.withLock { _ = $0.insert(set.id) }
            defer { underWay.withLock { _ = $0.remove(set.id) } }
            for _ in 0..<10_000 where underWay.withLock({ $0.count }) < 2 { await Task.yield() }
            return Receipt(set: underWay.withLock { $0.first { $0 != set.id } } ?? set.id, acceptedCount: set.factCount)
        }
        #expect(found == ["A receipt names the set that was sent."])
    }

    @Test func aTransportThatLosesOrChangesFactsIsFound() async {
        let rule = "What has a receipt has arrived, as it was sent."
        let changes: [@Sendable (String) -> String] = [
            { _ in "{\"set\":\"\(GUID())\",\"sources\":[]}" }, { $0.replacing("\"event\":3", with: "\"event\":4") },
        ]
        for change in changes {
            let bodies = Locked<[[UInt8]]>([])
            let transport = Broken { set in
                bodies.withLock { $0.append(Array(change(String(decoding: set.body, as: UTF8.self)).utf8)) }
                return Receipt(set: set.id, acceptedCount: set.factCount)
            }
            let findings = await TransportConformance(transport, arrived: { bodies.withLock { $0 } }).findings()
            #expect(findings.map(\.rule) == [rule])
        }
    }

    @Test func aReceiptForWhatWasNeverHandedOverIsFound() async {
        let transport = Broken { Receipt(set: $0.id, acceptedCount: $0.factCount) }
        let findings = await TransportConformance(transport, breakDown: {}).findings()
        #expect(findings.map(\.rule) == ["A set that cannot be handed over is a failure."])
    }
}
