import Foundation
package import WaybillCore
package import WaybillQueries

/// The answers to all questions, without the sentence that says why an answer is empty.
extension NaiveAnswers {
    /// - Throws: `.setting` for a question that makes no sense, `.notFound` for one about something unknown.
    package func answer(_ question: AnyQuestion) throws(WaybillError) -> AnyAnswer {
        switch question {
        case .summary(let query): .summary(query, answer(query))
        case .duration(let query): .duration(query, try answer(query))
        case .measure(let query): .measure(query, try answer(query))
        case .transitions(let query): .transitions(query, try answer(query))
        case .funnel(let query): .funnel(query, try answer(query))
        case .dropOff(let query): .dropOff(query, try answer(query))
        case .legs(let query): .legs(query, try answer(query))
        case .network(let query): .network(query, try answer(query))
        case .compare(let query): .compare(query, try answer(query))
        case .errors(let query): .errors(query, answer(query))
        case .why(let query): .why(query, try answer(query))
        }
    }

    func passing(_ filter: TransactionFilter) -> [Run] {
        runs.filter { passes(filter, $0) }.map { run in
            var run = run
            run.sampledOneIn = Int64(filter.sampledOneIn)
            return run
        }
    }

    // MARK: Summary

    private func answer(_ query: SummaryQuestion) -> SummaryAnswer {
        let useCases = Dictionary(grouping: passing(query.filter), by: \.leader.opened.useCase).map { useCase, runs in
            let step = max(1, query.stepMicroseconds)
            let steps = Dictionary(grouping: runs) { $0.begun.quotientAndRemainder(flooringBy: step).quotient * step }
            return UseCaseSummary(
                useCase: useCase, name: useCaseName(useCase, nil),
                runs: counts(runs.map { ($0.outcome, $0.weight) }).values.reduce(0, +),
                outcomes: counts(runs.map { ($0.outcome, $0.weight) }),
                errors: errors(runs.map { ($0.closing?.closed.error, $0.weight) }),
                installations: Set(runs.compactMap { histories[$0.leader.source].source.installation }).count,
                rates: steps.sorted { $0.key < $1.key }.map {
                    UseCaseSummary.Rate(
                        start: Date(microseconds: $0.key), outcomes: counts($0.value.map { ($0.outcome, $0.weight) }))
                }, duration: .naive(runs.compactMap { run in run.duration.map { ($0, run.weight) } }),
                succeeded: .naive(
                    runs.filter { $0.outcome == .succeeded }.compactMap { run in run.duration.map { ($0, run.weight) } }
                ))
        }
        var answer = SummaryAnswer(useCases: useCases.sorted { (-$0.runs, $0.useCase) < (-$1.runs, $1.useCase) })
        answer.weighed = weighing(passing(query.filter).map(\.weight))
        return answer
    }

    /// How often each value occurs, by the weights beside it.
    private func counts<Value>(_ values: [(Value, Int64)]) -> [Value: Int] {
        Dictionary(grouping: values, by: \.0).mapValues { Self.count($0.map(\.1)) }.filter { $0.value > 0 }
    }

    /// How many items these weights represent.
    static func count(_ weights: [Int64]) -> Int {
        Int((Double(weights.reduce(0, +)) / 1_000_000 + 0.5).rounded(.down))
    }

    func weighing(_ weights: [Int64]) -> Weighing? {
        var all = Weights()
        for weight in weights { all.add(weight) }
        return all.weighing
    }

    /// Counts errors by domain and name, or by domain and code if they have no name.
    private func errors(_ errors: [(RecordedError?, Int64)]) -> [UseCaseSummary.ErrorCount] {
        var groups: [[String]: [(error: RecordedError, weight: Int64)]] = [:]
        for case (let error?, let weight) in errors {
            let code = error.name == nil ? "\(error.code)" : ""
            groups[[error.domain, error.name ?? "", code], default: []].append((error, weight))
        }
        let counts = groups.values.filter { $0.contains { $0.weight > 0 } }.map { same in
            UseCaseSummary.ErrorCount(
                domain: same[0].error.domain, code: same.map(\.error.code).min() ?? 0, name: same[0].error.name,
                count: Self.count(same.map(\.weight)))
        }
        return counts.sorted {
            (-$0.count, $0.domain, $0.name ?? "", $0.code) < (-$1.count, $1.domain, $1.name ?? "", $1.code)
        }
    }

    // MARK: Points and segments

    private func check(_ points: [TransactionPoint], of useCase: Int?) throws(WaybillError) {
        for case .event(let name) in points {
            guard useCase != nil else { throw WaybillError(.setting, "An event is one of some use case.") }
            let isKnown = names.contains { $0.name.event != nil && $0.name.name == name }
            guard isKnown || FilterCondition.code(ofUnnamed: name) != nil else {
                throw WaybillError(.notFound, "No event is called so.")
            }
        }
    }

    private func value(_ segmentation: Segmentation, _ run: Run) -> String? {
        let source = histories[run.leader.source].source
        let begun = Date(timeIntervalSince1970: Double(run.begun.quotientAndRemainder(flooringBy: 1_000_000).quotient))
        return switch segmentation {
        case .attribute(let name): latest(name, in: run)?.description
        case .app: source.app
        case .appVersion: source.appVersion
        case .device: source.device
        case .os: source.os
        case .osVersion: source.osVersion
        case .hour: "\(begun.formatted(.iso8601).prefix(13)):00Z"
        case .ended: run.outcome == .interrupted ? histories[run.leader.source].endedBy?.name ?? "unknown" : nil
        case .day: String(begun.formatted(.iso8601).prefix(10))
        case .parentOutcome: parent(of: run)?.outcome.name
        case .parentUseCase: parent(of: run).map { useCaseName($0.leader.opened.useCase, $0.leader.source) }
        }
    }

    private func parent(of run: Run) -> Run? { runs.first { $0.id == run.leader.opened.parent } }

    /// The segment of all runs, and one for each value. Runs without a value come first.
    private func segments<Segment>(
        _ runs: [Run], by segmentation: Segmentation?, _ segment: ([Run], String?) -> Segment
    ) throws(WaybillError) -> (total: Segment, segments: [Segment]) {
        guard let segmentation else { return (segment(runs, nil), []) }
        let groups = Dictionary(grouping: runs) { value(segmentation, $0) }
        return (
            segment(runs, nil),
            groups.sorted { ($0.key == nil ? 0 : 1, $0.key ?? "") < ($1.key == nil ? 0 : 1, $1.key ?? "") }.map {
                segment($0.value, $0.key)
            }
        )
    }

    private func check(
        _ segmentation: Segmentation?, _ filter: TransactionFilter, of asked: [Run]
    ) throws(WaybillError) {
        guard case .attribute(let name)? = segmentation, !asked.isEmpty else { return }
        let known = runs.filter { isLetThrough($0, by: filter.beginner) }
        guard known.contains(where: { latest(name, in: $0) != nil }) else {
            throw WaybillError(.notFound, "No transaction has such an attribute.")
        }
    }

    // MARK: Durations

    private func answer(_ query: DurationQuestion) throws(WaybillError) -> DurationAnswer {
        try check([query.from, query.to], of: query.filter.useCase)
        let asked = passing(query.filter)
        try check(query.segmentation, query.filter, of: asked)
        let begun = asked.filter { !occurrences(query.from, $0).isEmpty }
        let (total, segments) = try segments(begun, by: query.segmentation) { runs, value in
            let found = weighedDurations(query, runs)
            var values = Durations()
            for (duration, weight) in found.durations { values.append(duration, weight: weight) }
            return DurationSegment(
                value: value, statistics: .naive(found.durations), withoutEnd: found.withoutEnd,
                reversed: found.reversed, outcomes: found.outcomes,
                histogram: [DurationSegment.Bar](of: values), steps: steps(query, runs))
        }
        var answer = DurationAnswer(total: total, segments: segments)
        answer.weighed = weighing(asked.map(\.weight))
        return answer
    }

    /// The same numbers for the runs that began in each step, by sorting the runs into groups.
    private func steps(_ query: DurationQuestion, _ runs: [Run]) -> [DurationSegment.Step]? {
        guard let step = query.stepMicroseconds else { return nil }
        let starts = Dictionary(grouping: runs) { run in
            Int64((Double(run.begun) / Double(step)).rounded(.down)) * step
        }
        return starts.sorted { $0.key < $1.key }.map { start, runs in
            let found = weighedDurations(query, runs)
            return DurationSegment.Step(
                start: Date(microseconds: start), statistics: .naive(found.durations), withoutEnd: found.withoutEnd,
                reversed: found.reversed, outcomes: found.outcomes)
        }
    }

    private func answer(_ query: MeasureQuestion) throws(WaybillError) -> MeasureAnswer {
        let asked = passing(query.filter)
        try check(query.segmentation, query.filter, of: asked)
        let (total, segments) = try segments(asked, by: query.segmentation) { runs, value in
            let numbers = runs.map { run in (number(query.attribute, of: run), run.weight) }
            return MeasureSegment(
                value: value,
                statistics: NumberStatistics(
                    numbers.compactMap { number, weight in number.map { (value: $0, weight: weight) } }),
                without: Self.count(numbers.filter { $0.0 == nil }.map(\.1)))
        }
        var answer = MeasureAnswer(total: total, segments: segments)
        answer.weighed = weighing(asked.map(\.weight))
        return answer
    }

    private func number(_ attribute: String, of run: Run) -> Double? {
        switch latest(attribute, in: run) {
        case .integer(let number): Double(number)
        case .double(let number): number.isFinite ? number : nil
        case .string, .bool, nil: nil
        }
    }

    package func occurrences(_ point: TransactionPoint, _ run: Run) -> [Point] {
        switch point {
        case .begun: [run.begin]
        case .finished: run.end.map { [$0] } ?? []
        case .event(let name): run.events.filter { $0.name == name }
        }
    }

    package func durations(_ query: DurationQuestion, _ runs: [Run]) -> (
        durations: [Int64], withoutEnd: Int, reversed: Int
    ) {
        let found = weighedDurations(query, runs)
        return (found.durations.map(\.0), found.withoutEnd, found.reversed)
    }

    private func weighedDurations(_ query: DurationQuestion, _ runs: [Run]) -> (
        durations: [(Int64, weight: Int64)], withoutEnd: Int, reversed: Int, outcomes: [TransactionOutcome: Int]
    ) {
        var durations: [(Int64, weight: Int64)] = []
        var outcomes: [(TransactionOutcome, Int64)] = []
        var (withoutEnd, reversed): ([Int64], [Int64]) = ([], [])
        for run in runs {
            guard let from = choose(occurrences(query.from, run), first: query.occurrence == .first) else { continue }
            guard let to = choose(occurrences(query.to, run), first: query.occurrence == .first) else {
                withoutEnd.append(run.weight)
                continue
            }
            if isAfter(from, to) {
                reversed.append(run.weight)
            } else {
                durations.append((microseconds(from, to), run.weight))
                outcomes.append((run.outcome, run.weight))
            }
        }
        return (durations, Self.count(withoutEnd), Self.count(reversed), counts(outcomes))
    }

    package func funnel(_ query: FunnelQuestion, _ run: Run) -> [Int64] {
        query.isStrict ? strict(query, run) : loose(query, run)
    }

    private func loose(_ query: FunnelQuestion, _ run: Run) -> [Int64] {
        var taken: [Point] = []
        for step in query.steps {
            let later = occurrences(step, run).filter { point in taken.last.map { isAfter(point, $0) } ?? true }
            guard let point = choose(later, first: true) else { break }
            if let window = query.windowMicroseconds, let first = taken.first, microseconds(first, point) > window {
                break
            }
            taken.append(point)
        }
        return taken.indices.map { $0 == 0 ? 0 : microseconds(taken[$0 - 1], taken[$0]) }
    }

    private func strict(_ query: FunnelQuestion, _ run: Run) -> [Int64] {
        var points = inOrder(run)
        if query.steps.contains(.begun) { points = [run.begin] + points }
        if query.steps.contains(.finished), let end = run.end {
            let before = points.prefix { !isAfter($0, end) }
            points = before + [end] + points.dropFirst(before.count)
        }
        let wanted = query.steps.map(\.description)
        var best: [Int64] = []
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

    // MARK: Transitions

    private func answer(_ query: TransitionsQuestion) throws(WaybillError) -> TransitionsAnswer {
        guard query.filter.useCase != nil else {
            throw WaybillError(.setting, "Events follow each other within a use case.")
        }
        var durations: [[String]: [(Int64, Int64)]] = [:]
        for run in passing(query.filter) {
            let points = inOrder(run)
            for (from, to) in zip(points, points.dropFirst()) {
                durations[[from.name, to.name], default: []].append((microseconds(from, to), run.weight))
            }
        }
        var answer = TransitionsAnswer(
            transitions: durations.map { .init(from: $0.key[0], to: $0.key[1], statistics: .naive($0.value)) }.sorted {
                (-$0.statistics.count, $0.from, $0.to) < (-$1.statistics.count, $1.from, $1.to)
            })
        answer.weighed = weighing(passing(query.filter).map(\.weight))
        return answer
    }

    private func answer(_ query: DropOffQuestion) throws(WaybillError) -> DropOffAnswer {
        guard query.filter.useCase != nil else { throw WaybillError(.setting, "A last event is one of a use case.") }
        var filter = query.filter
        if !filter.conditions.contains(where: { if case .outcome = $0 { true } else { false } }) {
            filter.conditions.append(.outcome([.abandoned, .interrupted, .timedOut]))
        }
        let runs = passing(filter)
        let events = Dictionary(grouping: runs) { inOrder($0).last?.name }.map { name, runs in
            let durations = runs.compactMap { run in inOrder(run).last.map { (microseconds(run.begin, $0), run.weight) }
            }
            return DropOffAnswer.LastEvent(
                event: name, count: Self.count(runs.map(\.weight)), statistics: .naive(durations))
        }
        var answer = DropOffAnswer(
            transactions: Self.count(runs.map(\.weight)),
            lastEvents: events.sorted {
                (-$0.count, $0.event == nil ? 0 : 1, $0.event ?? "") < (
                    -$1.count, $1.event == nil ? 0 : 1, $1.event ?? ""
                )
            })
        answer.weighed = weighing(runs.map(\.weight))
        return answer
    }

    private func answer(_ query: FunnelQuestion) throws(WaybillError) -> FunnelAnswer {
        guard !query.steps.isEmpty else { throw WaybillError(.setting, "A funnel needs a step.") }
        try check(query.steps, of: query.filter.useCase)
        let asked = passing(query.filter)
        try check(query.segmentation, query.filter, of: asked)
        let (total, segments) = try segments(asked, by: query.segmentation) { runs, value in
            let taken = runs.map { (steps: funnel(query, $0), weight: $0.weight) }
            func reach(_ index: Int) -> Int { Self.count(taken.filter { $0.steps.count >= index }.map(\.weight)) }
            let steps = query.steps.enumerated().map { index, point in
                let reached = taken.filter { $0.steps.count > index }
                return FunnelSegment.Step(
                    point: point, reached: reach(index + 1), lost: reach(index) - reach(index + 1),
                    statistics: .naive(index == 0 ? [] : reached.map { ($0.steps[index], $0.weight) }))
            }
            return FunnelSegment(value: value, transactions: Self.count(runs.map(\.weight)), steps: steps)
        }
        var answer = FunnelAnswer(total: total, segments: segments)
        answer.weighed = weighing(asked.map(\.weight))
        return answer
    }

    // MARK: Legs

    private func answer(_ query: LegsQuestion) throws(WaybillError) -> LegsAnswer {
        let legs = NaiveLegs(answers: self)
        let asked = passing(query.filter)
        try check(query.segmentation, query.filter, of: asked)
        let (total, segments) = try segments(asked, by: query.segmentation) { runs, value in
            let all = runs.map { (run: $0, division: legs.divide($0), weight: $0.weight) }
            let divisions = all.compactMap { each in each.division.map { (division: $0, weight: each.weight) } }
            let shares = Leg.allCases.map { leg in
                let all = divisions.compactMap { each in each.division.legs[leg].map { ($0, each.weight) } }
                return LegsSegment.Share(
                    leg: leg, total: .microseconds(all.reduce(0) { $0 + $1.0.times($1.1) }), statistics: .naive(all))
            }
            func count(_ isMeant: (NaiveLegs.Division) -> Bool) -> Int {
                Self.count(divisions.filter { isMeant($0.division) }.map(\.weight))
            }
            return LegsSegment(
                value: value, legs: shares, duration: .naive(divisions.map { ($0.division.duration, $0.weight) }),
                withoutEnd: Self.count(all.filter { $0.run.closing == nil }.map(\.weight)),
                withoutExchange: Self.count(
                    all.filter { $0.run.closing != nil && $0.division == nil }.map(\.weight)),
                withoutServer: count { $0.legs[.exchange] != nil }, withoutSplit: count { $0.legs[.network] != nil },
                uncertainty: .naive(
                    divisions.flatMap { each in each.division.uncertainties.map { ($0, each.weight) } }))
        }
        var answer = LegsAnswer(total: total, segments: segments)
        answer.weighed = weighing(asked.map(\.weight))
        return answer
    }

    // MARK: The network

    private func answer(_ query: NetworkQuestion) throws(WaybillError) -> NetworkAnswer {
        var found = exchanges.filter { passes(query.filter, $0) }
        if let transactions = query.transactions {
            guard !query.filter.conditions.contains(where: { $0.isOfTransaction }) else {
                throw WaybillError(.setting, "Transactions are chosen in one place.")
            }
            let chosen = Set(passing(transactions).map(\.id))
            found = found.filter { $0.transaction.map(chosen.contains) ?? false }
        }
        let sampledOneIn = Int64(max(query.filter.sampledOneIn, query.transactions?.sampledOneIn ?? 1))
        for index in found.indices { found[index].sampledOneIn = sampledOneIn }
        func path(_ path: String) -> String {
            let segments = path.components(separatedBy: "/")
            let written = query.templates.first { template in
                let patterns = template.components(separatedBy: "/")
                return patterns.count == segments.count
                    && zip(patterns, segments).allSatisfy { $0 == $1 || $0.first == "{" && $0.last == "}" && $1 != "" }
            }
            return written ?? PathTemplate(path).description
        }
        func key(_ exchange: NaiveExchange) -> [String?] {
            [
                exchange.opened.host?.lowercased(), query.grouping == .host ? nil : path(exchange.opened.path),
                query.grouping == .method ? exchange.opened.method : nil, exchange.opened.role.name,
            ]
        }
        if let only = query.group {
            found = found.filter { key($0) == [only.host, only.path, only.method, only.role.name] }
        }
        let all = Dictionary(grouping: found, by: key).map { key, exchanges in
            (exchanges: exchanges, group: group(exchanges, key, query))
        }.sorted { left, right in
            let (value, otherValue) = (Self.value(of: left.group, query.sort), Self.value(of: right.group, query.sort))
            if value != otherValue { return value > otherValue }
            if query.sort != .name, left.group.count != right.group.count {
                return left.group.count > right.group.count
            }
            return Self.order(left.group).lexicographicallyPrecedes(Self.order(right.group))
        }
        let beyond = Dictionary(grouping: all.dropFirst(query.limit).flatMap(\.exchanges)) { $0.opened.role.rawValue }
        var answer = NetworkAnswer(
            exchanges: all.reduce(0) { $0 + $1.group.count }, groups: all.prefix(query.limit).map(\.group),
            other: beyond.sorted { $0.key < $1.key }.map { group($0.value, [nil, "(other)", nil], query) })
        // Each group rounds its weights.
        answer.exchanges = (answer.groups + answer.other).reduce(0) { $0 + $1.count }
        answer.weighed = weighing(found.map(weight))
        return answer
    }

    private static func order(_ group: NetworkGroup) -> [String] {
        [group.host.map { "1\($0)" } ?? "0", group.path ?? "", group.method ?? "", "\(group.role.rawValue)"]
    }

    /// The key that sorts a group; lower than every value if the group has none.
    private static func value(of group: NetworkGroup, _ sort: NetworkQuestion.Sort) -> Double {
        func time(_ time: Duration?) -> Double { time.map { $0 / .microseconds(1) } ?? -1 }
        return switch sort {
        case .count: Double(group.count)
        case .errors: group.count == 0 ? -1 : Double(group.failingCount) / Double(group.count)
        case .timeouts: Double(group.timeoutCount)
        case .p50: time(group.succeeded.p50)
        case .p95: time(group.succeeded.p95)
        case .p99: time(group.succeeded.p99)
        case .allP50: time(group.all.p50)
        case .allP95: time(group.all.p95)
        case .allP99: time(group.all.p99)
        case .sent: Double(group.sentByteCount)
        case .received: Double(group.receivedByteCount)
        case .name: 0
        }
    }

    private func steps(_ all: [NaiveExchange], _ query: NetworkQuestion) -> [NetworkGroup.Step]? {
        guard let step = query.stepMicroseconds else { return nil }
        let groups = Dictionary(grouping: all) { exchange -> Int64 in
            let number = Int64((Double(exchange.wall) / Double(step)).rounded(.down))
            return number * step
        }
        return groups.sorted { $0.key < $1.key }.map { start, all -> NetworkGroup.Step in
            NetworkGroup.Step(
                start: Date(microseconds: start), count: Self.count(all.map(weight)),
                failingCount: Self.count(all.filter(\.isFailing).map(weight)), succeeded: times(all, \.succeeded))
        }
    }

    private func times(_ all: [NaiveExchange], _ time: (NaiveExchange) -> Int64?) -> DurationStatistics {
        .naive(all.compactMap { each in time(each).map { ($0, weight(each)) } })
    }

    private func group(_ all: [NaiveExchange], _ key: [String?], _ query: NetworkQuestion) -> NetworkGroup {
        let examples = max(0, query.exampleCount)
        func count(_ isOne: (Int) -> Bool) -> Int64 {
            Int64(Self.count(all.filter { $0.closing?.closed.status.map(isOne) ?? false }.map(weight)))
        }
        var statuses = NetworkGroup.StatusCounts()
        (statuses.successful, statuses.redirection) = (count((200...299).contains), count((300...399).contains))
        (statuses.clientError, statuses.serverError) = (count((400...499).contains), count((500...599).contains))
        statuses.other = count { !(200...599).contains($0) }
        statuses.none = Int64(Self.count(all.filter { $0.closing?.closed.status == nil }.map(weight)))
        let slowest = all.filter { $0.slowness != nil }.sorted {
            (-($0.slowness ?? 0), $0.id.source, $0.id.sequence) < (-($1.slowness ?? 0), $1.id.source, $1.id.sequence)
        }
        let failing = all.filter(\.isFailing).sorted {
            (-$0.wall, $0.id.source, $0.id.sequence) < (-$1.wall, $1.id.source, $1.id.sequence)
        }
        return NetworkGroup(
            role: all[0].opened.role, host: key[0], path: key[1], method: key[2],
            count: Self.count(all.map(weight)), statuses: statuses,
            states: counts(all.map { ($0.state, weight($0)) }),
            failingCount: Self.count(all.filter(\.isFailing).map(weight)),
            timeoutCount: Self.count(all.filter(\.hasTimedOut).map(weight)),
            errors: errors(all.filter { $0.state == .failed }.map { ($0.closing?.closed.error, weight($0)) }),
            firstByte: times(all, \.firstByte), succeeded: times(all, \.succeeded), all: times(all, \.slowness),
            whole: times(all, \.whole), failed: times(all, \.failed),
            sentByteCount: all.reduce(0) { $0 + ($1.closing?.closed.sentByteCount ?? 0).times(weight($1)) },
            receivedByteCount: all.reduce(0) { $0 + ($1.closing?.closed.receivedByteCount ?? 0).times(weight($1)) },
            firstOpened: Date(microseconds: all.map(\.wall).min() ?? 0),
            lastOpened: Date(microseconds: all.map(\.wall).max() ?? 0), steps: steps(all, query),
            slowest: slowest.prefix(examples).map(example), failing: failing.prefix(examples).map(example))
    }

    /// How many exchanges this one represents: as many as its part.
    private func weight(_ exchange: NaiveExchange) -> Int64 {
        guard let run = runs.first(where: { $0.id == exchange.transaction }),
            let part = run.parts.first(where: {
                $0.id == FactID(source: exchange.id.source, sequence: exchange.fact.part)
            }), let sampling = part.opened.sampling
        else { return Weights.one * exchange.sampledOneIn }
        return exchange.sampledOneIn
            * sampling.weight(
                for: outcome(of: part, lastActivity: run.lastActivity),
                tookMicroseconds: part.closing.map { $0.fact.atMicroseconds - part.fact.atMicroseconds })
    }

    private func example(_ exchange: NaiveExchange) -> NetworkGroup.Example {
        NetworkGroup.Example(
            id: exchange.id, transaction: exchange.transaction, opened: Date(microseconds: exchange.wall),
            duration: exchange.closing.map { .microseconds($0.fact.atMicroseconds - exchange.fact.atMicroseconds) },
            status: exchange.closing?.closed.status, error: exchange.closing?.closed.error)
    }

    // MARK: Comparisons

    private func answer(_ query: CompareQuestion) throws(WaybillError) -> CompareAnswer {
        let asked = passing(query.filter)
        let names: [String?]
        let isIn: [(Run) -> Bool]
        switch query.groups {
        case .values(let segmentation, let a, let b):
            guard a != b else { throw WaybillError(.setting, "Both groups are the same.") }
            try check([query.from, query.to], of: query.filter.useCase)
            try check(segmentation, query.filter, of: asked)
            for value in [a, b].compactMap(\.self)
            where !asked.isEmpty && !asked.contains(where: { self.value(segmentation, $0) == value }) {
                throw WaybillError(.notFound, "No transaction has the value.")
            }
            names = [a, b]
            isIn = names.map { name in { self.value(segmentation, $0) == name } }
        case .windows(let a, let b):
            let (a, b) = (a.microseconds, b.microseconds)
            guard !a.overlaps(b) else { throw WaybillError(.setting, "The stretches of time overlap.") }
            try check([query.from, query.to], of: query.filter.useCase)
            names = [a, b].map { window in
                [window.lowerBound, window.upperBound].map { bound in
                    Date(timeIntervalSince1970: Double(bound.quotientAndRemainder(flooringBy: 1_000_000).quotient))
                        .formatted(.iso8601)
                }.joined(separator: "/")
            }
            isIn = [a, b].map { window in { window.contains($0.begun) } }
        }
        let durations = DurationQuestion(
            filter: query.filter, from: query.from, to: query.to, occurrence: query.occurrence)
        let samples = zip(names, isIn).map { name, isIn in
            var sample = ComparedSample(value: name)
            for run in asked.filter(isIn) {
                let duration = self.durations(durations, [run]).durations.first
                sample.add(run.outcome, duration: duration, weight: run.weight)
            }
            return sample
        }
        var answer = CompareAnswer(samples[0], samples[1])
        answer.weighed = weighing(asked.map(\.weight))
        return answer
    }
}

extension DurationStatistics {
    /// The statistics of values without weights.
    package static func naive(_ values: [Int64]) -> DurationStatistics { naive(values.map { ($0, Weights.one) }) }

    /// The statistics of weighted values, by sorting and counting from below until enough of them are covered.
    package static func naive(_ values: [(Int64, weight: Int64)]) -> DurationStatistics {
        let sorted = values.filter { $0.weight > 0 }.sorted { $0.0 < $1.0 }
        let total = sorted.reduce(0) { $0 + $1.weight }
        func quantile(_ percent: Int) -> Int64? {
            var sum: Int64 = 0
            return sorted.first {
                sum += $0.weight
                return sum * 100 >= Int64(percent) * total
            }?.0
        }
        var none: [Int64] = []
        var statistics = DurationStatistics(&none)
        statistics.count = Weights.count(total)
        statistics.minimumMicroseconds = sorted.first?.0
        statistics.p50Microseconds = quantile(50)
        statistics.p75Microseconds = quantile(75)
        statistics.p90Microseconds = quantile(90)
        statistics.p95Microseconds = quantile(95)
        statistics.p99Microseconds = quantile(99)
        statistics.maximumMicroseconds = sorted.last?.0
        let sum = sorted.reduce(0) { $0 + $1.0.times($1.weight) }
        if sorted.allSatisfy({ $0.weight == Weights.one }), !sorted.isEmpty {
            let count = Int64(sorted.count)
            statistics.meanMicroseconds = sum >= 0 ? sum / count : -((-sum + count - 1) / count)
        } else if !sorted.isEmpty {
            statistics.meanMicroseconds = Int64((Double(sum) / Double(total) * 1_000_000).rounded(.down))
        }
        return statistics
    }
}
