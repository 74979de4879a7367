import Foundation
import Testing
import WaybillCore

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answers that settle facts.
@Suite(.timeLimit(.minutes(5))) struct CollectorResponseTests {
    private let set = OutgoingSet(id: GUID(), body: [], factCount: 3)
    private let source = GUID()

    private func isTaken(_ receipt: Receipt) -> Bool {
        let url = URL(string: "https://collector.example/v1/sets")
        guard let url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Type": Receipt.mediaType])
        else { return false }
        let answer = CollectorResponse(data: Data(receipt.encoded()), response: response, place: "collector.example")
        return (try? answer.receipt(for: set, now: Date(timeIntervalSince1970: 0))) != nil
    }

    private func rejection(_ sequence: Int64?, at index: Int) -> Receipt.Rejection {
        Receipt.Rejection(source: source, sequence: sequence, index: index, reason: "no")
    }

    @Test func aReceiptOfAllFactsIsTaken() {
        #expect(isTaken(Receipt(set: set.id, acceptedCount: 3)))
        let rejections = [rejection(7, at: 0), rejection(8, at: 1), rejection(nil, at: 2)]
        #expect(isTaken(Receipt(set: set.id, acceptedCount: 0, rejections: rejections)))
        let others = [rejection(7, at: 0), Receipt.Rejection(source: GUID(), sequence: 7, index: 0, reason: "no")]
        #expect(isTaken(Receipt(set: set.id, acceptedCount: 1, rejections: others)), "Of two sources.")
    }

    @Test func aReceiptOfAnotherSetOrOfOtherFactsIsNone() {
        #expect(!isTaken(Receipt(set: GUID(), acceptedCount: 3)))
        #expect(!isTaken(Receipt(set: set.id, acceptedCount: 2)) && !isTaken(Receipt(set: set.id, acceptedCount: 4)))
    }

    /// Breaks when a report counts two rejections and the ledger one: three facts were sent, and two were booked.
    @Test func aReceiptThatNamesARejectedFactTwiceIsNone() {
        let byPlace = [rejection(7, at: 0), rejection(8, at: 0)]
        #expect(!isTaken(Receipt(set: set.id, acceptedCount: 1, rejections: byPlace)))
        let bySequence = [rejection(7, at: 0), rejection(7, at: 1)]
        #expect(!isTaken(Receipt(set: set.id, acceptedCount: 1, rejections: bySequence)))
    }
}
