public import Foundation

/// What an export has written.
public struct ExportSummary: Sendable, Hashable {
    /// The file.
    public var file: URL
    /// Facts in it.
    public var factCount: Int
    /// Its length in bytes.
    public var byteCount: Int64

    /// Makes a summary.
    public init(file: URL, factCount: Int, byteCount: Int64) {
        self.file = file
        self.factCount = factCount
        self.byteCount = byteCount
    }
}
