import Foundation
package import WaybillCore
package import WaybillQueries
import WaybillStore

/// Writes transactions as a trace for ui.perfetto.dev and chrome://tracing.
///
/// The format is https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
struct PerfettoWriter {
    static let end = Array("]}\n".utf8)

    private struct Thread {
        var process: Int
        var number: Int
    }

    private var json = JSONWriter()
    private var processes: [GUID: Int] = [:]
    private var threads: [FactID: Thread] = [:]
    /// Shared, because a thread with the number of its process would be the main thread.
    private var lastNumber = 0
    private var isBegun = false

    mutating func next(_ record: Redacted<TransactionRecord>) -> [UInt8] {
        let record = record.value.aligned
        json.removeAll()
        threads = [:]
        for part in record.parts { write(part, of: record) }
        for exchange in record.exchanges { write(exchange, of: record) }
        for entry in record.timeline where entry.kind == .event {
            let part = FactID(source: entry.id.source, sequence: entry.part)
            event("i", entry.label, thread(of: part, in: record), at: entry.timeMicroseconds) { json in
                json.member("s", word: "t")
                json.object("args") {
                    $0.member("error", entry.error.map(Words.error))
                    $0.member("attributes", entry.attributes)
                }
            }
        }
        return json.bytes
    }

    private mutating func write(_ part: TransactionRecord.Part, of record: TransactionRecord) {
        let duration = part.closedMicroseconds.map { max(0, $0.subtracting(part.openedMicroseconds)) }
        event(
            duration == nil ? "B" : "X", record.summary.useCaseName, thread(of: part.id, in: record),
            at: part.openedMicroseconds
        ) { json in
            json.member("dur", duration)
            json.object("args") {
                $0.member("transaction", record.summary.id)
                $0.member("support_code", record.summary.id.supportCode.description)
                $0.member("outcome", part.outcome.name)
                $0.member("error", part.error.map(Words.error))
                $0.member("attributes", part.attributes)
            }
        }
    }

    private mutating func write(_ exchange: TransactionRecord.Exchange, of record: TransactionRecord) {
        let thread = thread(of: FactID(source: exchange.id.source, sequence: exchange.part), in: record)
        let name = "\(exchange.method) \(exchange.url)"
        let id = nextNumber()
        event("b", name, thread, at: exchange.openedMicroseconds) { json in
            json.member("id", id)
            json.object("args") {
                $0.member("role", exchange.role.name)
                $0.member("state", exchange.state?.name)
                $0.member("status", exchange.status)
                $0.member("sent_bytes", exchange.sentByteCount)
                $0.member("received_bytes", exchange.receivedByteCount)
                $0.member("error", exchange.error.map(Words.error))
            }
        }
        guard let closed = exchange.closedMicroseconds else { return }
        event("e", name, thread, at: max(closed, exchange.openedMicroseconds)) { $0.member("id", id) }
    }

    private mutating func thread(of part: FactID, in record: TransactionRecord) -> Thread {
        if let thread = threads[part] { return thread }
        let process: Int
        if let known = processes[part.source] {
            process = known
        } else {
            process = nextNumber()
            processes[part.source] = process
            let source = record.sources.first { $0.id == part.source }
            let words = [source?.app, source?.appVersion, part.source.supportCode.description]
            name(
                "process_name", words.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " "),
                Thread(process: process, number: process))
        }
        let thread = Thread(process: process, number: nextNumber())
        threads[part] = thread
        name("thread_name", "\(record.summary.useCaseName) \(record.summary.id.supportCode)", thread)
        return thread
    }

    private mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    private mutating func name(_ kind: String, _ name: String, _ thread: Thread) {
        event("M", kind, thread, at: nil) { $0.object("args") { $0.member("name", name) } }
    }

    private mutating func event(
        _ phase: StaticString, _ name: String, _ thread: Thread, at time: Int64?, _ members: (inout JSONWriter) -> Void
    ) {
        json.copy(Array((isBegun ? "," : "{\"traceEvents\":[\n").utf8)[...])
        isBegun = true
        json.beginObject()
        json.member("ph", word: phase)
        json.member("name", text: name)
        json.member("cat", word: "waybill")
        json.member("pid", thread.process)
        json.member("tid", thread.number)
        // Larger numbers are not exact in JavaScript.
        json.member("ts", time.map { min(max(0, $0), Limits.largestInteger) })
        members(&json)
        json.endObject()
        json.endLine()
    }
}

extension ExportingStore {
    /// Returns the number of transactions. Throws `.notFound` if none matches.
    package func writeTrace(_ request: ListRequest, redactor: Redactor, to output: ExportOutput) async throws -> Int {
        var (pages, writer, count) = (ListPages(request, of: transactions), PerfettoWriter(), 0)
        while let page = try await pages.next() {
            for row in page.rows {
                try output.write(writer.next(redactor.redacted(try await transaction(row.id.description))))
                count += 1
            }
            guard count > 0 || !pages.isOver else { throw WaybillError.nothingExported(page.whyEmpty) }
        }
        try output.write(PerfettoWriter.end)
        return count
    }
}

extension FileExport {
    func writeTrace(_ scope: ExportScope, of reader: StoreReader, to output: ExportOutput, now: Int64) throws -> Int {
        let filter = if case .transactions(let filter, _) = scope { filter } else { TransactionFilter() }
        var (writer, cursor, factCount) = (PerfettoWriter(), String?.none, 0)
        repeat {
            let page = try reader.transactions(
                matching: filter, limit: ListRequest.limits.upperBound, after: cursor, now: now)
            for row in page.rows {
                guard let record = try reader.transaction(row.id, now: now) else { continue }
                try output.write(writer.next(redactor.redacted(record)))
                factCount += record.timeline.count
            }
            cursor = page.next
        } while cursor != nil
        try output.write(PerfettoWriter.end)
        return factCount
    }
}
