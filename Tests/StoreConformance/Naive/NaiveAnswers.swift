package import WaybillCore

/// Answers everything by brute force over the histories themselves: no store, no index, nothing clever.
package struct NaiveAnswers {
    package let histories: [SourceHistory]
    /// The names of codes, including those from sources that are gone.
    package let names: Set<Name>
    package let now: Int64
    /// The stored facts of each source.
    package let facts: [[Fact]]
    /// In no order.
    package private(set) var runs: [Run] = []
    /// By source, then by sequence.
    package private(set) var exchanges: [NaiveExchange] = []

    /// The name of a code in a version of an app, or in one launch of it.
    package struct Name: Hashable {
        var app, version: String
        var name: RecordedName
        /// The launch that it belongs to; `nil` if it is for all launches of the version.
        var launch: GUID?
        /// Whether the launch had another name for the code first.
        var isClash = false
    }

    /// The facts that a source has recorded in a transaction.
    package struct Part {
        package var source: Int
        package var fact: Fact
        package var opened: Fact.Opened
        /// In order of sequence, including the opening.
        var facts: [Fact]
        package var closing: (fact: Fact, closed: Fact.Closed)?
        var begun: Int64
        var id: FactID
        /// The latest value of each attribute.
        var attributes: Attributes {
            facts.reduce(into: opened.attributes) { attributes, fact in
                if case .attributesSet(let content) = fact.content { attributes.apply(content) }
            }
        }
    }

    /// A point in a transaction.
    package struct Point {
        package var source: Int
        package var sequence: Int64
        package var at: Int64
        /// An event's name; `^` for the beginning and `$` for the outcome.
        package var name: String
        /// The order of the points of one source: by its own clock, which cannot be set, then by sequence.
        var place: (Int64, Int64) { (at, sequence) }
    }

    /// A transaction.
    package struct Run {
        package var leader: Part
        /// The leading part first, then by time.
        var parts: [Part]
        package var events: [Point]
        package var outcome: TransactionOutcome
        var lastActivity: Int64
        package var begin: Point
        package var end: Point?

        /// The question's filter let one in this many transactions through.
        var sampledOneIn: Int64 = 1

        package var id: GUID { leader.opened.transaction }
        package var begun: Int64 { leader.begun }
        package var closing: (fact: Fact, closed: Fact.Closed)? { leader.closing }
        var facts: [FactID] {
            parts.flatMap { part in part.facts.map { FactID(source: part.id.source, sequence: $0.sequence) } }
        }
        /// How many transactions it represents, in millionths.
        package var weight: Int64 {
            sampledOneIn
                * (leader.opened.sampling?.weight(for: outcome, tookMicroseconds: duration)
                    ?? Int64(Fact.Sampling.million))
        }
        var duration: Int64? { closing.map { $0.fact.atMicroseconds - leader.fact.atMicroseconds } }
    }

    /// - Parameters:
    ///   - names: The known names; `nil` for those of the histories.
    ///   - now: Microseconds since 1970; decides which transactions have timed out.
    package init(histories: [SourceHistory], names: Set<Name>? = nil, now: Int64) {
        self.histories = histories
        self.now = now
        self.names =
            names
            ?? histories.reduce(into: []) { names, history in Self.add(history.names, of: history.source, to: &names) }
        facts = histories.map { $0.sentFacts.sorted { $0.sequence < $1.sequence } }
        runs = Dictionary(grouping: histories.indices.flatMap(parts), by: \.opened.transaction).values.map(run)
        exchanges = histories.indices.flatMap(exchanges)
    }

    // MARK: Runs

    private func parts(of source: Int) -> [Part] {
        facts[source].compactMap { fact in
            guard case .opened(let opened) = fact.content else { return nil }
            let own = facts[source].filter { $0.part == fact.sequence }
            var closing: (Fact, Fact.Closed)?
            for fact in own { if case .closed(let closed) = fact.content { closing = (fact, closed) } }
            return Part(
                source: source, fact: fact, opened: opened, facts: own, closing: closing,
                begun: wall(fact.atMicroseconds, source),
                id: FactID(source: histories[source].source.id, sequence: fact.sequence))
        }
    }

    private func run(_ parts: [Part]) -> Run {
        let calls = parts.filter { $0.opened.cause?.source != $0.id.source }
        let callers = Set(calls.compactMap(\.opened.cause?.source))
        let leader = parts.sorted { left, right in
            if left.opened.isJoined != right.opened.isJoined { return right.opened.isJoined }
            let (isLeftNamed, isRightNamed) = (callers.contains(left.id.source), callers.contains(right.id.source))
            if !left.opened.isJoined, isLeftNamed != isRightNamed { return isLeftNamed }
            let times = left.opened.isJoined ? (left.begun, right.begun) : (0, 0)
            return (times.0, left.id.source, left.id.sequence) < (times.1, right.id.source, right.id.sequence)
        }[0]
        let others = parts.filter { $0.id != leader.id }.sorted {
            ($0.begun, $0.id.source, $0.id.sequence) < ($1.begun, $1.id.source, $1.id.sequence)
        }
        let events = parts.flatMap { part in
            part.facts.compactMap { fact -> Point? in
                guard case .event(let event) = fact.content else { return nil }
                return Point(
                    source: part.source, sequence: fact.sequence, at: fact.atMicroseconds,
                    name: eventName(event.code, of: part.opened.useCase, part.source))
            }
        }
        let lastActivity = parts.map { wall($0.facts.map(\.atMicroseconds).max() ?? 0, $0.source) }.max() ?? 0
        return Run(
            leader: leader, parts: [leader] + others, events: events,
            outcome: outcome(of: leader, lastActivity: lastActivity),
            lastActivity: lastActivity,
            begin: Point(
                source: leader.source, sequence: leader.fact.sequence, at: leader.fact.atMicroseconds, name: "^"),
            end: leader.closing.map {
                Point(source: leader.source, sequence: $0.fact.sequence, at: $0.fact.atMicroseconds, name: "$")
            })
    }

    func outcome(of part: Part, lastActivity: Int64) -> TransactionOutcome {
        if let closing = part.closing { return closing.closed.outcome }
        if histories[part.source].hasEnded { return .interrupted }
        return lastActivity + part.opened.timeoutMicroseconds < now ? .timedOut : .open
    }

    package func wall(_ at: Int64, _ source: Int) -> Int64 {
        let clocks = histories[source].clocks
        return at
            + (clocks.last { $0.atMicroseconds <= at } ?? clocks.first
            ?? ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0))
            .offsetMicroseconds
    }

    // MARK: Names

    /// Adds the names of a launch's codes: as names of its version, or of the launch if its version has others.
    static func add(_ names: [RecordedName], of source: SourceIdentity, to all: inout Set<Name>) {
        var said: [RecordedName] = []
        for name in names {
            var its = Name(app: source.app, version: source.appVersion, name: name)
            func isSame(_ other: RecordedName) -> Bool { other.useCase == name.useCase && other.event == name.event }
            if said.contains(where: isSame) {
                (its.launch, its.isClash) = (source.id, true)
                if said.first(where: isSame) != name { all.insert(its) }
                continue
            }
            said.append(name)
            let known = all.filter { $0.app == its.app && $0.version == its.version && isSame($0.name) }
            all.subtract(known.filter { $0.launch == source.id && !$0.isClash })
            if let first = known.filter({ $0.launch == nil }).map(\.name.name).min() {
                if first == name.name { continue }
                its.launch = source.id
            }
            all.insert(its)
        }
    }

    /// The name in the launch, else in its version, else the first in alphabetical order of all names; `nil` if the
    /// code has no name.
    private func name(_ useCase: Int, _ event: Int?, _ source: Int?) -> String? {
        let all = names.filter { $0.name.useCase == useCase && $0.name.event == event }
        let own = source.map { histories[$0].source }
        let ofLaunch = all.filter { $0.launch != nil && $0.launch == own?.id && !$0.isClash }
        if !ofLaunch.isEmpty { return ofLaunch.map(\.name.name).min() }
        let ofVersion = all.filter { $0.launch == nil && $0.app == own?.app && $0.version == own?.appVersion }
        let others = own == nil ? all.filter { !$0.isClash } : all
        return (ofVersion.isEmpty ? others : ofVersion).map(\.name.name).min()
    }

    func eventName(_ code: Int, of useCase: Int, _ source: Int) -> String {
        name(useCase, code, source) ?? "event \(code)"
    }

    /// - Parameter source: The source; `nil` for all sources.
    func useCaseName(_ useCase: Int, _ source: Int?) -> String { name(useCase, nil, source) ?? "use case \(useCase)" }

    // MARK: Order

    package func isAfter(_ left: Point, _ right: Point) -> Bool {
        if left.source == right.source { return left.place > right.place }
        let times = (wall(left.at, left.source), wall(right.at, right.source))
        return times.0 == times.1 ? id(left) > id(right) : times.0 > times.1
    }

    package func microseconds(_ from: Point, _ to: Point) -> Int64 {
        from.source == to.source ? to.at - from.at : wall(to.at, to.source) - wall(from.at, from.source)
    }

    private func id(_ point: Point) -> GUID { histories[point.source].source.id }

    /// Finds the first or last point of each source, and returns the first or last of these by the clocks.
    package func choose(_ points: [Point], first: Bool) -> Point? {
        let best = Set(points.map(\.source)).compactMap { source in
            let own = points.filter { $0.source == source }.sorted { $0.place < $1.place }
            return first ? own.first : own.last
        }
        return best.first { candidate in
            best.allSatisfy { $0.source == candidate.source || isAfter($0, candidate) == first }
        }
    }

    /// All events in order, none earlier than the one before it from the same source.
    package func inOrder(_ run: Run) -> [Point] {
        func time(_ point: Point) -> Int64 {
            run.events.filter { $0.source == point.source && $0.place <= point.place }.map {
                wall($0.at, $0.source)
            }.max() ?? 0
        }
        return run.events.sorted { left, right in
            let times = (time(left), time(right))
            if times.0 != times.1 { return times.0 < times.1 }
            return left.source == right.source ? left.place < right.place : id(left) < id(right)
        }
    }
}
