import WaybillAnalysis
import WaybillCore

@testable import WaybillStoreTests

/// Answers every question by brute force over the histories themselves: no store, no index, nothing clever.
struct NaiveAnswers {
    let histories: [SourceHistory]
    let now: Int

    /// Something that stands in a transaction.
    struct Point {
        var source: Int
        var sequence: Int
        var at: Int
        /// An event's name; `^` and `$` for beginning and outcome.
        var name: String
    }

    struct Run {
        var leader: (source: Int, fact: Fact, opened: Fact.Opened)
        var events: [Point]
        var closing: (fact: Fact, closed: Fact.Closed)?
        var outcome: TransactionOutcome
        var begun: Int
        var begin: Point
        var end: Point?
    }

    // MARK: Runs

    var runs: [Run] {
        var parts: [GUID: [(source: Int, fact: Fact, opened: Fact.Opened)]] = [:]
        for (source, history) in histories.enumerated() {
            for fact in history.sentFacts {
                if case .opened(let opened) = fact.content { parts[opened.transaction, default: []].append((source, fact, opened)) }
            }
        }
        return parts.values.map(run)
    }

    private func run(_ parts: [(source: Int, fact: Fact, opened: Fact.Opened)]) -> Run {
        func id(_ part: (source: Int, fact: Fact, opened: Fact.Opened)) -> (GUID, Int) {
            (histories[part.source].source.id, part.fact.sequence)
        }
        let begun = parts.filter { !$0.opened.isJoined }.sorted { id($0) < id($1) }
        let joined = parts.sorted { left, right in
            let times = (wall(left.fact.atMicroseconds, left.source), wall(right.fact.atMicroseconds, right.source))
            return times.0 == times.1 ? id(left) < id(right) : times.0 < times.1
        }
        let leader = begun.first ?? joined[0]
        var events: [Point] = []
        var lastActivity = Int.min
        var closing: (Fact, Fact.Closed)?
        for part in parts {
            let facts = histories[part.source].sentFacts.filter { $0.part == part.fact.sequence }
            let latest = facts.map(\.atMicroseconds).max() ?? 0
            lastActivity = max(lastActivity, wall(latest, part.source))
            for fact in facts {
                if case .event(let event) = fact.content {
                    events.append(
                        Point(
                            source: part.source, sequence: fact.sequence, at: fact.atMicroseconds,
                            name: name(of: event.code, part.source)))
                }
                if case .closed(let closed) = fact.content, part.source == leader.source, part.fact.sequence == leader.fact.sequence {
                    closing = (fact, closed)
                }
            }
        }
        var outcome = closing?.1.outcome ?? (histories[leader.source].hasEnded ? .interrupted : .open)
        if outcome == .open, lastActivity + leader.opened.timeoutMicroseconds < now { outcome = .timedOut }
        return Run(
            leader: leader, events: events, closing: closing, outcome: outcome,
            begun: wall(leader.fact.atMicroseconds, leader.source),
            begin: Point(source: leader.source, sequence: leader.fact.sequence, at: leader.fact.atMicroseconds, name: "^"),
            end: closing.map { Point(source: leader.source, sequence: $0.0.sequence, at: $0.0.atMicroseconds, name: "$") })
    }

    func wall(_ at: Int, _ source: Int) -> Int {
        let clocks = histories[source].clocks
        return at + (clocks.last { $0.atMicroseconds <= at } ?? clocks[0]).offsetMicroseconds
    }

    /// As the source's own version calls it, else the least of what anybody calls it.
    func name(of code: Int, _ source: Int) -> String {
        func names(_ history: SourceHistory) -> [String] { history.names.filter { $0.event == code }.map(\.name) }
        let own = histories[source].source
        let ofVersion = histories.filter { $0.source.app == own.app && $0.source.appVersion == own.appVersion }.flatMap(names)
        return ofVersion.min() ?? histories.flatMap(names).min() ?? "event \(code)"
    }

    // MARK: Order

    func isAfter(_ left: Point, _ right: Point) -> Bool {
        if left.source == right.source { return left.sequence > right.sequence }
        let times = (wall(left.at, left.source), wall(right.at, right.source))
        return times.0 == times.1 ? id(left) > id(right) : times.0 > times.1
    }

    func microseconds(_ from: Point, _ to: Point) -> Int {
        from.source == to.source ? to.at - from.at : wall(to.at, to.source) - wall(from.at, from.source)
    }

    private func id(_ point: Point) -> GUID { histories[point.source].source.id }

    /// The first or last of each source, and of those the first or last by the clocks.
    func choose(_ points: [Point], first: Bool) -> Point? {
        let best = Set(points.map(\.source)).compactMap { source in
            let own = points.filter { $0.source == source }.sorted { $0.sequence < $1.sequence }
            return first ? own.first : own.last
        }
        return best.first { candidate in
            best.allSatisfy { $0.source == candidate.source || isAfter($0, candidate) == first }
        }
    }

    /// All events, none earlier than one before it of the same source.
    func inOrder(_ run: Run) -> [Point] {
        func time(_ point: Point) -> Int {
            run.events.filter { $0.source == point.source && $0.sequence <= point.sequence }.map { wall($0.at, $0.source) }.max() ?? 0
        }
        return run.events.sorted { left, right in
            let times = (time(left), time(right))
            if times.0 != times.1 { return times.0 < times.1 }
            return left.source == right.source ? left.sequence < right.sequence : id(left) < id(right)
        }
    }

    // MARK: Answers

    func occurrences(_ point: TransactionPoint, _ run: Run) -> [Point] {
        switch point {
        case .begun: [run.begin]
        case .finished: run.end.map { [$0] } ?? []
        case .event(let name): run.events.filter { $0.name == name }
        }
    }

    func durations(_ query: DurationQuery, _ runs: [Run]) -> (durations: [Int], withoutEnd: Int, reversed: Int) {
        var result: (durations: [Int], withoutEnd: Int, reversed: Int) = ([], 0, 0)
        for run in runs {
            guard let from = choose(occurrences(query.from, run), first: query.occurrence == .first) else { continue }
            guard let to = choose(occurrences(query.to, run), first: query.occurrence == .first) else {
                result.withoutEnd += 1
                continue
            }
            if isAfter(from, to) { result.reversed += 1 } else { result.durations.append(microseconds(from, to)) }
        }
        return result
    }

    func funnel(_ query: FunnelQuery, _ run: Run) -> [Int] {
        query.isStrict ? strict(query, run) : loose(query, run)
    }

    private func loose(_ query: FunnelQuery, _ run: Run) -> [Int] {
        var taken: [Point] = []
        for step in query.steps {
            let later = occurrences(step, run).filter { point in taken.last.map { isAfter(point, $0) } ?? true }
            guard let point = choose(later, first: true) else { break }
            if let window = query.windowMicroseconds, let first = taken.first, microseconds(first, point) > window { break }
            taken.append(point)
        }
        return taken.indices.map { $0 == 0 ? 0 : microseconds(taken[$0 - 1], taken[$0]) }
    }

    private func strict(_ query: FunnelQuery, _ run: Run) -> [Int] {
        var points = inOrder(run)
        if query.steps.contains(.begun) { points = [run.begin] + points }
        if query.steps.contains(.finished), let end = run.end {
            let before = points.prefix { !isAfter($0, end) }
            points = before + [end] + points.dropFirst(before.count)
        }
        let wanted = query.steps.map(\.description)
        var best: [Int] = []
        for start in points.indices {
            var length = 0
            while length < wanted.count, start + length < points.count, points[start + length].name == wanted[length],
                query.windowMicroseconds.map({ microseconds(points[start], points[start + length]) <= $0 }) ?? true
            { length += 1 }
            if length > best.count {
                best = (0..<length).map { $0 == 0 ? 0 : microseconds(points[start + $0 - 1], points[start + $0]) }
            }
        }
        return best
    }
}

extension DurationStatistics {
    /// By sorting, and counting from below until enough of the values are covered.
    static func naive(_ values: [Int]) -> DurationStatistics {
        let sorted = values.sorted()
        func quantile(_ percent: Int) -> Int? {
            sorted.enumerated().first { ($0.offset + 1) * 100 >= percent * sorted.count }?.element
        }
        var none: [Int] = []
        var statistics = DurationStatistics(&none)
        statistics.count = sorted.count
        statistics.minimumMicroseconds = sorted.first
        statistics.p50Microseconds = quantile(50)
        statistics.p75Microseconds = quantile(75)
        statistics.p90Microseconds = quantile(90)
        statistics.p95Microseconds = quantile(95)
        statistics.p99Microseconds = quantile(99)
        statistics.maximumMicroseconds = sorted.last
        if !sorted.isEmpty {
            let sum = sorted.reduce(0, +)
            statistics.meanMicroseconds = sum >= 0 ? sum / sorted.count : -((-sum + sorted.count - 1) / sorted.count)
        }
        return statistics
    }
}
