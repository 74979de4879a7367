import WaybillAnalysis
import WaybillCore
import WaybillReading

/// Terms of a filter that a search field offers: every key, with the values that are known.
struct FilterTerms {
    /// As they are written, by key.
    let all: [String]

    /// More values of one key, or of one attribute, are no choice for people; names of use cases and events are what
    /// they look for.
    private static let limit = 12
    static let nameLimit = 200

    /// - Parameters:
    ///   - seen: Redacted.
    ///   - names: Of use cases and events.
    ///   - hosts: Of requests.
    init(
        _ seen: SeenValues, names: Redacted<[RecordedName]>, about subject: FilterExpression.Subject = .transactions,
        hosts: [String] = []
    ) {
        let names = names.searchable
        func known(_ names: [RecordedName]) -> [String] { Set(names.map(\.name)).sorted() }
        let values: [(FilterExpression.Key, [String])] = [
            (.useCase, known(names.filter { $0.event == nil })), (.outcome, TransactionOutcome.allCases.map(\.name)),
            (.event, known(names.filter { $0.event != nil })), (.error, ["*"]), (.host, hosts),
            (.method, ["GET", "POST"]),
            (.status, ["4xx", "5xx"]), (.state, ExchangeRecord.State.allCases.map(\.rawValue)),
            (.exchange, ExchangeRecord.State.allCases.map(\.rawValue)), (.app, seen.values(of: .app)),
            (.version, seen.values(of: .appVersion)), (.device, seen.values(of: .device)), (.os, seen.values(of: .os)),
            (.osVersion, seen.values(of: .osVersion)), (.ended, FilterCondition.ends),
            (.sampled, FilterCondition.Sampled.allCases.map(\.rawValue)),
            (.since, ["15m", "1h", "24h", "7d"]),
            (.parent, ["known", "failed"] + known(names.filter { $0.event == nil })),
            (.child, ["known", "failed"] + known(names.filter { $0.event == nil })),
            (.beginner, [TransactionFilter.Beginner.unknown, .any].map(\.rawValue)),
            (.sort, TransactionFilter.Order.allCases.map(\.rawValue)),
        ]
        let attributes = seen.attributes.flatMap { name in
            seen.values(of: .attribute(name)).prefix(Self.limit).map { FilterCondition.attribute(name, value: $0) }
        }
        let lengths = [FilterCondition.tookMoreThan(.seconds(1)), .tookLessThan(.milliseconds(100))]
        var all = values.filter { $0.0.goes(with: subject) }.flatMap { key, values in
            values.prefix(key == .useCase || key == .event ? Self.nameLimit : Self.limit)
                .map { FilterExpression.Term(key, .equal, $0).description }
        }
        all += (attributes.prefix(4 * Self.limit) + lengths).map { FilterExpression.Term($0).description }
        if subject == .exchanges { all.append(FilterExpression.Term(.receivedMoreThan(100_000)).description) }
        self.all = all
    }
}

extension Redacted<[RecordedName]> {
    /// Those that something is found by: not empty, and as they were recorded.
    var searchable: [RecordedName] { value.filter { $0.isSearchable } }

    /// Searchable names of use cases, each once.
    var useCases: [String] {
        var seen: Set<String> = []
        return searchable.filter { $0.event == nil }.map(\.name).filter { seen.insert($0).inserted }
    }
}

extension RecordedName {
    /// Of a redacted name: whether something is found by it.
    var isSearchable: Bool { !name.isEmpty && !name.contains(Redactor.placeholder) }
}
