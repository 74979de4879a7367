import WaybillCore
import WaybillQueries

/// Excerpts of a long waterfall: runs of similar bars as one row, a span of time, and pages of rows.
extension Waterfall {
    /// A run of fewer bars stays as it is.
    private static let shortestRun = 4
    /// A browser lays out as many rows without a pause.
    private static let longestRun = 100
    /// A part with at most as many events, or exchanges, shows each.
    static let longCount = 40
    /// A longer exchange, or a longer pause between events, is worth a row.
    private var longTime: Int64 { whole.length / 20 }

    /// Folds exchanges with the same method, host and path template, unless they failed, are open, are long or caused
    /// a part.
    func runs(ofExchanges bars: [Bar], isAlone: (FactID) -> Bool) -> [Bar] {
        runs(of: bars) { bar in
            guard !bar.hasFailed, !bar.isOpen, bar.end.subtracting(bar.start) <= longTime, let fact = bar.fact,
                isAlone(fact), let url = bar.url
            else { return nil }
            return "\(bar.label.prefix { $0 != " " }) \(PathTemplate(url))"
        }
    }

    /// Folds events, except errors, the first, the last, rare ones, and those around a pause.
    func runs(ofEvents bars: [Bar]) -> [Bar] {
        let counts = Dictionary(bars.map { ($0.label, 1) }, uniquingKeysWith: +)
        let rare = Set(counts.filter { $0.value <= 2 }.keys)
        var named = Set([bars.startIndex, bars.endIndex - 1])
        for index in bars.indices {
            if bars[index].hasFailed || bars[index].entry?.isLate == true { named.insert(index) }
            if rare.count <= Self.longCount / 2, rare.contains(bars[index].label) { named.insert(index) }
            if index > 0, bars[index].start.subtracting(bars[index - 1].start) > longTime {
                named.formUnion([index - 1, index])
            }
        }
        let foldable = Set(bars.indices.filter { !named.contains($0) }.compactMap { bars[$0].fact })
        return runs(of: bars) { bar in bar.fact.flatMap { foldable.contains($0) ? "events" : nil } }
    }

    /// - Parameter template: Returns what similar bars share; `nil` for a bar that is never folded.
    private func runs(of bars: [Bar], by template: (Bar) -> String?) -> [Bar] {
        guard bars.count > Self.longCount else { return bars }
        let templates = bars.map(template)
        var rows: [Bar] = []
        var start = 0
        while start < bars.count {
            var end = start + 1
            while end < bars.count, end - start < Self.longestRun, let known = templates[start], templates[end] == known
            {
                end += 1
            }
            rows += Self.rows(Array(bars[start..<end]), templates[start])
            start = end
        }
        return rows
    }

    private static func rows(_ members: [Bar], _ template: String?) -> [Bar] {
        guard members.count >= shortestRun, let template, var run = members.first else { return members }
        let durations = members.map { $0.end.subtracting($0.start) }
        run.label =
            run.kind == .event ? "\(members.count) \(template)" : "\(members.count) × \(PathTemplate(run.label))"
        run.note =
            run.kind == .event
            ? "from \(run.note)"
            : "\(Words.duration(durations.min() ?? 0)) to \(Words.duration(durations.max() ?? 0))"
        run.end = members.map(\.end).max() ?? run.end
        (run.kind, run.members, run.entry, run.url, run.firstByte, run.timing) = (.run, members, nil, nil, nil, nil)
        run.events = members.map { Mark(time: $0.start, label: $0.label) }
        return [run]
    }
}

extension ClosedRange<Int64> {
    /// The distance of its ends, from 1 to `Int64.max`.
    var length: Int64 { Swift.max(1, upperBound.subtracting(lowerBound)) }
}

extension Waterfall {
    var unfolded: [Bar] { bars.flatMap { $0.kind == .run ? $0.members : [$0] } }

    /// Part of a waterfall, in microseconds since it began.
    package struct Excerpt: Sendable {
        /// `nil` for its beginning.
        package var from: Int64?
        /// `nil` for its end.
        package var to: Int64?
        /// Rows must contain this text; empty for all rows.
        package var text = ""
        /// The key of a row on the wanted page; `nil` for the first page.
        package var at: String?

        package init() {}
    }

    /// Keeps the rows that overlap a span and contain a text, and the parts above them.
    package mutating func select(_ excerpt: Excerpt) {
        at = excerpt.at
        let start = min(max(whole.lowerBound.adding(excerpt.from ?? 0), whole.lowerBound), whole.upperBound - 1)
        let end = excerpt.to.map { whole.lowerBound.adding($0) } ?? whole.upperBound
        span = start...min(max(end, start + 1), whole.upperBound)
        guard span != whole || !excerpt.text.isEmpty else { return }
        let text = excerpt.text.lowercased()
        func isWanted(_ bar: Bar) -> Bool {
            guard bar.start <= span.upperBound, bar.end >= span.lowerBound else { return false }
            return text.isEmpty || Self.words(of: bar).lowercased().contains(text)
        }
        var rows: [Bar] = []
        // From the end, a row above the last kept one is its parent.
        var depth = 0
        for bar in bars.reversed() {
            let members = bar.members.filter(isWanted)
            let kept = bar.kind == .run ? Self.rows(members, Self.template(of: bar)) : isWanted(bar) ? [bar] : []
            guard !kept.isEmpty || bar.depth < depth else { continue }
            rows += kept.isEmpty ? [bar] : kept.reversed()
            depth = bar.depth
        }
        bars = rows.reversed()
    }

    private static func template(of run: Bar) -> String { run.label.split(separator: " ").last.map(String.init) ?? "" }

    private static func words(of bar: Bar) -> String {
        let error = bar.entry?.error.map(Words.error)
        let told = bar.entry.map { Words.attributes($0.attributes) }
        return [bar.label, bar.url, bar.note, error, told].compactMap(\.self).joined(separator: " ")
    }

    /// A row's name in addresses; unique in its transaction.
    func key(of bar: Bar) -> String {
        let prefix =
            switch (bar.kind, bar.entry?.kind) {
            case (.run, _): "r"
            // The row of its part or exchange has the name of this fact.
            case (.event, .begun), (.event, .joined), (.event, .exchangeBegun): "b"
            case (.event, _), (.part, _), (.exchange, _), (.child, _): ""
            }
        return prefix + (bar.fact.map { names.anchor(of: $0) } ?? bar.transaction?.description ?? "")
    }

    /// The failed rows, runs included, without the parts that they are in.
    var errors: [String] {
        bars.filter { $0.hasFailed && $0.kind != .part }.map(key)
    }

    struct Page {
        /// The rows, after the parts above the first.
        var rows: [Bar]
        var range: Range<Int>
        /// The keys of the first rows of the pages before and after.
        var before: String?
        var after: String?
    }

    /// The most rows of a page, and the most with those in runs. Events count a third, because they are short.
    static let pageLimit = (rows: 100, all: 300)

    private static func weight(of bar: Bar) -> Int {
        1 + (bar.members.first?.kind == .event ? bar.members.count / 3 : bar.members.count)
    }

    func page(at key: String?) -> Page {
        var starts = [0]
        var weight = 0
        var place = 0
        for (index, bar) in bars.enumerated() {
            let its = Self.weight(of: bar)
            weight += its
            if let start = starts.last, index - start == Self.pageLimit.rows || weight > Self.pageLimit.all,
                index > start
            {
                starts.append(index)
                weight = its
            }
            if let key, self.key(of: bar) == key || bar.members.contains(where: { self.key(of: $0) == key }) {
                place = starts.count - 1
            }
        }
        let end = place + 1 < starts.count ? starts[place + 1] : bars.count
        let range = starts[place]..<max(starts[place], end)
        return Page(
            rows: parts(above: range.lowerBound) + bars[range], range: range,
            before: place > 0 ? self.key(of: bars[starts[place - 1]]) : nil,
            after: end < bars.count ? self.key(of: bars[end]) : nil)
    }

    private func parts(above index: Int) -> [Bar] {
        guard bars.indices.contains(index) else { return [] }
        var parts: [Bar] = []
        var depth = bars[index].depth
        for bar in bars[..<index].reversed() where bar.depth < depth {
            parts.append(bar)
            depth = bar.depth
        }
        return parts.prefix(4).reversed()
    }
}
