package import WaybillCore
package import WaybillStore

package struct SeenValues: Sendable, Equatable {
    private var counts: [Segmentation: [String: Int]] = [:]

    package init() {}

    /// Counts a value. Empty values are ignored.
    package mutating func add(_ value: String, of segmentation: Segmentation, count: Int = 1) {
        guard !value.isEmpty else { return }
        counts[segmentation, default: [:]][value, default: 0] += count
    }

    package var attributes: [String] {
        counts.keys.compactMap { segmentation in
            if case .attribute(let name) = segmentation { name } else { nil }
        }.sorted()
    }

    /// Returns the values, the most frequent first. Hours and days begin with the latest.
    package func values(of segmentation: Segmentation) -> [String] {
        let counts = counts[segmentation] ?? [:]
        switch segmentation {
        case .hour, .day: return counts.keys.sorted(by: >)
        case .attribute, .app, .appVersion, .device, .os, .osVersion, .parentOutcome, .parentUseCase, .ended:
            return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        }
    }

    /// Removes attributes with sensitive names, and values that redaction would change.
    package func redacted(by redactor: Redactor) -> SeenValues {
        var seen = SeenValues()
        for (segmentation, values) in counts {
            if case .attribute(let name) = segmentation, redactor.isSensitive(name) || redactor.text(name) != name {
                continue
            }
            for (value, count) in values where redactor.text(value) == value {
                seen.add(value, of: segmentation, count: count)
            }
        }
        return seen
    }
}

extension StoreReader {
    package func seenValues(_ filter: TransactionFilter, limit: Int, now wall: Int64) throws(WaybillError) -> SeenValues
    {
        var filter = filter
        filter.order = .newest
        // In the order of `Segmentation.properties`.
        let columns = [Segmentation.hour, .day, .ended, .parentOutcome, .parentUseCase].map { $0.column(now: wall) }
            .joined(separator: ", ")
        let sql = """
            SELECT p.opened_detail, s.app, s.app_version, s.device, s.os, s.os_version, \(columns), \
            p.closed_detail, s.attributes FROM parts p CROSS JOIN sources s ON s.id = p.source WHERE p.source = ? AND p.sequence = ?
            """
        return try read { () throws(WaybillError) in
            var seen = SeenValues()
            for leader in try leaders(ListQuery(filter, limit: limit, after: nil, now: wall), filter.order) {
                var said: Attributes = [:]
                try connection.statement(
                    "SELECT detail FROM events WHERE source = ? AND part = ? AND detail IS NOT NULL ORDER BY after DESC LIMIT 100"
                ).forEachRow(leader.source, leader.sequence) { row in
                    said.merge(DetailColumn(row.optionalText(0)).attributes) { later, _ in later }
                }
                _ = try connection.statement(sql).first(leader.source, leader.sequence) { row in
                    said.merge(DetailColumn(row.optionalText(8)).attributes) { _, last in last }
                    for earlier in [
                        DetailColumn(row.optionalText(0)).attributes, Attributes(columnText: row.optionalText(9)),
                    ] { said.merge(earlier) { later, _ in later } }
                    for (name, value) in said { seen.add(value.description, of: .attribute(name)) }
                    for (column, segmentation) in zip(Int32(1)..., Segmentation.properties) {
                        seen.add(row.optionalText(column) ?? "", of: segmentation)
                    }
                }
            }
            return seen
        }
    }
}

extension String {
    func hint(among known: [String], none: String) -> String {
        if let nearest = nearest(among: known) { return "did you mean “\(nearest)”?" }
        return known.isEmpty
            ? none : "there are \(known.prefix(12).joined(separator: ", "))\(known.count > 12 ? " and others" : "")."
    }
}
