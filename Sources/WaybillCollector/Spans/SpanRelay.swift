#if Collector
package import Foundation
package import WaybillCore
package import WaybillExport
package import WaybillReading

/// Sends spans to a backend, in rounds that go on where the one before ended.
///
/// Where a round ended is noted when the backend has taken all of it. What was under way when a round broke off is sent
/// again, under the same span IDs: telling the two apart is the backend's.
package struct SpanRelay: Sendable {
    private let store: any ExportingStore
    private let backend: TraceBackend
    private let file: URL?
    private var cursor: String?

    /// - Parameter file: Holds the cursor; nil: it is forgotten with the process.
    /// - Throws: `.setting` where the file is there and cannot be read.
    package init(_ store: some ExportingStore, to backend: TraceBackend, cursorFile file: URL?) throws(WaybillError) {
        self.store = store
        self.backend = backend
        self.file = file
        guard let file, let bytes = try WholeFile.read(file) else { return }
        cursor = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends what is new.
    package mutating func round(_ request: ListRequest) async throws -> SpanReceipt {
        let (backend, total) = (backend, Locked(SpanReceipt()))
        let export = try await store.export(cursor.map { .after($0) } ?? .of(request), as: .otlp)
        try await export.forEachLine { line in
            let receipt = try await backend.send(line)
            total.withLock { $0 += receipt }
        }
        let next = export.cursor
        if let file, next != cursor {
            try WholeFile.write(to: file) { Array("\(next)\n".utf8) }
        }
        cursor = next
        return total.withLock { $0 }
    }
}
#endif
