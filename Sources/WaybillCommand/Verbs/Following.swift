#if Collector
import ArgumentParser
import Foundation
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// Shows the newest transactions, the oldest of them first, and then each that comes and passes: when it is new, or
/// when something came that makes it pass. Each is shown once.
struct Following {
    private let place: StoreOptions
    private let request: ListRequest
    private let isJSON: Bool
    private var shown: Set<GUID> = []
    private var widths: [Int] = []

    init(_ place: StoreOptions, _ request: ListRequest, isJSON: Bool) {
        self.place = place
        self.request = request
        self.isJSON = isJSON
    }

    /// Returns only when what it writes is no longer read, or the task is canceled.
    mutating func run() async throws {
        let store = try await place.opened()
        // First the position, so that nothing falls between it and the list.
        var (rows, position) = try await changes(after: ListRequest.now, of: store)
        rows = try await store.transactions(request).rows
        while try show(rows.reversed()) {
            rows = []
            try await Task.sleep(for: .seconds(1))
            do {
                // Opened anew: a store that had no writer when it was opened is not looked at again.
                (rows, position) = try await changes(after: position, of: place.opened(isTold: false))
            } catch let error as WaybillError where error.code == .transport {
                Terminal.warn("\(error)")
                try await Task.sleep(for: .seconds(5))
            }
        }
    }

    /// All pages of what has changed, and where the next round begins.
    private func changes(
        after position: String?, of store: any RecordStore
    ) async throws -> (rows: [TransactionSummary], position: String?) {
        var request = request
        (request[.after], request[.limit]) = (position, "\(ListRequest.limits.upperBound)")
        let first = try await store.transactions(request)
        var rows = first.rows
        var pages = PageCount()
        request[.cursor] = try pages.next(after: first)
        while request[.cursor] != nil {
            let page = try await store.transactions(request)
            rows += page.rows
            request[.cursor] = try pages.next(after: page)
        }
        return (rows, first.position ?? position)
    }

    /// - Returns: Whether it is still read.
    private mutating func show(_ rows: [TransactionSummary]) throws -> Bool {
        let new = rows.filter { shown.insert($0.id).inserted }
        guard !new.isEmpty else { return true }
        // Where SIGPIPE is ignored, a pipe without a reader shows here.
        if isJSON {
            let lines = try new.map(Self.line).joined()
            return (try? StandardOutput.write(Array(lines.utf8))) != nil
        }
        let lines = table(new).map { $0 + "\n" }.joined()
        return (try? StandardOutput.writePainted(Array(lines.utf8))) != nil
    }

    /// Titles come once; later lines keep the columns where they are, unless they need more room.
    private mutating func table(_ rows: [TransactionSummary]) -> [String] {
        var table = TextTable(transactions: Redactor.command.redacted(rows))
        table.hasTitles = widths.isEmpty
        table.leastWidths = widths
        widths = table.widths
        return table.lines(.standardOutput())
    }

    static func line(_ summary: TransactionSummary) throws -> String {
        let encoder = JSONEncoder.waybill()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(Redactor.command.redacted(summary)), as: UTF8.self) + "\n"
    }
}
#endif
