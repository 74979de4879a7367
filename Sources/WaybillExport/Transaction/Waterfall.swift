import Foundation
package import WaybillCore
import WaybillQueries

/// A transaction as bars: its parts, its requests, and its descendant transactions, each after its parent.
package struct Waterfall {
    package struct Bar {
        package enum Kind { case part, exchange, child }

        package var kind: Kind
        package var label: String
        package var note: String
        /// The index of its source.
        package var lane: Int
        /// The indentation; 0 for roots.
        package var depth: Int
        package var start: Int64
        package var end: Int64
        /// The start of the response; `nil` if it was not measured, and for parts.
        package var firstByte: Int64?
        package var timing: ExchangeTiming?
        /// The uncertainty of a part's clock in microseconds; `nil` without an estimate.
        package var uncertainty: Int64?
        var exchange: FactID?
        package var transaction: GUID?
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

    /// The bars; callers precede the parts that they caused.
    package private(set) var bars: [Bar] = []
    /// The first and the last moment, in microseconds since 1970. They always differ.
    package private(set) var span: ClosedRange<Int64>

    let record: ShownRecord
    let names: SourceNames
    private let entries: [FactID: [TransactionRecord.Entry]]
    private let exchanges: [FactID: [TransactionRecord.Exchange]]
    private let caused: [FactID: [TransactionRecord.Part]]
    private var begunIn: [FactID: [TransactionSummary]] = [:]
    private let begunBelow: [GUID: [TransactionSummary]]
    private var drawn: Set<FactID> = []
    private var drawnTransactions: Set<GUID> = []

    package init(_ record: ShownRecord, names: SourceNames) {
        self.record = record
        self.names = names
        let times = record.timeline.map(\.timeMicroseconds)
        let start = times.min() ?? record.summary.begunMicroseconds
        let end = max(times.max() ?? start, start + 1)
        // Descendants may end much later. They extend the span to at most twice its length.
        let latest = (record.family?.below ?? []).map { $0.begunMicroseconds.adding($0.durationMicroseconds ?? 0) }
            .max()
        span = start...min(max(end, latest ?? end), end + (end - start))
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
        for part in roots + record.parts { draw(.part(part, depth: 0)) }
    }

    /// The first and the last moment, in microseconds since the transaction began.
    package var reach: ClosedRange<Int64> {
        let begun = record.summary.begunMicroseconds
        return span.lowerBound - begun...span.upperBound - begun
    }

    /// Gives two waterfalls the same scale.
    package mutating func widen(to reach: ClosedRange<Int64>) {
        let begun = record.summary.begunMicroseconds
        span = min(span.lowerBound, begun + reach.lowerBound)...max(span.upperBound, begun + reach.upperBound)
    }

    /// At most four round times, none too close to the end for its label.
    package var ticks: [Int64] {
        let length = span.upperBound - span.lowerBound
        let step = Self.steps.first { length / $0 <= 4 } ?? length / 4
        return Array(sequence(first: step) { $0 + step }.prefix { $0 < length * 92 / 100 })
    }

    private static let steps: [Int64] =
        [1, 10, 100, 1000, 10_000, 100_000, 1_000_000].flatMap { [$0, 2 * $0, 5 * $0] }
        + [10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21_600, 43_200, 86_400].map { $0 * 1_000_000 }

    private enum Branch {
        case part(TransactionRecord.Part, depth: Int)
        /// `lane` is that of its parent, used if the child's own source is unknown.
        case child(TransactionSummary, depth: Int, lane: Int)
        /// `last` is the time of the last fact of its part.
        case exchange(TransactionRecord.Exchange, depth: Int, last: Int64)
    }

    /// Untrusted input determines the depth. A loop avoids a stack overflow.
    private mutating func draw(_ branch: Branch) {
        var waiting = [branch]
        while let next = waiting.popLast() {
            let below: [Branch] =
                switch next {
                case .part(let part, let depth): bar(of: part, depth: depth)
                case .child(let child, let depth, let lane): bar(of: child, depth: depth, lane: lane)
                case .exchange(let exchange, let depth, let last): bar(of: exchange, depth: depth, last: last)
                }
            waiting += below.reversed()
        }
    }

    private mutating func bar(of part: TransactionRecord.Part, depth: Int) -> [Branch] {
        guard drawn.insert(part.id).inserted else { return [] }
        let entries = entries[part.id] ?? []
        let exchanges = exchanges[part.id] ?? []
        let last = entries.map(\.timeMicroseconds).max() ?? part.openedMicroseconds
        let events = entries.filter { $0.kind == .event }
        let request = exchanges.first { $0.role == .server }.map { " · \($0.method) \($0.path)" } ?? ""
        let end = part.closedMicroseconds
        bars.append(
            Bar(
                kind: .part, label: names[part.id.source] + request,
                note: part.durationMicroseconds.map(Words.duration) ?? Words.outcome(part.outcome),
                lane: names.lane(of: part.id.source), depth: depth, start: part.openedMicroseconds,
                end: max(part.openedMicroseconds, end ?? last),
                uncertainty: record.uncertainty(of: part.id.source),
                isOpen: end == nil, hasFailed: part.outcome == .failed,
                events: events.filter { $0.error == nil }.map { Mark(time: $0.timeMicroseconds, label: $0.label) },
                errors: events.filter { $0.error != nil }.map { Mark(time: $0.timeMicroseconds, label: $0.label) }))
        let lane = names.lane(of: part.id.source)
        var below: [Branch] = []
        var children = (begunIn[part.id] ?? [])[...]
        for exchange in exchanges where exchange.role == .client {
            while let child = children.first, child.begunMicroseconds < exchange.openedMicroseconds {
                below.append(.child(children.removeFirst(), depth: depth + 1, lane: lane))
            }
            below.append(.exchange(exchange, depth: depth + 1, last: last))
        }
        return below + children.map { .child($0, depth: depth + 1, lane: lane) }
    }

    private mutating func bar(of child: TransactionSummary, depth: Int, lane: Int) -> [Branch] {
        guard drawnTransactions.insert(child.id).inserted else { return [] }
        let lane = child.parentPart.map { names.lane(of: $0.source) } ?? lane
        let took = child.durationMicroseconds
        bars.append(
            Bar(
                kind: .child, label: child.useCaseName,
                note: [
                    took == nil || child.outcome != .succeeded ? Words.outcome(child.outcome) : nil,
                    took.map(Words.duration),
                ]
                .compactMap(\.self).joined(separator: " · "),
                lane: lane, depth: depth, start: child.begunMicroseconds,
                end: took.map(child.begunMicroseconds.adding) ?? max(child.begunMicroseconds, span.upperBound),
                transaction: child.id, isOpen: took == nil, hasFailed: child.outcome == .failed))
        return (begunBelow[child.id] ?? []).map { .child($0, depth: depth + 1, lane: lane) }
    }

    private mutating func bar(of exchange: TransactionRecord.Exchange, depth: Int, last: Int64) -> [Branch] {
        let end = exchange.closedMicroseconds
        let took = exchange.durationMicroseconds.map(Words.duration)
        bars.append(
            Bar(
                kind: .exchange, label: "\(exchange.method) \(exchange.path)",
                note: [exchange.result, took].compactMap(\.self).joined(separator: " · "),
                lane: names.lane(of: exchange.id.source),
                depth: depth, start: exchange.openedMicroseconds, end: max(exchange.openedMicroseconds, end ?? last),
                firstByte: exchange.firstByteMicroseconds, timing: ExchangeTiming(exchange), exchange: exchange.id,
                isOpen: end == nil,
                hasFailed: exchange.hasFailed,
                events: (exchange.transfer.webSocket?.messages ?? []).map { message in
                    Mark(
                        time: message.atMicroseconds,
                        label: "\(message.isSent ? "sent" : "received") \(Words.byteCount(message.byteCount))")
                }))
        return (caused[exchange.id] ?? []).map { .part($0, depth: depth + 1) }
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
        let length = span.upperBound - span.lowerBound
        var gaps: [Gap] = []
        var (covered, last) = (span.lowerBound, "the beginning")
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
        let requests = bars.filter { $0.kind != .part }.map { bar in
            let ending = bar.kind == .child ? "the end of \(bar.label)" : "the answer to \(bar.label)"
            return Stretch(start: bar.start, end: bar.end, beginning: bar.label, ending: ending)
        }
        return (facts + requests).sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }
}
