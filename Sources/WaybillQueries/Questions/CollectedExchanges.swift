import Foundation
import WaybillCore
import WaybillStore

struct CollectedExchanges: Mergeable {
    /// The numbers are sums of weights.
    private var weights: Int64 = 0
    private var failingWeights: Int64 = 0
    private var timeoutWeights: Int64 = 0
    private var statuses: [Int?: Int64] = [:]
    private var states: [ExchangeRecord.State: Int64] = [:]
    private var errors = ErrorCounts()
    private var firstByte = Durations()
    private var succeeded = Durations()
    /// The durations of completed exchanges with an error status.
    private var refused = Durations()
    private var failed = Durations()
    private var sentByteCount: Int64 = 0
    private var receivedByteCount: Int64 = 0
    private var opened: ClosedRange<Int64>?
    private var steps: [Int64: CollectedStep] = [:]
    private var slowest: [NetworkGroup.Example] = []
    private var failing: [NetworkGroup.Example] = []
    private let exampleCount: Int
    private let step: Int64?

    init(exampleCount: Int, step: Int64?) { (self.exampleCount, self.step) = (exampleCount, step) }

    mutating func add(_ exchange: MeasuredExchange) {
        let weight = exchange.weight
        weights.addWeight(weight)
        statuses[exchange.status, default: 0].addWeight(weight)
        states[exchange.state, default: 0].addWeight(weight)
        // Each size, and the sum, is limited to the largest integer of the format.
        sentByteCount = sentByteCount.adding((exchange.sentByteCount ?? 0).times(weight))
        receivedByteCount = receivedByteCount.adding((exchange.receivedByteCount ?? 0).times(weight))
        extend(to: exchange.opened...exchange.opened)
        if let step {
            let number = exchange.opened.bounded.quotientAndRemainder(flooringBy: step).quotient
            steps[number, default: CollectedStep()].add(exchange)
        }
        if exchange.state == .failed, let error = exchange.error {
            errors.add(error, weight)
            if error.isTimeout { timeoutWeights.addWeight(weight) }
        }
        guard exchange.state != .mocked else { return }
        if let time = exchange.firstByteAfter { firstByte.append(time, weight: weight) }
        let example = NetworkGroup.Example(exchange)
        if exchange.state == .completed || exchange.state == .failed, let duration = exchange.duration {
            if exchange.state == .failed {
                failed.append(duration, weight: weight)
            } else if exchange.isFailing {
                refused.append(duration, weight: weight)
            } else {
                succeeded.append(duration, weight: weight)
            }
            slowest.insert(example, upTo: exampleCount, before: NetworkGroup.Example.isSlower)
        }
        if exchange.isFailing {
            failingWeights.addWeight(weight)
            failing.insert(example, upTo: exampleCount, before: NetworkGroup.Example.isLater)
        }
    }

    private mutating func extend(to other: ClosedRange<Int64>) {
        let known = opened ?? other
        opened = min(known.lowerBound, other.lowerBound)...max(known.upperBound, other.upperBound)
    }

    mutating func merge(_ other: consuming CollectedExchanges) {
        weights.addWeight(other.weights)
        failingWeights.addWeight(other.failingWeights)
        timeoutWeights.addWeight(other.timeoutWeights)
        statuses.merge(other.statuses, uniquingKeysWith: { $0.addingWeight($1) })
        states.merge(other.states, uniquingKeysWith: { $0.addingWeight($1) })
        sentByteCount = sentByteCount.adding(other.sentByteCount)
        receivedByteCount = receivedByteCount.adding(other.receivedByteCount)
        errors.merge(other.errors)
        firstByte.merge(other.firstByte)
        succeeded.merge(other.succeeded)
        refused.merge(other.refused)
        failed.merge(other.failed)
        if let times = other.opened { extend(to: times) }
        steps.merge(other.steps)
        for example in other.slowest {
            slowest.insert(example, upTo: exampleCount, before: NetworkGroup.Example.isSlower)
        }
        for example in other.failing {
            failing.insert(example, upTo: exampleCount, before: NetworkGroup.Example.isLater)
        }
    }

    var count: Int { Weights.count(weights) }

    mutating func group(_ key: NetworkKey) -> NetworkGroup {
        var whole = succeeded
        whole.merge(refused)
        var all = whole
        all.merge(failed)
        return NetworkGroup(
            role: key.role, host: key.host, path: key.path, method: key.method, count: count,
            statuses: statusCounts, states: states.mapValues(Weights.count).filter { $0.value > 0 },
            failingCount: Weights.count(failingWeights), timeoutCount: Weights.count(timeoutWeights),
            errors: errors.sorted, firstByte: DurationStatistics(&firstByte), succeeded: DurationStatistics(&succeeded),
            all: DurationStatistics(&all), whole: DurationStatistics(&whole), failed: DurationStatistics(&failed),
            sentByteCount: sentByteCount, receivedByteCount: receivedByteCount,
            firstOpened: Date(microseconds: opened?.lowerBound ?? 0),
            lastOpened: Date(microseconds: opened?.upperBound ?? 0), steps: sortedSteps, slowest: slowest,
            failing: failing)
    }

    private var sortedSteps: [NetworkGroup.Step]? {
        guard let step else { return nil }
        return steps.sorted { $0.key < $1.key }.map { number, collected in collected.step(from: number * step) }
    }

    private var statusCounts: NetworkGroup.StatusCounts {
        var counts = NetworkGroup.StatusCounts()
        for (status, weights) in statuses { counts.add(status, weights) }
        return counts.rounded
    }
}

private struct CollectedStep: Mergeable {
    private var weights: Int64 = 0
    private var failingWeights: Int64 = 0
    private var succeeded = Durations()

    mutating func add(_ exchange: MeasuredExchange) {
        weights.addWeight(exchange.weight)
        if exchange.isFailing {
            failingWeights.addWeight(exchange.weight)
        } else if exchange.state == .completed, let duration = exchange.duration {
            succeeded.append(duration, weight: exchange.weight)
        }
    }

    mutating func merge(_ other: consuming CollectedStep) {
        weights.addWeight(other.weights)
        failingWeights.addWeight(other.failingWeights)
        succeeded.merge(other.succeeded)
    }

    func step(from start: Int64) -> NetworkGroup.Step {
        var succeeded = succeeded
        return NetworkGroup.Step(
            start: Date(microseconds: start), count: Weights.count(weights),
            failingCount: Weights.count(failingWeights), succeeded: DurationStatistics(&succeeded))
    }
}

extension NetworkGroup.Example {
    fileprivate init(_ exchange: MeasuredExchange) {
        (id, transaction, status, error) = (exchange.id, exchange.transaction, exchange.status, exchange.error)
        (openedMicroseconds, durationMicroseconds) = (exchange.opened, exchange.duration)
    }

    fileprivate static func isSlower(_ left: Self, _ right: Self) -> Bool {
        let (time, otherTime) = (left.durationMicroseconds ?? 0, right.durationMicroseconds ?? 0)
        return time == otherTime ? left.hasLesserID(than: right) : time > otherTime
    }

    fileprivate static func isLater(_ left: Self, _ right: Self) -> Bool {
        left.openedMicroseconds == right.openedMicroseconds
            ? left.hasLesserID(than: right) : left.openedMicroseconds > right.openedMicroseconds
    }

    private func hasLesserID(than other: Self) -> Bool {
        (id.source, id.sequence) < (other.id.source, other.id.sequence)
    }
}

extension [NetworkGroup.Example] {
    fileprivate mutating func insert(_ example: Element, upTo limit: Int, before precedes: (Element, Element) -> Bool) {
        if count == limit {
            guard let last, precedes(example, last) else { return }
            removeLast()
        }
        insert(example, at: firstIndex { precedes(example, $0) } ?? endIndex)
    }
}

struct MeasuredExchange {
    var id: FactID
    var transaction: GUID?
    var role: ExchangeRole
    var method: String
    var host: String?
    var path: String
    var state: ExchangeRecord.State
    var opened: Int64
    var firstByteAfter, duration: Int64?
    var status: Int?
    var sentByteCount, receivedByteCount: Int64?
    var error: RecordedError?
    var weight = Weights.one

    var isFailing: Bool { state != .mocked && (state == .failed || status ?? 0 >= 400) }
}

extension RecordedError {
    /// Whether the error, or an underlying one, is a timeout of a request: a well-known code, or a name that says so.
    var isTimeout: Bool {
        chain.contains { error in
            switch (error.domain, error.code) {
            case ("NSURLErrorDomain", -1001): return true
            // ETIMEDOUT on Darwin and on Linux.
            case ("NSPOSIXErrorDomain", 60), ("NSPOSIXErrorDomain", 110): return true
            default:
                let name = (error.name ?? "").lowercased().filter { $0 != "_" }
                return ["timeout", "timedout", "deadlineexceeded"].contains { name.contains($0) }
            }
        }
    }
}

extension MeasuredExchange {
    static let columns = """
        l.source, l.sequence, l.at_us, l.role, l.method, l.host, l.path, l.closed_at_us, l.first_byte_us, l.state, l.status, l.sent_bytes, \
        l.received_bytes, l.error_code, s.ended, p.guid, \
        CASE WHEN l.error_code IS NOT NULL OR instr(l.closed_detail, '"mocked"') THEN l.closed_detail END, \
        CASE WHEN s.heard_us IS NOT NULL THEN p.sample_ppm END, p.sample_kept, p.slow_us, p.outcome, p.duration_us, p.timeout_us, \
        CASE WHEN p.sample_ppm IS NOT NULL AND p.outcome = 0 THEN \(SQL.lastActivity(guid: "p.guid")) ELSE 0 END
        """

    init(_ row: Row, _ sources: SourceDirectory, now wall: Int64) {
        let (source, at) = (row.int(0), row.int(2))
        // Few details contain anything of interest, and parsing them would dominate the time.
        let detail = DetailColumn(row.optionalText(16))
        id = FactID(source: sources[source]?.id ?? GUID(high: 0, low: 0), sequence: row.int(1))
        transaction = row.optionalGUID(15)
        role = ExchangeRole(rawValue: row.int(3)) ?? .client
        method = row.text(4)
        host = row.optionalText(5)
        path = row.text(6)
        state = ExchangeRecord.State(
            row.optionalInt(9).flatMap(ExchangeState.init(rawValue:)), isMocked: detail.transfer.isMocked,
            hasSourceEnded: row.bool(14)
        )
        opened = sources.wall(at, in: source)
        firstByteAfter = row.optionalInt(8).map { $0 - at }
        duration = row.optionalInt(7).map { $0 - at }
        status = row.optionalInt(10)
        (sentByteCount, receivedByteCount) = (row.optionalInt(11), row.optionalInt(12))
        error = detail.error(code: row.optionalInt(13))
        guard let sampling = FactRowReader.sampling(row, from: 17) else { return }
        let outcome = TransactionOutcome(
            stored: row.int(20), lastActivity: row.int(23), timeout: row.int(22), now: wall)
        weight = sampling.weight(for: outcome, tookMicroseconds: row.optionalInt(21))
    }
    init(_ exchange: TransactionRow.Exchange, of row: TransactionRow, now wall: Int64) {
        let part = row.parts[exchange.part]
        id = FactID(source: row.sources[part.source].id, sequence: exchange.sequence)
        transaction = row.id
        (role, method, host, path) = (exchange.role, exchange.method, exchange.host, exchange.path)
        (state, opened, status, error) = (exchange.state, exchange.opened, exchange.status, exchange.error)
        firstByteAfter = exchange.firstByteAt.map { $0 - exchange.at }
        duration = exchange.closedAt.map { $0 - exchange.at }
        (sentByteCount, receivedByteCount) = (exchange.sentByteCount, exchange.receivedByteCount)
        guard let sampling = part.sampling else { return }
        let outcome = TransactionOutcome(
            stored: part.outcome, lastActivity: row.lastActivity, timeout: part.timeout, now: wall)
        weight = sampling.weight(for: outcome, tookMicroseconds: part.closedAt.map { $0 - part.at })
    }
}
