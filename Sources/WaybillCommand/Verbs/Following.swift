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
    private(set) var table: TextTable?

    /// Returns only when the output has no reader any more, or the task is cancelled.
    mutating func run() async throws {
        let store = try await place.opened()
        // The position comes first, because no change may be lost between it and the list.
        var position = try await changes(after: ListRequest.now, of: store).position
        guard try show(await store.transactions(request).rows.reversed()) else { return }
        try await Self.repeating {
            let (rows, next) = try await changes(after: position, of: place.opened(isTold: false))
            position = next
            return try show(rows.reversed())
        }
    }

    /// Runs `round` every second until it returns `false`. A store without a writer at its opening never shows changes,
    /// so each round opens it again.
    static func repeating(_ round: () async throws -> Bool) async throws {
        var goesOn = true
        while goesOn {
            try await Task.sleep(for: .seconds(1))
            do {
                goesOn = try await round()
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
        guard !isJSON else { return try Self.show(json: new) }
        let table = TextTable(
            transactions: Redactor.command.redacted(new), width: Terminal.width(), isContinued: true, after: self.table)
        self.table = table
        return try Self.show(table.lines(.standardOutput()))
    }

    static func show(_ lines: [String]) throws -> Bool { try hasReader { try Terminal.write(lines) } }

    static func show(json records: [some Encodable & Redactable]) throws -> Bool {
        var lines = ""
        for record in records { lines += try line(record) }
        return try hasReader { try StandardOutput.write(Array(lines.utf8)) }
    }

    /// If SIGPIPE is ignored, a pipe without a reader fails here.
    private static func hasReader(_ write: () throws -> Void) throws -> Bool {
        do { try write() } catch let error as WaybillError where error == StandardOutput.withoutReader { return false }
        return true
    }

    static func line(_ record: some Encodable & Redactable) throws -> String {
        String(decoding: try JSONEncoder.waybill().encode(Redactor.command.redacted(record)), as: UTF8.self) + "\n"
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
    private(set) var timeline: TextTable?

    /// Rounds without new facts after which it reads the transaction again, because it may have timed out.
    private static let quietRounds = 10

    mutating func run() async throws {
        let store = try await place.opened()
        var position = try await store.transactions(request(after: ListRequest.now)).position
        let record = try await store.transaction(key)
        let id = record.summary.id
        guard try show(record) else { return }
        var round = 0
        try await Following.repeating {
            round += 1
            let store = try await place.opened(isTold: false)
            let page = try await store.transactions(request(after: position, of: id))
            let isDue = !page.rows.isEmpty || round % Self.quietRounds == 0
            if isDue, try !show(await store.transaction(id.description)) { return false }
            position = page.position ?? position
            return true
        }
    }

    private func request(after position: String?, of transaction: GUID? = nil) -> ListRequest {
        var filter = TransactionFilter(transaction.map { [.text($0.description)] } ?? [])
        filter.beginner = .any
        var request = ListRequest(matching: filter, limit: 1)
        request[.after] = position
        return request
    }

    /// - Returns: Whether the output still has a reader.
    private mutating func show(_ record: TransactionRecord) throws -> Bool {
        let summary = record.summary
        let new = Set(record.timeline.map(\.id)).subtracting(shown)
        guard !new.isEmpty || summary.outcome != outcome else { return true }
        let isOver = summary.outcome != outcome && !summary.outcome.isRecorded
        shown.formUnion(new)
        outcome = summary.outcome
        guard !isJSON else { return try Following.show(json: [record]) }
        let palette = Palette.standardOutput()
        let redacted = Redactor.command.redacted(record)
        let displayed = ShownRecord(redacted.value, clocks: clocks)
        var table = TimelineText(displayed).table
        guard let timeline else {
            self.timeline = table
            let width = Terminal.width() ?? Terminal.usualWidth
            return try Following.show(TransactionText(redacted, clocks: clocks).lines(palette, width: width))
        }
        // The table has a row for each fact, in the same order.
        table.rows = zip(displayed.timeline, table.rows).filter { new.contains($0.0.id) }.map(\.1)
        table.continueColumns(of: timeline)
        self.timeline = table
        let cell = Words.cell(summary)
        return try Following.show(table.lines(palette) + (isOver ? [palette.paint(cell.text, cell.ink)] : []))
    }
}
#endif
