package import TestSupport
import WaybillCore
package import WaybillQueries

/// Makes filters with all kinds of conditions. No condition is true for everything, or false for everything, that a
/// ``HistoryMaker`` makes.
package struct FilterMaker {
    package var random: RandomNumbers
    /// The times when something began, in microseconds since 1970.
    private let times: [Int64]

    /// The IDs of transactions, and of those that others name as their parents.
    private let ids: [GUID]

    /// The IDs of sources and of their installations.
    private let (sources, installations): ([GUID], [GUID])

    /// - Parameter naive: The transactions and exchanges whose times filters name.
    package init(random: RandomNumbers, naive: NaiveAnswers) {
        self.random = random
        // Sorted, because a seed must make the same filters each time.
        ids = naive.runs.flatMap { [$0.id, $0.leader.opened.parent].compactMap(\.self) }.sorted()
        sources = naive.histories.map(\.source.id)
        installations = naive.histories.compactMap(\.source.installation)
        times = (naive.runs.map(\.begun) + naive.exchanges.map(\.wall)).sorted()
    }

    package mutating func filter() -> TransactionFilter {
        var filter = TransactionFilter()
        filter.conditions = indexed(oneIn: 4)
        for _ in 0..<Int.random(in: 0...3, using: &random) { filter.conditions.append(condition()) }
        if random.oneIn(3) { filter.beginner = random.oneIn(2) ? .unknown : .any }
        filter.order = TransactionFilter.Order.allCases.randomElement(using: &random) ?? .newest
        return filter
    }

    /// Conditions that an index finds, each in one of `count` filters; seldom two of a kind.
    private mutating func indexed(oneIn count: Int) -> [FilterCondition] {
        var conditions: [FilterCondition] = []
        for _ in 0..<(random.oneIn(6) ? 2 : 1) {
            if random.oneIn(count) { conditions.append(.useCase(random.oneIn(5) ? 4 : 3)) }
            if random.oneIn(count) { conditions.append(.outcome(outcomes())) }
            if random.oneIn(count), let time = times.randomElement(using: &random) {
                conditions.append(.sinceMicroseconds(time))
            }
            if random.oneIn(count), let time = times.randomElement(using: &random) {
                conditions.append(.untilMicroseconds(time))
            }
        }
        // A filter that lets no outcome through can't be written as text.
        let sets = conditions.compactMap { if case .outcome(let outcomes) = $0 { outcomes } else { nil } }
        let isContradiction = sets.count == 2 && sets[0].isDisjoint(with: sets[1])
        return isContradiction ? [] : conditions
    }

    private mutating func outcomes() -> Set<TransactionOutcome> {
        Set(
            (0...Int.random(in: 0...2, using: &random)).compactMap { _ in
                TransactionOutcome.allCases.randomElement(using: &random)
            })
    }

    package mutating func condition() -> FilterCondition {
        let took = Int64.random(in: 0...30_000, using: &random)
        let all: [FilterCondition] = [
            .useCase(3), .useCase(4), .event("event 0"), .event("event 2"), .event("event of 0"), .event("event of 1"),
            .event("nobody's"),
            .error("*"), .error("-1001"), .error("7"), .error("nsurl"), .error("NSURLErrorDomain -1001"),
            .error("NSURLErrorDomain 5"), .error("timedOut"), .error("NSURLErrorDomain timedOut"),
            .error("shop.socket gone"),
            .error("Socket 7"), .error("Socket 61"), .error("61"),
            .finishError(RecordedError(domain: "NSURLErrorDomain", code: -1001)),
            .finishError(RecordedError(code: 0, name: "timedOut", underlying: [.init(code: 61)])),
            .finishError(RecordedError(domain: "NSURLErrorDomain", code: -1001, underlying: [.init(code: 61)])),
            .error("zeit l"), .error("Zeit"), .attribute("text", value: nil), .attribute("text", value: "a\"\\ü"),
            .attribute("count", value: "-1"),
            .attribute("count", value: "x"), .attribute("whole", value: "2"), .attribute("part", value: "0.25"),
            .attribute("yes", value: "true"), .attribute("yes", value: "1"), .attribute("none", value: nil),
            .attribute("environment", value: "test"), .status(200...200),
            .status(400...599), .app("APP 0"), .app("app 1"), .appVersion("1.2"), .device("device"), .device("other"),
            .os("Linux"),
            .os("linux 6"), .os("Lin"), .osVersion("6"), .osVersion("7"), source(), installation(), .ended("signal"),
            .ended("SIGSEGV"),
            .ended("reboot"), .ended("unknown"),
            .sampled(.chosen), .sampled(.unchosen), .sampled(.none), .oneIn(1), .oneIn(2), .oneIn(7),
            .tookMoreThan(.microseconds(took)), .tookLessThan(.microseconds(took)),
            .text("api.example"),
            .text("NSURLErrorDomain"), .text("ogi"), .text("nowhere"), .text("yes=true"),
        ]
        let states = ExchangeRecord.State.allCases.map(FilterCondition.exchange)
        let relatives: [FilterCondition] = [
            .parent(.known), .parent(relative()), .root(relative()), .child(.known), .child(relative()),
        ]
        let condition = one(of: all + states + relatives)
        return random.oneIn(3) ? .not(condition) : condition
    }

    private mutating func source() -> FilterCondition {
        .source(sources.randomElement(using: &random) ?? random.guid())
    }

    private mutating func installation() -> FilterCondition {
        .installation(installations.randomElement(using: &random) ?? random.guid())
    }

    private mutating func relative() -> FilterCondition.Relative {
        let id = ids.randomElement(using: &random) ?? random.guid()
        let all: [FilterCondition.Relative] = [
            .transaction(id), .supportCode(id.supportCode), .useCase(3), .useCase(4), .outcome(.failed),
            .outcome(.open), .outcome(.timedOut), .outcome(.interrupted),
        ]
        return all.randomElement(using: &random) ?? .known
    }

    package mutating func exchangeFilter() -> ExchangeFilter {
        var filter = ExchangeFilter()
        filter.conditions = indexed(oneIn: 5)
        for _ in 0..<Int.random(in: 1...2, using: &random) { filter.conditions.append(exchangeCondition()) }
        return filter
    }

    private mutating func exchangeCondition() -> FilterCondition {
        let took = Int64.random(in: 0...10_000, using: &random)
        let all: [FilterCondition] = [
            .host("example.com"), .host("API.example.com"), .host("ample.com"), .path("/login"), .path("users"),
            .path("/log"),
            .method(["get"]), .method(["POST", "PUT"]), .status(200...200), .status(400...599),
            .state([.failed, .cancelled]),
            .state([.completed]), .state([.inProgress, .interrupted, .mocked]), .error("*"), .error("-1001"),
            .error("D 1"),
            .tookMoreThan(.microseconds(took)), .tookLessThan(.microseconds(took)),
            .receivedMoreThan(0), .receivedLessThan(1), .closeCode(1000...1000), .closeCode(1001...4999), .app("APP 0"),
            .appVersion("1.2"),
            .device("device"), .os("linux 6"), .osVersion("7"), source(), installation(), .ended("signal"),
            .ended("unknown"), .ended("exit"),
            .useCase(3), .useCase(4), .sampled(.unchosen), .sampled(.none), .oneIn(3), .event("event of 1"),
            .event("event 2"),
            .attribute("yes", value: "true"), .attribute("none", value: nil), .text("login"), .text("example.com"),
            .text("https"), .text("accept"), .text("slow"), .text("POST http"), .text("nowhere"),
            .parent(.known), .child(.known), .root(.outcome(.failed)),
        ]
        // Conditions of exchanges alone get half of the choices, because fewer questions are about exchanges.
        let own = all.filter { condition in
            guard let key = condition.term.key else { return false }
            return !key.goes(with: .transactions)
        }
        let condition = one(of: random.oneIn(2) ? own : all)
        return random.oneIn(3) ? .not(condition) : condition
    }

    /// Chooses among kinds first, because some kinds have many more examples than others.
    private mutating func one(of conditions: [FilterCondition]) -> FilterCondition {
        let kinds = Dictionary(grouping: conditions) { $0.term.key?.rawValue ?? "" }
        let kind = kinds.keys.sorted().randomElement(using: &random) ?? ""
        return kinds[kind]?.randomElement(using: &random) ?? .text("")
    }
}
