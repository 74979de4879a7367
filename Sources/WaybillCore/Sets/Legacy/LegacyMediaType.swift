/// The media type of sets of version 0.0.1: `application/<prefix>apptxnset-v0.0.1+json;charset=UTF-8`.
package struct LegacyMediaType: Hashable, Sendable {
    /// What each installation chose for itself, with the dot at its end, e.g. `vnd.fp.`; may be empty.
    package var prefix: String

    package init(prefix: String) { self.prefix = prefix }

    private static let (start, end) = ("application/", "apptxnset-v0.0.1+json")

    /// Reads a `Content-Type`, in any case; nil for any other type.
    package init?(_ field: String) {
        let essence = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        guard essence.hasPrefix(Self.start), essence.hasSuffix(Self.end), essence.count >= Self.start.count + Self.end.count else {
            return nil
        }
        self.init(prefix: String(essence.dropFirst(Self.start.count).dropLast(Self.end.count)))
    }

    /// For a `Content-Type`.
    package var field: String { "\(Self.start)\(prefix)\(Self.end);charset=UTF-8" }
}
