#if Collector
import Foundation
import WaybillCollector
import WaybillCore
import WaybillReport
import WaybillStore

/// Sends spans to a backend, in rounds that go on where the one before ended.
///
/// Where a round ended is noted when the backend has taken all of it. What was under way when a round broke off is sent again, under the same
/// span IDs: telling the two apart is the backend's.
struct SpanRelay {
    private let exporter: any Exporter
    private let backend: TraceBackend
    private let file: URL?
    private var cursor: String?

    /// - Parameter file: Holds the cursor; nil: it is forgotten with the process.
    /// - Throws: `.setting` where the file is there and cannot be read.
    init(_ exporter: some Exporter, to backend: TraceBackend, cursorFile file: URL?) throws(WaybillError) {
        self.exporter = exporter
        self.backend = backend
        self.file = file
        guard let file, FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return }
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw WaybillError(.setting, "The cursor in \(file.path(percentEncoded: false)) cannot be read.")
        }
        cursor = text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Sends what is new.
    mutating func round(_ query: TransactionQuery) async throws -> SpanReceipt {
        let (backend, total) = (backend, Locked(SpanReceipt()))
        let next = try await exporter.forEachLine(of: query, after: cursor, as: .otlp) { line in
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

    /// Sends what is new, again and again, and tells what became of it; returns only when the task is canceled.
    mutating func follow() async throws {
        while true {
            do {
                let receipt = try await round(TransactionQuery())
                if receipt != SpanReceipt() { Terminal.warn(receipt.sentence) }
                try await Task.sleep(for: .seconds(1))
            } catch let error as WaybillError {
                Terminal.warn("\(error)")
                try await Task.sleep(for: TraceBackend.longestWait)
            }
        }
    }
}

extension SpanReceipt {
    /// For people.
    var sentence: String {
        let rejected = rejectedCount > 0 ? ", \(rejectedCount) rejected" : ""
        return "\(Words.count(acceptedCount, "span")) sent\(rejected)\(message.map { ": \($0)" } ?? ".")"
    }
}
#endif
