import WaybillCore

/// What a status other than 200 means for the facts that were sent: none settles anything, so all of them stay pending.
///
/// The guide `DeliverWhatWasRecorded.md` has the same table in words, and `DeliveryPolicyTests` row by row.
struct ResponsePolicy {
    let statuses: ClosedRange<Int>
    let code: WaybillError.Code
    /// Completes `The collector at PLACE …`, of which the status is said behind it.
    let sentence: String
    let remedy: DeliveryFailure.Remedy

    /// The first row that holds the status.
    ///
    /// - Parameter isExplained: Whether a problem document came with it, as collectors send one. What refuses a set without
    ///   a word may stand in front of the collector, and may refuse everything.
    static func row(for status: Int, isExplained: Bool = false) -> ResponsePolicy {
        if isExplained, status == 400 || status == 422 { return invalid }
        return rows.first { $0.statuses.contains(status) } ?? anythingElse
    }

    static let rows = [
        ResponsePolicy(
            200...299, .transport, "gave no verdicts: it is none of ours, or something stands in front of it", .retry()),
        ResponsePolicy(300...399, .transport, "redirects, which is not followed: give its own address", .retry()),
        ResponsePolicy(
            401...401, .refused, "does not take the token: nothing is sent until there is a new one",
            .waitForNewDelivery),
        ResponsePolicy(
            403...403, .refused,
            "does not let this token send: create one with `--role ingest`; nothing is sent until there is a new one",
            .waitForNewDelivery),
        ResponsePolicy(404...404, .refused, "has nothing there: give the address that it serves at", .retry()),
        ResponsePolicy(408...408, .transport, "waited too long for the set", .retry()),
        ResponsePolicy(413...413, .refused, "finds the set too large: smaller ones are sent", .sendLess),
        ResponsePolicy(429...429, .transport, "is asked too often", .retry()),
        ResponsePolicy(400...499, .refused, "refused the set", .retry()),
        ResponsePolicy(500...599, .transport, "is in trouble", .retry()),
    ]

    private static let invalid = ResponsePolicy(
        400...499, .refused, "refused the set: smaller ones are sent, to find what it refuses", .sendLess)
    private static let anythingElse = ResponsePolicy(0...0, .transport, "gave an answer that is none", .retry())

    private init(
        _ statuses: ClosedRange<Int>, _ code: WaybillError.Code, _ sentence: String, _ remedy: DeliveryFailure.Remedy
    ) {
        self.statuses = statuses
        self.code = code
        self.sentence = sentence
        self.remedy = remedy
    }

    /// The failure of an answer of this row.
    ///
    /// - Parameters:
    ///   - time: The answer's own `Retry-After`; obeyed where the remedy is to try again, and the status is an error's.
    ///   - problem: The answer's own words.
    func failure(at place: String, status: Int, retryAfter time: Duration?, problem: String?) -> DeliveryFailure {
        let error = WaybillError(
            code, "The collector at \(place) \(sentence) (\(status)); the facts stay pending.", cause: problem)
        if case .retry = remedy { return DeliveryFailure(error, remedy: .retry(after: isAnError ? time : nil)) }
        return DeliveryFailure(error, remedy: remedy)
    }

    /// A collector that asks for a pause does so with an error (4xx, 5xx). What answers a set with any other status is
    /// no collector, perhaps a network's sign-in page, and its `Retry-After` is not obeyed.
    private var isAnError: Bool { statuses.lowerBound >= 400 }
}
