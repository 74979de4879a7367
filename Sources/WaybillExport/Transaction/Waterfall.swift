import Foundation
package import WaybillCore
import WaybillQueries

/// A transaction as bars: its parts, its requests, and its descendant transactions, each after its parent.
package struct Waterfall {
    package struct Bar {
        package enum Kind {
            case part, exchange, child
            /// Only in a detailed waterfall.
            case event
            /// Similar exchanges or events of one part; only in a detailed waterfall.
            case run
        }

        package var kind: Kind
        package var label: String
        package var note: String
        /// The index of its source.
        package var lane: Int
        package var depth: Int
        package var start: Int64
        package var end: Int64
        /// The start of the response; `nil` if it was not measured, and for parts.
        package var firstByte: Int64?
        package var timing: ExchangeTiming?
        /// The uncertainty of a part's clock in microseconds; `nil` without an estimate.
        package var uncertainty: Int64?
        /// The fact that began it; `nil` for a child.
        var fact: FactID?
        package var transaction: GUID?
        var url: String?
        var entry: TransactionRecord.Entry?
        /// The bars that a run stands for, in order of time.
        var members: [Bar] = []
        /// Whether no end was recorded. `end` is the time of the last fact then.
        package var isOpen: Bool
        package var hasFailed: Bool
        /// The events of a part, or the messages of a WebSocket.
        package var events: [Mark] = []
        package var errors: [Mark] = []
    }

    package struct Mark {
        package var time: Int64
        var label: String
    }

    /// Callers precede the parts that they caused.
    package var bars: [Bar] = []
    /// The first and the last shown moment, in microseconds since 1970. They always differ.
    package var span: ClosedRange<Int64>
    let whole: ClosedRange<Int64>

    /// Returns the content of a request's row; `nil` for rows that do not open.
    var details: (FactID) -> HTML? = { _ in nil }
    /// Returns the address of the page that shows a row; `nil` in a file, which shows all rows and links to none.
    var address: ((String) -> String)?
    /// The key of a row on the wanted page; `nil` for the first page.
    var at: String?

    let record: ShownRecord
    private let isDetailed: Bool
    private let entries: [FactID: [TransactionRecord.Entry]]
    private let exchanges: [FactID: [TransactionRecord.Exchange]]
    private let caused: [FactID: [TransactionRecord.Part]]
    private var begunIn: [FactID: [TransactionSummary]] = [:]
    private let begunBelow: [GUID: [TransactionSummary]]
    private var drawn: Set<FactID> = []
    private var drawnTransactions: Set<GUID> = []

    /// - Parameter isDetailed: Whether events have bars, and similar bars become runs.
    package init(_ record: ShownRecord, isDetailed: Bool = false) {
        self.record = record
        self.isDetailed = isDetailed
        let times = record.timeline.map(\.timeMicroseconds)
        let start = times.min() ?? record.summary.begunMicroseconds
        let end = max(times.max() ?? start, start + 1)
        // Descendants may end much later. They extend the span to at most twice its length.
        let latest = (record.family?.below ?? []).map { $0.begunMicroseconds.adding($0.durationMicroseconds ?? 0) }
            .max()
        whole = start...min(max(end, latest ?? end), end.adding(end.subtracting(start)))
        span = whole
        entries = Dictionary(grouping: record.timeline) { FactID(source: $0.id.source, sequence: $0.part) }
        exchanges = Dictionary(grouping: record.exchanges) { FactID(source: $0.id.source, sequence: $0.part) }
        let known = Set(record.exchanges.map(\.id))
        let roots = record.parts.filter { part in part.cause.map { !known.contains($0) } ?? true }
        caused = Dictionary(grouping: record.parts.filter { $0.cause != nil }) { $0.cause ?? $0.id }
        begunBelow = Dictionary(grouping: record.family?.below ?? []) { $0.parent ?? $0.id }
        drawnTransactions = [record.summary.id]
        let parts = Set(record.parts.map(\.id))
        for child in begunBelow[record.summary.id] ?? [] {
            let part = child.parentPart.flatMap { parts.contains($0) ? $0 : nil } ?? record.parts.first?.id
            if let part { begunIn[part, default: []].append(child) }
        }
        // Parts with an unknown cause, or in a cycle of causes, become roots.
        draw(roots.map { bar(of: $0, depth: 0) })
        for part in record.parts where !drawn.contains(part.id) { draw([bar(of: part, depth: 0)]) }
        guard isDetailed else { return }
        for entry in record.timeline where !drawn.contains(FactID(source: entry.id.source, sequence: entry.part)) {
            bars.append(bar(of: entry, depth: 0))
        }
    }

    /// The first and the last moment, in microseconds since the transaction began.
    package var reach: ClosedRange<Int64> {
        let begun = record.summary.begunMicroseconds
        return span.lowerBound - begun...span.upperBound - begun
    }

    var names: SourceNames { record.names }

    package mutating func widen(to reach: ClosedRange<Int64>) {
        let begun = record.summary.begunMicroseconds
        span = min(span.lowerBound, begun + reach.lowerBound)...max(span.upperBound, begun + reach.upperBound)
    }

    /// At most four round times since ``whole`` began, or since ``span`` if that begins earlier. None is too close to an
    /// end for its label.
    package var ticks: [Int64] {
        let length = span.length
        let step = Self.steps.first { length / $0 <= 4 } ?? length / 4
        let start = span.lowerBound.subtracting(origin)
        let first = start == 0 ? step : (start.adding(length / 12) / step * step).adding(step)
        return Array(sequence(first: first) { $0.adding(step) }.prefix { $0.subtracting(start) < length - length / 12 })
    }

    var origin: Int64 { min(whole.lowerBound, span.lowerBound) }

    private static let steps: [Int64] =
        [1, 10, 100, 1000, 10_000, 100_000, 1_000_000].flatMap { [$0, 2 * $0, 5 * $0] }
        + [10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400].map { $0 * 1_000_000 }

    /// Draws bars and those below them. Untrusted input determines the depth: a loop avoids a stack overflow.
    private mutating func draw(_ roots: [Bar]) {
        var waiting = Array(roots.reversed())
        while let bar = waiting.popLast() {
            if bar.kind == .part, let part = bar.fact, !drawn.insert(part).inserted { continue }
            if let child = bar.transaction, !drawnTransactions.insert(child).inserted { continue }
            bars.append(bar)
            waiting += below(bar).reversed()
        }
    }

    private func below(_ bar: Bar) -> [Bar] {
        let depth = bar.depth + 1
        switch bar.kind {
        case .part: return bar.fact.map { rows(of: $0, below: bar) } ?? []
        case .exchange:
            let parts = bar.fact.flatMap { caused[$0] } ?? []
            return parts.map { self.bar(of: $0, depth: depth) }
        case .child:
            let children = bar.transaction.flatMap { begunBelow[$0] } ?? []
            return children.map { self.bar(of: $0, depth: depth, lane: bar.lane) }
        case .event, .run: return []
        }
    }

    private func rows(of part: FactID, below bar: Bar) -> [Bar] {
        let (entries, depth) = (entries[part] ?? [], bar.depth + 1)
        let last = entries.map(\.timeMicroseconds).max() ?? bar.start
        let shown = (exchanges[part] ?? []).filter { isDetailed || $0.role == .client }
        var rows = shown.map { self.bar(of: $0, depth: depth, last: last) }
        if isDetailed {
            rows = runs(ofExchanges: rows) { caused[$0] == nil }
            rows += runs(ofEvents: entries.filter(isRow).map { self.bar(of: $0, depth: depth) })
        }
        rows += (begunIn[part] ?? []).map { self.bar(of: $0, depth: depth, lane: bar.lane) }
        return rows.ordered { $0.start < $1.start }
    }

    private func bar(of part: TransactionRecord.Part, depth: Int) -> Bar {
        let entries = entries[part.id] ?? []
        let last = entries.map(\.timeMicroseconds).max() ?? part.openedMicroseconds
        let events = entries.filter { $0.kind == .event }
        let served = exchanges[part.id]?.first { $0.role == .server }
        let end = part.closedMicroseconds
        return Bar(
            kind: .part, label: names[part.id.source] + (served.map { " · \($0.method) \($0.path)" } ?? ""),
            note: part.durationMicroseconds.map(Words.duration) ?? Words.outcome(part.outcome),
            lane: names.lane(of: part.id.source), depth: depth, start: part.openedMicroseconds,
            end: max(part.openedMicroseconds, end ?? last),
            uncertainty: record.uncertainty(of: part.id.source), fact: part.id,
            isOpen: end == nil, hasFailed: part.outcome == .failed,
            events: events.filter { $0.error == nil }.map { Mark(time: $0.timeMicroseconds, label: $0.label) },
            errors: events.filter { $0.error != nil }.map { Mark(time: $0.timeMicroseconds, label: $0.label) })
    }

    /// Whether a fact says more than the bar of its part, or of its exchange.
    private func isRow(_ entry: TransactionRecord.Entry) -> Bool {
        switch entry.kind {
        case .event, .attributesSet, .unknown: true
        case .begun, .joined: !entry.attributes.isEmpty
        case .finished:
            entry.isLate || entry.error != nil || !entry.attributes.isEmpty
                || entry.label != TransactionOutcome.succeeded.name
        case .exchangeBegun, .exchangeFinished: entry.isLate
        }
    }

    private func bar(of entry: TransactionRecord.Entry, depth: Int) -> Bar {
        let time = entry.timeMicroseconds
        let hasFailed = entry.error != nil || entry.kind == .finished && entry.label == TransactionOutcome.failed.name
        return Bar(
            kind: .event, label: entry.label.spaced, note: time.subtracting(origin).differenceText,
            lane: names.lane(of: entry.id.source), depth: depth, start: time, end: time, fact: entry.id, entry: entry,
            isOpen: false, hasFailed: hasFailed)
    }

    /// `lane` is that of its parent, used if the child's own source is unknown.
    private func bar(of child: TransactionSummary, depth: Int, lane: Int) -> Bar {
        let took = child.durationMicroseconds
        let outcome = took == nil || child.outcome != .succeeded ? Words.outcome(child.outcome) : nil
        return Bar(
            kind: .child, label: child.useCaseName,
            note: [outcome, took.map(Words.duration)].compactMap(\.self).joined(separator: " · "),
            lane: child.parentPart.map { names.lane(of: $0.source) } ?? lane, depth: depth,
            start: child.begunMicroseconds,
            end: took.map(child.begunMicroseconds.adding) ?? max(child.begunMicroseconds, span.upperBound),
            transaction: child.id, isOpen: took == nil, hasFailed: child.outcome == .failed)
    }

    private func bar(of exchange: TransactionRecord.Exchange, depth: Int, last: Int64) -> Bar {
        let end = exchange.closedMicroseconds
        let took = exchange.durationMicroseconds.map(Words.duration)
        return Bar(
            kind: .exchange, label: "\(exchange.method) \(exchange.path)",
            note: [exchange.result, took].compactMap(\.self).joined(separator: " · "),
            lane: names.lane(of: exchange.id.source),
            depth: depth, start: exchange.openedMicroseconds, end: max(exchange.openedMicroseconds, end ?? last),
            firstByte: exchange.firstByteMicroseconds, timing: ExchangeTiming(exchange), fact: exchange.id,
            url: exchange.url, isOpen: end == nil,
            hasFailed: exchange.hasFailed,
            events: (exchange.transfer.webSocket?.messages ?? []).map { message in
                Mark(
                    time: message.atMicroseconds,
                    label: "\(message.isSent ? "sent" : "received") \(Words.byteCount(message.byteCount))")
            })
    }
}

extension Waterfall {
    package struct Gap: Equatable {
        var start: Int64
        var end: Int64
        var after: String
        var until: String
    }

    /// The three longest gaps of at least a tenth of the span. Raw clocks of several sources would show false gaps.
    var gaps: [Gap] {
        guard !record.isMixed else { return [] }
        let length = whole.length
        var gaps: [Gap] = []
        var (covered, last) = (whole.lowerBound, "the beginning")
        for stretch in stretches {
            if stretch.start - covered >= max(2, length / 10) {
                gaps.append(Gap(start: covered, end: stretch.start, after: last, until: stretch.beginning))
            }
            if stretch.end >= covered { (covered, last) = (stretch.end, stretch.ending) }
        }
        let longest = gaps.sorted { $0.end - $0.start > $1.end - $1.start }.prefix(3)
        return longest.sorted { $0.start < $1.start }
    }

    private struct Stretch {
        var start: Int64
        var end: Int64
        var beginning: String
        var ending: String
    }

    private var stretches: [Stretch] {
        let facts = record.timeline.map { entry in
            let label = entry.label.spaced
            return Stretch(start: entry.timeMicroseconds, end: entry.timeMicroseconds, beginning: label, ending: label)
        }
        let requests = unfolded.filter { $0.kind == .exchange || $0.kind == .child }.map { bar in
            let ending = bar.kind == .child ? "the end of \(bar.label)" : "the answer to \(bar.label)"
            return Stretch(start: bar.start, end: bar.end, beginning: bar.label, ending: ending)
        }
        return (facts + requests).sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }
}
