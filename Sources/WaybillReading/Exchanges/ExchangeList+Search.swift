import WaybillCore
import WaybillStore

extension ExchangeList {
    /// The newest behind a cursor, as far as its budget goes.
    ///
    /// Looked for in windows of time, the newest first, each with about a stretch of exchanges: all that is newer than
    /// a window's beginning is known before anything older is looked at.
    ///
    /// - Returns: Also how many exchanges were looked at, and from when on; nil where that are all, or the limit was
    ///   reached.
    func keys(
        limit: Int, after cursor: ListCursor?, budget: SearchBudget
    ) throws(WaybillError) -> (keys: [ExchangeKey], lookedAt: (count: Int, from: Int64)?) {
        // That with the newest at the end, from where it is taken.
        var spans = Array(try spans(after: cursor).reversed())
        var found: [ExchangeKey] = []
        var count = 0
        while try settle(&spans, count: Self.sourceCount(of: budget.stretch) + 1) {
            let begin = try beginning(of: spans, stretch: budget.stretch)
            var older: [ExchangeSpan] = []
            while let span = spans.last, span.newest >= begin ?? .min {
                spans.removeLast()
                if let window = span.clamped(since: begin, until: nil) {
                    found += try keys(in: window, limit: limit, after: cursor)
                    count += try self.count(in: window)
                }
                if let begin, let rest = span.clamped(since: nil, until: begin) { older.append(rest) }
            }
            // All of them end just before the window, and so behind those that were not in it.
            spans += older
            found = Array(found.sorted(by: ExchangeKey.follows).prefix(limit))
            if found.count == limit { break }
            if let begin, budget.isOver(), !spans.isEmpty { return (found, (count, begin)) }
        }
        return (found, nil)
    }

    /// A stretch ends behind so many sources, however little each of them has.
    private static func sourceCount(of stretch: Int) -> Int { max(1, stretch / 10) }

    /// Has the last ones end with an exchange each, in order: a window that began where none was opened would be as
    /// small as can be, and the next one, too.
    ///
    /// - Returns: Whether there is any left.
    private func settle(_ spans: inout [ExchangeSpan], count: Int) throws(WaybillError) -> Bool {
        while let index = spans.indices.suffix(count).last(where: { !spans[$0].isExact }) {
            var span = spans.remove(at: index)
            let newest = try connection.statement(
                "SELECT max(at_us) FROM network_logs WHERE source = ? AND method IS NOT NULL AND at_us >= ? AND at_us < ?"
            ).first(span.source, span.times.lowerBound, span.times.upperBound) { row in row.isNull(0) ? nil : row.int(0)
            }
            guard let newest = newest ?? nil else { continue }
            span.times = span.times.lowerBound..<newest + 1
            span.isExact = true
            spans.insert(span, at: spans.lastIndex { $0.newest <= span.newest }.map { $0 + 1 } ?? 0)
        }
        return !spans.isEmpty
    }

    /// Since 1970: behind a stretch of exchanges of the source with the newest, or behind so many sources; nil: there
    /// is less than that.
    private func beginning(of spans: [ExchangeSpan], stretch: Int) throws(WaybillError) -> Int64? {
        guard let newest = spans.last else { return nil }
        let inSource = try connection.statement(
            "SELECT at_us FROM network_logs WHERE source = ? AND method IS NOT NULL AND at_us >= ? AND at_us < ? "
                + "ORDER BY at_us DESC LIMIT 1 OFFSET ?"
        ).first(newest.source, newest.times.lowerBound, newest.times.upperBound, stretch - 1) { row in
            row.int(0) + newest.offset
        }
        let amongSources = spans.dropLast(Self.sourceCount(of: stretch)).last?.newest
        return [inSource, amongSources].compactMap(\.self).max()
    }

    private func count(in span: ExchangeSpan) throws(WaybillError) -> Int {
        try connection.integer(
            "SELECT count(*) FROM network_logs WHERE source = ? AND method IS NOT NULL AND at_us >= ? AND at_us < ?",
            span.source, span.times.lowerBound, span.times.upperBound)
    }
}
