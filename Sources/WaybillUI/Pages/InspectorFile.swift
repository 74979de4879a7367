package import Foundation

/// What a page offers to take away, e.g. a transaction as HTML or HAR: no page to be shown.
package struct InspectorFile: Sendable {
    package let name: String
    package let bytes: [UInt8]

    /// - Parameters:
    ///   - fields: Of a response, by their names.
    ///   - bytes: The body.
    /// - Returns: nil for what is to be shown, without `Content-Disposition: attachment` (RFC 6266).
    package init?(_ fields: [String: String], _ bytes: [UInt8]) {
        guard let disposition = fields["Content-Disposition"], disposition.hasPrefix("attachment") else { return nil }
        let quoted = disposition.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first ?? ""
        let name = quoted.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }.drop { $0 == "." }
        self.name = name.isEmpty ? "waybill" : String(name)
        self.bytes = bytes
    }

    /// Writes it into a folder, which is made where it is missing, and gives its place.
    package func write(into folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appending(path: name)
        try Data(bytes).write(to: place, options: .atomic)
        return place
    }
}
