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

    mutating func add(_ measured: MeasuredExchange) {
        let (exchange, weight) = (measured.exchange, measured.weight)
        weights.addWeight(weight)
        statuses[exchange.status, default: 0].addWeight(weight)
        states[exchange.state, default: 0].addWeight(weight)
        // Each size, and the sum, is limited to the largest integer of the format.
        sentByteCount = sentByteCount.adding((exchange.sentByteCount ?? 0).times(weight))
        receivedByteCount = receivedByteCount.adding((exchange.receivedByteCount ?? 0).times(weight))
        extend(to: exchange.opened...exchange.opened)
        if let step {
            let number = exchange.opened.bounded.quotientAndRemainder(flooringBy: step).quotient
            steps[number, default: CollectedStep()].add(exchange, weight)
        }
        if exchange.state == .failed, let error = exchange.error {
            errors.add(error, weight)
            if error.isTimeout { timeoutWeights.addWeight(weight) }
        }
        guard exchange.state != .mocked else { return }
        if let time = exchange.firstByteAfter { firstByte.append(time, weight: weight) }
        let example = NetworkGroup.Example(measured)
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
            statuses: NetworkGroup.StatusCounts(statuses), states: states.counts,
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
}

extension NetworkGroup.StatusCounts {
    /// - Parameter weights: The sums of weights by status code; `nil` for no response.
    fileprivate init(_ weights: [Int?: Int64]) {
        var classes: [Int?: Int64] = [:]
        for (status, weight) in weights {
            classes[status.map { (200..<600).contains($0) ? $0 / 100 : 0 }, default: 0].addWeight(weight)
        }
        func count(_ digit: Int?) -> Int64 { Int64(Weights.count(classes[digit] ?? 0)) }
        (successful, redirection, clientError, serverError) = (count(2), count(3), count(4), count(5))
        (other, none) = (count(0), count(nil))
    }
}

private struct CollectedStep: Mergeable {
    private var weights: Int64 = 0
    private var failingWeights: Int64 = 0
    private var succeeded = Durations()

    mutating func add(_ exchange: TransactionRow.Exchange, _ weight: Int64) {
        weights.addWeight(weight)
        if exchange.isFailing {
            failingWeights.addWeight(weight)
        } else if exchange.state == .completed, let duration = exchange.duration {
            succeeded.append(duration, weight: weight)
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
    fileprivate init(_ measured: MeasuredExchange) {
        let exchange = measured.exchange
        (id, transaction, status, error) = (measured.id, measured.transaction, exchange.status, exchange.error)
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
    /// Its part has no meaning without the row of the transaction.
    var exchange: TransactionRow.Exchange
    var weight = Weights.one
}

extension TransactionRow.Exchange {
    fileprivate var firstByteAfter: Int64? { firstByteAt.map { $0 - at } }
    fileprivate var duration: Int64? { closedAt.map { $0 - at } }
    fileprivate var isFailing: Bool { state != .mocked && (state == .failed || status ?? 0 >= 400) }
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
        l.source, \(TransactionRow.Exchange.columns), \
        CASE WHEN l.error_code IS NOT NULL OR instr(l.closed_detail, '"mocked"') THEN l.closed_detail END, s.ended, p.guid, \
        CASE WHEN s.heard_us IS NOT NULL THEN p.sample_ppm END, p.sample_kept, p.slow_us, p.outcome, p.duration_us, p.timeout_us, \
        CASE WHEN p.sample_ppm IS NOT NULL AND p.outcome = 0 THEN \(SQL.lastActivity(guid: "p.guid")) ELSE 0 END
        """

    init(_ row: Row, _ sources: SourceDirectory, now wall: Int64) {
        let source: Int64 = row.int(0)
        // Few details contain anything of interest, and parsing them would dominate the time.
        let detail = DetailColumn(row.optionalText(14))
        id = FactID(source: sources.id(of: source) ?? GUID(high: 0, low: 0), sequence: row.int(1))
        transaction = row.optionalGUID(16)
        exchange = TransactionRow.Exchange(
            row.dropFirst(1), part: 0, closing: detail, opened: sources.wall(row.int(2), in: source),
            hasSourceEnded: row.bool(15))
        guard let sampling = FactRowReader.sampling(row, from: 17) else { return }
        let outcome = TransactionOutcome(
            stored: row.int(20), lastActivity: row.int(23), timeout: row.int(22), now: wall)
        weight = sampling.weight(for: outcome, tookMicroseconds: row.optionalInt(21))
    }

    init(_ exchange: TransactionRow.Exchange, of row: TransactionRow, now wall: Int64) {
        let part = row.parts[exchange.part]
        id = FactID(source: row.sources[part.source].id, sequence: exchange.sequence)
        transaction = row.id
        self.exchange = exchange
        guard let sampling = part.sampling else { return }
        let outcome = TransactionOutcome(
            stored: part.outcome, lastActivity: row.lastActivity, timeout: part.timeout, now: wall)
        weight = sampling.weight(for: outcome, tookMicroseconds: part.closedAt.map { $0 - part.at })
    }
}
