#if Collector
import Foundation
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// Shows one transaction, and then what comes of it, as it comes: each fact once.
struct FollowingOne {
    private let place: StoreOptions
    private let key: String
    private let clocks: ShownClocks
    private let isJSON: Bool
    private var shown: Set<Fact.ID> = []
    private var outcome: TransactionOutcome?
    private var widths: [Int] = []

    /// Rounds of a second after which it is read though no fact has come: its process may have ended, or it timed out.
    private static let quietRounds = 10

    init(_ place: StoreOptions, _ key: String, clocks: ShownClocks, isJSON: Bool) {
        self.place = place
        self.key = key
        self.clocks = clocks
        self.isJSON = isJSON
    }

    /// Returns only when what it writes is no longer read, or the task is canceled.
    ///
    /// - Parameter write: Takes lines, and says whether they are still read.
    mutating func run(_ write: ([String]) -> Bool = Self.print) async throws {
        var store = try await place.opened()
        // First the position, so that nothing falls between it and what is shown.
        var position = try await store.transactions(request(after: ListRequest.now)).position
        var record = try await store.transaction(key)
        var isNews = true
        var round = 0
        while true {
            if isNews || round % Self.quietRounds == 0, let lines = try lines(of: record), !write(lines) { return }
            try await Task.sleep(for: .seconds(1))
            round += 1
            do {
                // Opened anew: a store that had no writer when it was opened is not looked at again.
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

    /// What has changed since a position, of that transaction alone.
    private func request(after position: String?, of transaction: GUID? = nil) -> ListRequest {
        var filter = TransactionFilter()
        filter.beginner = .any
        filter.text = transaction?.description
        var request = ListRequest(matching: filter, limit: 1)
        request[.after] = position
        return request
    }

    /// What is to be written of it; nil: nothing that was not.
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
        // A row for each fact, in the same order.
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
        // Where SIGPIPE is ignored, a pipe without a reader shows here.
        (try? StandardOutput.writePainted(Array(lines.map { $0 + "\n" }.joined().utf8))) != nil
    }
}
#endif
