import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

/// Compares the answers to everything that the port can be asked.
extension StoreTrial {
    /// Asks both stores everything.
    mutating func compareAll() async throws(StoreConformance.Finding) {
        let known = reference.everything
        var filters = FilterMaker(random: random, naive: known)
        var lists = TransactionFilter.Order.allCases.map { order in
            var filter = TransactionFilter()
            filter.order = order
            return filter
        }
        for _ in 0..<6 { lists.append(filters.filter()) }
        let folded = lists.map { filter in
            var filter = filter
            filter.isFolded = true
            return filter
        }
        for filter in lists + folded {
            try await compareTransactions(filter, known, limit: Int.random(in: 1...3, using: &filters.random))
            try await compareVolume(filter, known)
        }
        try await compareChanges()
        for id in known.runs.map(\.id).sorted() + [GUID(high: 1, low: 2)] {
            try await compare("transaction \(id)") { try await told($0.transaction("\(id)")) }
        }
        for filter in [ExchangeFilter()] + (0..<5).map({ _ in filters.exchangeFilter() }) {
            try await compareExchanges(filter, known, limit: Int.random(in: 1...5, using: &filters.random))
            try await compareVolume(filter, known)
        }
        for exchange in known.exchanges.prefix(3) {
            try await compare("exchange \(exchange.id)") { try await told($0.exchange("\(exchange.id)")) }
        }
        try await compareSources(known)
        try await compare("conflicts of names") { store in
            try await rows { try await store.nameConflicts(ListRequest(limit: 2, cursor: $0)) }
        }
        try await compareExports(lists, known)
        try await compareVerifications()
        if let store = store as? any BrowsableStore { try await compareBrowsing(store, known) }
        for question in (0..<rounds).flatMap({ _ in filters.questions(known) }) {
            try await compare("answer to \(question)") { try await $0.answer(question, where: []).lines() }
            questionCount += 1
        }
        for (question, request) in [
            (AnyQuestion.summary(SummaryQuestion()), ListRequest(matching: filters.filter())),
            (.network(NetworkQuestion()), ListRequest(matching: filters.exchangeFilter())),
        ] {
            try await compare("answer to \(question) where \(request.items)") { store in
                try await store.answer(question, where: request.items).lines()
            }
            questionCount += 1
        }
        random = filters.random
    }

    // MARK: Lists

    private func compareTransactions(
        _ filter: TransactionFilter, _ known: NaiveAnswers, limit: Int
    ) async throws(StoreConformance.Finding) {
        let runs = Dictionary(uniqueKeysWithValues: known.runs.map { ($0.id, $0) })
        for limit in [100, limit] {
            try await compare("transactions matching \(filter), \(limit) at a time") { store in
                let rows = try await rows {
                    try await store.transactions(ListRequest(matching: filter, limit: limit, cursor: $0))
                }
                return Listed(
                    rows, id: \.id, \.eventCount, key: { row in runs[row.id].map { known.key(filter.order, $0) } ?? 0 })
            }
        }
        // Both stores parse a request in the same way. This checks that its words mean the filter.
        guard let page = try? reference.transactions(ListRequest(matching: filter, limit: 100), within: nil) else {
            return
        }
        let meant = known.runs.filter { known.passes(filter, $0) }.map(\.id).sorted()
        try await compare("the words of \(filter)", meant) { page.rows.map(\.id).sorted() }
    }

    private func compareExchanges(
        _ filter: ExchangeFilter, _ known: NaiveAnswers, limit: Int
    ) async throws(StoreConformance.Finding) {
        try await compare("exchanges matching \(filter)") { store in
            let rows = try await rows {
                try await store.exchanges(ListRequest(matching: filter, limit: limit, cursor: $0))
            }
            return Listed(rows, id: \.id.source, \.id.sequence, key: { -$0.exchange.openedMicroseconds })
        }
        guard let page = try? reference.exchanges(ListRequest(matching: filter, limit: 500), within: nil) else {
            return
        }
        let meant = known.exchanges.count { known.passes(filter, $0) }
        try await compare("the words of \(filter)", meant) { page.rows.count }
    }

    /// Compares the changes since the previous comparison.
    private mutating func compareChanges() async throws(StoreConformance.Finding) {
        func changes(_ store: Tried, after position: String) async throws -> Listed<TransactionSummary> {
            let rows = try await rows { cursor in
                var request = ListRequest(matching: TransactionFilter(), limit: 2, cursor: cursor)
                request[.after] = position
                return try await store.transactions(request)
            }
            return Listed(rows, id: \.id, \.eventCount, key: { -$0.begunMicroseconds })
        }
        if let positions {
            try await compare("what has changed", try await changes(reference, after: positions.expected)) {
                try await changes(store, after: positions.found)
            }
        }
        var request = ListRequest()
        request[.after] = ListRequest.now
        positions = try await both("the position of a page") { try await $0.transactions(request).position }
    }

    private func compareSources(_ known: NaiveAnswers) async throws(StoreConformance.Finding) {
        let places = Dictionary(
            uniqueKeysWithValues: known.histories.enumerated().map { ($0.element.source.id, $0.offset) })
        var filters = Array(repeating: SourceFilter(), count: 4)
        filters[1].order = .newest
        filters[2].app = "app 1"
        filters[3].text = "linux 1.2"
        for filter in filters {
            try await compare("sources matching \(filter)") { store in
                let rows = try await rows {
                    try await store.sources(ListRequest(matching: filter, limit: 2, cursor: $0))
                }
                return Listed(
                    rows, id: \.id, \.ledger.recorded,
                    key: { filter.order == .newest ? -($0.heardMicroseconds ?? 0) : Int64(places[$0.id] ?? 0) })
            }
        }
    }

    /// A record in the form that every store may return: redacted again, and from JSON, where a whole number has no
    /// type.
    private func told<Record: Redactable & Codable>(_ record: Record) throws -> Record {
        let json = try JSONEncoder.waybill().encode(record.redacted(by: Redactor()))
        return try JSONDecoder.waybill().decode(Record.self, from: json)
    }

    /// The rows of all pages.
    private func rows<Row: Redactable & Codable>(_ page: (String?) async throws -> RecordPage<Row>) async throws
        -> [Row]
    {
        var rows: [Row] = []
        var cursor: String?
        for _ in 0..<10_000 {
            let page = try await page(cursor)
            rows += try page.rows.map(told)
            cursor = page.next
            if cursor == nil { return rows }
        }
        throw WaybillError(.store, "The pages have no end.")
    }

    // MARK: Facts

    private mutating func compareExports(_ filters: [TransactionFilter], _ known: NaiveAnswers)
        async throws(StoreConformance.Finding)
    {
        var exports = filters.map { ExportedFacts.of(ListRequest(matching: $0)) }
        exports.append(.some([known.runs.map(\.id).min() ?? GUID(high: 1, low: 2)]))
        exports.append(.since(Date(microseconds: script.time(of: step / 2))))
        for facts in exports {
            try await compare("export of \(facts)") { try await Exported($0.export(facts, as: .ndjson)) }
        }
        if let cursors {
            try await compare(
                "export of what is new", try await Exported(reference.export(.after(cursors.expected), as: .ndjson))
            ) {
                try await Exported(store.export(.after(cursors.found), as: .ndjson))
            }
        }
        cursors = try await both("the cursor of an export") {
            try await $0.export(.of(ListRequest()), as: .ndjson).cursor
        }
    }

    private func compareVerifications() async throws(StoreConformance.Finding) {
        let isCounted = (try? await store.verify())?.transactionCount != nil
        try await compare("verification") { store in
            var found = try await store.verify()
            (found.remarks, found.totals, found.tables) = ([], [], [])
            found.sources.sort { $0.id < $1.id }
            if !isCounted {
                found.transactionCount = nil
                for index in found.sources.indices {
                    (found.sources[index].rowCount, found.sources[index].bookedCount) = (nil, nil)
                }
            }
            return found
        }
    }

    // MARK: Pages

    private func compareBrowsing(
        _ store: any BrowsableStore, _ known: NaiveAnswers
    ) async throws(StoreConformance.Finding) {
        try await compare("names", reference.names()) { try await store.names() }
        let apps = Set(known.histories.map(\.source.app)).sorted()
        try await compare("apps", apps) { try await store.apps(limit: 100) }
        try await compare("first starts", reference.firstStarts) { try await store.firstStarts() }
        try await compare("quarantined facts", 0) { try await store.quarantined(limit: 1).count }
        let ids = known.runs.map(\.id).sorted() + [GUID(high: 1, low: 2)]
        try await compare("counts of errors", known.errorCounts(of: ids)) { try await store.errorCounts(of: ids) }
        for id in ids.suffix(3) {
            try await compare("neighbors of \(id)", reference.neighbors(of: id)) {
                let found = try await store.neighbors(of: id)
                return [found.before, found.after]
            }
        }
        for id in [known.histories.first?.source.id ?? GUID(high: 1, low: 3), GUID(high: 1, low: 4)] {
            try await compare("source \(id)", try reference.source(id)) { try await store.source("\(id)") }
        }
    }
}

/// A list with its sort keys. Rows with the same key may be in any order.
private struct Listed<Row: Equatable>: Equatable {
    var keys: [Int64]
    var rows: [Row]

    init<ID: Comparable, Other: Comparable>(
        _ rows: [Row], id: (Row) -> ID, _ other: (Row) -> Other, key: (Row) -> Int64
    ) {
        keys = rows.map(key)
        self.rows = rows.sorted { (id($0), other($0)) < (id($1), other($1)) }
    }
}

/// The lines of an export. The format promises only one thing about their order: the lines of a part are contiguous.
private struct Exported: Equatable {
    /// Sorted; a repeated line counts twice.
    var lines: [String] = []
    /// Parts whose lines are not contiguous.
    var torn: [String] = []

    init(_ stream: ExportStream) async throws {
        var parts: [String] = []
        for _ in 0..<10_000 {
            guard let piece = try await stream.next() else { break }
            for line in piece.bytes.split(separator: 0x0A) {
                let row = try JSONDecoder().decode(Row.self, from: Data(line))
                let part = "\(row.source) \(row.part)"
                if part != parts.last { parts.append(part) }
                lines.append(String(decoding: line, as: UTF8.self))
            }
        }
        lines.sort()
        torn = Dictionary(grouping: parts, by: \.self).filter { $0.value.count > 1 }.keys.sorted()
    }

    private struct Row: Decodable {
        var source: String
        var part: Int64
    }
}
