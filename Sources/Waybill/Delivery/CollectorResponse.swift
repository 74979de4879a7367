package import Foundation
package import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What was answered to the POST of a set, and whether it settles anything.
package struct CollectorResponse {
    let data: Data
    let response: URLResponse
    /// Who answered, for messages.
    let place: String
    /// Whether there was more than is ever read, so that `data` is not all of it.
    let isCut: Bool

    init(data: Data, response: URLResponse, from place: String, isCut: Bool = false) {
        self.data = data
        self.response = response
        self.place = place
        self.isCut = isCut
    }

    /// How many bytes a response to a set has at most: a receipt of which every fact has a rejection with its reason is
    /// shorter, and what is longer is none.
    static func byteLimit(factCount: Int) -> Int { (64 << 10) + 2_500 * factCount }

    /// Whether it is about the body's encoding that this answer complains, perhaps.
    var isUnsupported: Bool { response.status == 415 }

    /// The receipt, if this is one, of this set and of all its facts.
    func receipt(for set: OutgoingSet, now: Date) throws(DeliveryFailure) -> Receipt {
        guard response.status == 200 else { throw refusal(now: now) }
        guard mediaType == Receipt.mediaType else {
            throw unknown(
                "What answered at \(place) is no collector, perhaps a network's sign-in page; the facts stay pending.")
        }
        guard !isCut else {
            throw unknown(
                "The response from \(place) is longer than any receipt, and was not read to its end; the facts stay pending."
            )
        }
        guard var receipt = try? Receipt.decode(Array(data)) else {
            throw unknown("The receipt from \(place) cannot be read; the facts stay pending.")
        }
        guard receipt.set == set.id else {
            throw unknown("The receipt from \(place) is for another set; the facts stay pending.")
        }
        guard receipt.factCount == set.factCount else {
            throw unknown(
                "The receipt from \(place) is for \(receipt.factCount) facts, but \(set.factCount) were sent; they stay pending."
            )
        }
        // Whoever names a fact twice has counted it twice, and the ledger would have others than the report.
        let places = Set(receipt.rejections.map { Place(source: $0.source, number: Int64($0.index)) })
        let sequences = receipt.rejections.compactMap { rejection in
            rejection.sequence.map { Place(source: rejection.source, number: $0) }
        }
        guard places.count == receipt.rejections.count, Set(sequences).count == sequences.count else {
            throw unknown("The receipt from \(place) names a rejected fact twice; the facts stay pending.")
        }
        receipt.retryAfter = retryAfter(now: now)
        return receipt
    }

    private struct Place: Hashable {
        var source: GUID
        var number: Int64
    }

    /// What a server of version 0.0.1 says: any 2xx, with any content, takes the facts of a set that were sent.
    ///
    /// - Parameter leftOut: The facts of the set that were not.
    package func acceptance(of set: OutgoingSet, but leftOut: [Rejection], now: Date) throws(DeliveryFailure) -> Receipt
    {
        guard (200...299).contains(response.status) else { throw refusal(now: now) }
        return Receipt(
            set: set.id, acceptedCount: set.factCount - leftOut.count, rejections: leftOut,
            retryAfter: retryAfter(now: now))
    }

    /// What a status other than a success means.
    private func refusal(now: Date) -> DeliveryFailure {
        ResponsePolicy.row(for: response.status, isExplained: problem != nil)
            .failure(at: place, status: response.status, retryAfter: retryAfter(now: now), problem: problem)
    }

    private func retryAfter(now: Date) -> Duration? {
        RetryAfter.duration(field("Retry-After"), answeredAt: field("Date"), now: now)
    }

    /// The `Retry-After` of what is no receipt of ours is not obeyed either.
    private func unknown(_ sentence: String) -> DeliveryFailure { DeliveryFailure(WaybillError(.transport, sentence)) }

    private func field(_ name: String) -> String? { (response as? HTTPURLResponse)?.value(forHTTPHeaderField: name) }

    /// The type without its parameters, in lower case (RFC 9110, section 8.3.1).
    private var mediaType: String? {
        field("Content-Type")?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Title and detail of a problem document (RFC 9457), redacted and shortened; nil for any other body.
    private var problem: String? {
        struct Problem: Decodable { var title, detail: String? }
        guard mediaType == "application/problem+json", let problem = try? JSONDecoder().decode(Problem.self, from: data)
        else { return nil }
        let text = [problem.title, problem.detail].compactMap(\.self).joined(separator: ": ")
        return text.isEmpty ? nil : String(Redactor().text(text).prefix(300))
    }
}
