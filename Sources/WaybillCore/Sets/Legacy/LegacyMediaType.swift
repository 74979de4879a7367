/// The media type of sets of version 0.0.1: `application/<prefix>apptxnset-v0.0.1+json;charset=UTF-8`, with a prefix that each installation chose.
package enum LegacyMediaType {
    private static let (start, end) = ("application/", "apptxnset-v0.0.1+json")

    /// The value of a `Content-Type`.
    package static func value(prefix: String) -> String { "\(start)\(prefix)\(end);charset=UTF-8" }

    /// Whether a `Content-Type` is of this type, in any case and with any prefix.
    package static func matches(_ field: String) -> Bool {
        let essence = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return essence.hasPrefix(start) && essence.dropFirst(start.count).hasSuffix(end)
    }
}
