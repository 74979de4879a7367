/// The media type of sets of the first framework: `application/<prefix>apptxnset-v<version>+json;charset=UTF-8`, where
/// each installation chose prefix and version.
package enum LegacyMediaType {
    private static let (start, stem, end) = ("application/", "apptxnset-v", "+json")
    /// Those that its clients were made with, its own sample among them. What is in a set is the same.
    private static let versions = ["0.0.1", "1.0.0"]

    /// The value of a `Content-Type`.
    package static func value(prefix: String, version: String) -> String {
        "\(start)\(prefix)\(stem)\(version)\(end);charset=UTF-8"
    }

    /// Whether a `Content-Type` is of this type, in any case, with any prefix, and of a known version.
    package static func matches(_ field: String) -> Bool {
        let essence = field.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return essence.hasPrefix(start)
            && versions.contains { essence.dropFirst(start.count).hasSuffix("\(stem)\($0)\(end)") }
    }
}
