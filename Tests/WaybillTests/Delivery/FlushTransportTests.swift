import Testing
import Waybill
import WaybillCore

/// The transport of `FlushTransport`'s documentation, word for word.
struct TeeTransport: FlushTransport {
    let first: any FlushTransport
    let second: any FlushTransport

    func send(_ set: OutgoingSet) async throws -> Receipt {
        _ = try await second.send(set)
        return try await first.send(set)
    }
}

struct FlushTransportTests {
    private struct Keeping: FlushTransport {
        let kept = Locked<[OutgoingSet]>([])
        var failure: WaybillError?
        var rejections: [Rejection] = []

        func send(_ set: OutgoingSet) async throws -> Receipt {
            if let failure { throw failure }
            kept.withLock { $0.append(set) }
            return Receipt(set: set.id, acceptedCount: set.factCount - rejections.count, rejections: rejections)
        }
    }

    private let set = OutgoingSet(id: GUID(), body: Array("{}".utf8), factCount: 3)

    @Test func theTransportOfTheDocumentationServesTwoPlacesAndTheFirstJudges() async throws {
        let rejection = Rejection(source: GUID(), sequence: 2, index: 1, reason: "Why not.")
        let (first, second) = (Keeping(rejections: [rejection]), Keeping())
        let receipt = try await TeeTransport(first: first, second: second).send(set)
        #expect(receipt.rejections == [rejection])
        #expect(first.kept.withLock { $0 } == [set])
        #expect(second.kept.withLock { $0 } == [set])
    }

    @Test func theFirstPlaceIsNotAskedWhereTheSecondFails() async throws {
        let failure = WaybillError(.transport, "No.")
        let first = Keeping()
        await #expect(throws: failure) { try await TeeTransport(first: first, second: Keeping(failure: failure)).send(set) }
        #expect(first.kept.withLock { $0.isEmpty })
    }

    @Test func aSetIsOfVersionOneUnlessSaidOtherwise() {
        #expect(set.mediaType == "application/vnd.waybill.transaction-set.v1+json")
    }
}
