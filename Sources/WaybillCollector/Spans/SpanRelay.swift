#if Collector
package import Foundation
package import WaybillCore
package import WaybillExport
import WaybillStore

/// Sends spans to a backend, in rounds that go on where the one before ended.
///
/// Where a round ended is noted when the backend has taken all of it. What was under way when a round broke off is sent again, under the same
/// span IDs: telling the two apart is the backend's.
package struct SpanRelay: Sendable {
    private let source: any LineSource
    private let backend: TraceBackend
    private let file: URL?
    private var cursor: String?

    /// - Parameter file: Holds the cursor; nil: it is forgotten with the process.
    /// - Throws: `.setting` where the file is there and cannot be read.
    package init(_ source: some LineSource, to backend: TraceBackend, cursorFile file: URL?) throws(WaybillError) {
        self.source = source
        self.backend = backend
        self.file = file
        guard let file, FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return }
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw WaybillError(.setting, "The cursor in \(file.path(percentEncoded: false)) cannot be read.")
        }
        cursor = text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends what is new.
    package mutating func round(_ query: TransactionQuery) async throws -> SpanReceipt {
        let (backend, total) = (backend, Locked(SpanReceipt()))
        let next = try await source.forEachLine(of: query, after: cursor, as: .otlp) { line in
            let receipt = try await backend.send(line)
            total.withLock { $0 += receipt }
        }
        if let file, next != cursor {
            let partial = try PartialFile(file)
            try partial.write(Array("\(next)\n".utf8))
            try partial.finish()
        }
        cursor = next
        return total.withLock { $0 }
    }
}
#endif
