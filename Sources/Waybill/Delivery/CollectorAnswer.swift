import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What was answered to the POST of a set, and whether it settles anything.
struct CollectorAnswer {
    let data: Data
    let response: URLResponse
    /// Who answered, for messages.
    let place: String

    init(data: Data, response: URLResponse, from place: String) {
        self.data = data
        self.response = response
        self.place = place
    }

    /// The receipt, if this is one, of this set and of all its facts.
    func receipt(for set: OutgoingSet) throws(WaybillError) -> Receipt {
        guard response.status == 200 else { throw refusal }
        guard mediaType == Receipt.mediaType else {
            throw WaybillError(
                .transport, "What answered at \(place) is no collector, perhaps a network's sign-in page; the facts stay pending.")
        }
        guard let receipt = try? Receipt.decode(Array(data)) else {
            throw WaybillError(.transport, "The receipt from \(place) cannot be read; the facts stay pending.")
        }
        guard receipt.set == set.id else {
            throw WaybillError(.transport, "The receipt from \(place) is for another set; the facts stay pending.")
        }
        guard receipt.factCount == set.factCount else {
            throw WaybillError(
                .transport,
                "The receipt from \(place) is for \(receipt.factCount) facts, but \(set.factCount) were sent; they stay pending.")
        }
        return receipt
    }

    /// Why an answer of any other status settles nothing.
    private var refusal: WaybillError {
        switch response.status {
        case 300..<400:
            WaybillError(
                .transport, "\(place) answered \(response.status), but redirects are not followed; give the collector's own address.")
        case 401, 403:
            WaybillError(.refused, "The collector at \(place) does not take the token (\(response.status)).", cause: problem)
        case 400..<500:
            WaybillError(
                .refused, "The collector at \(place) refused the set (\(response.status)); the facts stay pending.", cause: problem)
        default:
            WaybillError(
                .transport, "The collector at \(place) answered \(response.status); the facts stay pending.", cause: problem)
        }
    }

    /// The type without its parameters, in lower case (RFC 9110, section 8.3.1).
    private var mediaType: String? {
        (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type")?
            .prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Title and detail of a problem document (RFC 9457), redacted and shortened; nil for any other body.
    private var problem: String? {
        struct Problem: Decodable { var title, detail: String? }
        guard mediaType == "application/problem+json", let problem = try? JSONDecoder().decode(Problem.self, from: data) else { return nil }
        let text = [problem.title, problem.detail].compactMap(\.self).joined(separator: ": ")
        return text.isEmpty ? nil : String(Redactor().text(text).prefix(300))
    }
}
