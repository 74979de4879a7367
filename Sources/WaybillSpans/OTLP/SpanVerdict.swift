/// What became of the spans of a request.
package struct SpanVerdict: Hashable, Sendable {
    /// Spans that were new and taken.
    package var acceptedCount = 0
    /// Spans that had been received before.
    package var knownCount = 0
    /// Spans that were refused, by reason.
    package var refusals: [String: Int] = [:]
    /// Facts that were made of those that were taken, and of earlier ones that had waited for them.
    package var factCount = 0

    package init() {}

    /// Spans that were refused, for any reason.
    package var refusedCount: Int { refusals.values.reduce(0, +) }

    mutating func refuse(_ count: Int = 1, because reason: String) { refusals[reason, default: 0] += count }

    /// The reasons in one sentence, the most frequent first; nil where nothing was refused.
    package var message: String? {
        guard refusedCount > 0 else { return nil }
        let reasons = refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) span\($0.value == 1 ? "" : "s"): \($0.key)" }
        return reasons.joined(separator: "; ") + "."
    }
}
