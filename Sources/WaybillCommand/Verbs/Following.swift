#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

/// Shows the newest transactions, the oldest of them first, and then each new match once.
struct Following {
    let place: StoreOptions
    let request: ListRequest
    let isJSON: Bool
    private(set) var shown: Set<GUID> = []
    private(set) var titles: [String] = []
    private(set) var widths: [Int] = []

    /// Returns only when the output has no reader any more, or the task is cancelled.
    mutating func run() async throws {
        let store = try await place.opened()
        // The position comes first, because no change may be lost between it and the list.
        var (rows, position) = try await changes(after: ListRequest.now, of: store)
        rows = try await store.transactions(request).rows
        while try show(rows.reversed()) {
            rows = []
            try await Task.sleep(for: .seconds(1))
            do {
                // A store without a writer at its opening never shows changes, so it is opened again.
                (rows, position) = try await changes(after: position, of: place.opened(isTold: false))
            } catch let error as WaybillError where error.code == .transport {
                Terminal.warn("\(error)")
                try await Task.sleep(for: .seconds(5))
            }
        }
    }

    private func changes(
        after position: String?, of store: any RecordStore
    ) async throws -> (rows: [TransactionSummary], position: String?) {
        var request = request
        request[.after] = position
        var pages = ListPages(request, of: store.transactions)
        let first = try await pages.next()
        var rows = first?.rows ?? []
        while let page = try await pages.next() { rows += page.rows }
        return (rows, first?.position ?? position)
    }

    /// - Returns: Whether the output still has a reader.
    private mutating func show(_ rows: [TransactionSummary]) throws -> Bool {
        let new = rows.filter { shown.insert($0.id).inserted }
        guard !new.isEmpty else { return true }
        // If SIGPIPE is ignored, a pipe without a reader fails here.
        if isJSON {
            let lines = try new.map(Self.line).joined()
            return (try? StandardOutput.write(Array(lines.utf8))) != nil
        }
        let lines = table(new).map { $0 + "\n" }.joined()
        return (try? StandardOutput.writePainted(Array(lines.utf8))) != nil
    }

    /// Titles appear once. Later lines keep the column widths.
    private mutating func table(_ rows: [TransactionSummary]) -> [String] {
        let width = Terminal.width()
        var table = TextTable(transactions: Redactor.command.redacted(rows), width: width, titles: titles)
        titles = table.columns.map(\.title)
        table.hasTitles = widths.isEmpty
        table.leastWidths = widths
        if let width { table.cutAll(["ERROR", "USE CASE"], width: width) }
        widths = table.widths
        return table.lines(.standardOutput())
    }

    static func line(_ summary: TransactionSummary) throws -> String {
        String(decoding: try JSONEncoder.waybill().encode(Redactor.command.redacted(summary)), as: UTF8.self) + "\n"
    }
}

/// Shows one transaction, and then each of its new facts once.
struct FollowingOne {
    let place: StoreOptions
    let key: String
    let clocks: ShownClocks
    let isJSON: Bool
    private(set) var shown: Set<FactID> = []
    private(set) var outcome: TransactionOutcome?
    private(set) var widths: [Int] = []

    /// Rounds without new facts after which it reads the transaction again, because it may have timed out.
    private static let quietRounds = 10

    mutating func run(_ write: ([String]) -> Bool = Self.print) async throws {
        var store = try await place.opened()
        var position = try await store.transactions(request(after: ListRequest.now)).position
        var record = try await store.transaction(key)
        var isNews = true
        var round = 0
        while true {
            if isNews || round % Self.quietRounds == 0, let lines = try lines(of: record), !write(lines) { return }
            try await Task.sleep(for: .seconds(1))
            round += 1
            do {
                store = try await place.opened(isTold: false)
                let page = try await store.transactions(request(after: position, of: record.summary.id))
                (isNews, position) = (!page.rows.isEmpty, page.position ?? position)
                if isNews || round % Self.quietRounds == 0 {
                    record = try await store.transaction(record.summary.id.description)
                }
            } catch let error as WaybillError where error.code == .transport {
                Terminal.warn("\(error)")
                try await Task.sleep(for: .seconds(5))
            }
        }
    }

    private func request(after position: String?, of transaction: GUID? = nil) -> ListRequest {
        var filter = TransactionFilter(transaction.map { [.text($0.description)] } ?? [])
        filter.beginner = .any
        var request = ListRequest(matching: filter, limit: 1)
        request[.after] = position
        return request
    }

    /// `nil` if nothing changed.
    private mutating func lines(of record: TransactionRecord) throws -> [String]? {
        let isFirst = outcome == nil
        let new = record.timeline.filter { !shown.contains($0.id) }
        let isOver = record.summary.outcome != outcome && !record.summary.outcome.isRecorded
        guard !new.isEmpty || record.summary.outcome != outcome else { return nil }
        shown.formUnion(new.map(\.id))
        outcome = record.summary.outcome
        let redacted = Redactor.command.redacted(record)
        if isJSON { return [String(decoding: try JSONEncoder.waybill().encode(redacted), as: UTF8.self)] }
        let palette = Palette.standardOutput()
        let displayed = ShownRecord(redacted.value, clocks: clocks)
        var table = TimelineText(displayed).table
        if isFirst {
            widths = table.widths
            return TransactionText(redacted, clocks: clocks).lines(
                palette, width: Terminal.width() ?? Terminal.usualWidth)
        }
        let ids = Set(new.map(\.id))
        // The table has a row for each fact, in the same order.
        table.rows = zip(displayed.timeline, table.rows).filter { ids.contains($0.0.id) }.map(\.1)
        (table.hasTitles, table.leastWidths) = (false, widths)
        widths = table.widths
        var lines = new.isEmpty ? [] : table.lines(palette)
        if isOver {
            let cell = Words.cell(record.summary)
            lines.append(palette.paint(cell.text, cell.ink))
        }
        return lines
    }

    private static func print(_ lines: [String]) -> Bool {
        (try? StandardOutput.writePainted(Array(lines.map { $0 + "\n" }.joined().utf8))) != nil
    }
}
#endif
