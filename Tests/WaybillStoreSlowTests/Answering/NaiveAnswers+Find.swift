import WaybillCore
import WaybillReading

@testable import WaybillStoreTests

/// Which transactions pass a filter, by looking at every fact.
extension NaiveAnswers {
    func passes(_ filter: TransactionFilter, _ run: Run) -> Bool {
        (filter.useCase.map { $0 == run.leader.opened.useCase } ?? true)
            && (filter.outcomes.isEmpty || filter.outcomes.contains(run.outcome))
            && run.begun >= filter.sinceMicroseconds ?? .min && run.begun < filter.untilMicroseconds ?? .max
            && filter.conditions.allSatisfy { passes($0, run) }
    }

    /// What a list is sorted by; those without a duration come last.
    func key(_ order: TransactionFilter.Order, _ run: Run) -> Int {
        switch order {
        case .newest: -run.begun
        case .oldest: run.begun
        case .longest: duration(run).map { -$0 } ?? .max
        case .shortest: duration(run) ?? .max
        }
    }

    private func duration(_ run: Run) -> Int? { run.closing.map { $0.fact.atMicroseconds - run.leader.fact.atMicroseconds } }

    /// All facts of its parts, each with the number of its source.
    private func facts(_ run: Run) -> [(source: Int, fact: Fact)] {
        histories.enumerated().flatMap { source, history in
            let parts = Set(
                history.sentFacts.filter { fact in
                    guard case .opened(let opened) = fact.content else { return false }
                    return opened.transaction == run.leader.opened.transaction
                }.map(\.sequence))
            return history.sentFacts.filter { parts.contains($0.part) }.map { (source, $0) }
        }
    }

    private func passes(_ condition: TransactionCondition, _ run: Run) -> Bool {
        let source = histories[run.leader.source].source
        func equal(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }
        switch condition {
        case .useCase(let code): return run.leader.opened.useCase == code
        case .event(let name): return run.events.contains { $0.name == name }
        case .error(let pattern): return facts(run).contains { error(of: $0.fact).map { matches($0, pattern) } ?? false }
        case .attribute(let name, let value):
            guard let given = run.leader.opened.attributes[name] else { return false }
            return value.map { value in
                switch given {
                case .integer(let number): Double(value) == Double(number)
                case .double(let number): Double(value) == number
                case .string, .bool: given.description == value
                }
            } ?? true
        case .status(let range): return exchanges(run).contains { $0.status.map { range.contains($0) } ?? false }
        case .exchange(let state): return exchanges(run).contains { $0.state == state }
        case .app(let value): return equal(source.app, value)
        case .appVersion(let value): return equal(source.appVersion, value)
        case .device(let value): return equal(source.device, value)
        case .osVersion(let value): return equal(source.osVersion, value)
        case .os(let value):
            let whole = "\(source.os) \(source.osVersion)"
            return equal(whole, value) || [".", " "].contains { whole.lowercased().hasPrefix(value.lowercased() + $0) }
        case .tookMoreThan(let limit): return duration(run).map { $0 > limit } ?? false
        case .tookLessThan(let limit): return duration(run).map { $0 < limit } ?? false
        case .text(let text): return mentions(text, run)
        case .not(let condition): return !passes(condition, run)
        }
    }

    private func error(of fact: Fact) -> RecordedError? {
        switch fact.content {
        case .closed(let closed): closed.error
        case .event(let event): event.error
        case .exchangeClosed(let closed): closed.error
        case .opened, .exchangeOpened: nil
        }
    }

    private func matches(_ error: RecordedError, _ pattern: String) -> Bool {
        if pattern == "*" { return true }
        let words = pattern.split(separator: " ").map(String.init)
        let code = words.last.flatMap { Int($0) }
        if let code, code != error.code { return false }
        let text = (code == nil ? words : words.dropLast()).joined(separator: " ").lowercased()
        return text.isEmpty || error.domain.lowercased().contains(text) || (error.text?.lowercased().contains(text) ?? false)
    }

    private func exchanges(_ run: Run) -> [(status: Int?, state: ExchangeRecord.State)] {
        let facts = facts(run)
        return facts.compactMap { source, fact in
            guard case .exchangeOpened = fact.content else { return nil }
            for case (source, .exchangeClosed(let closed)) in facts.map({ ($0.source, $0.fact.content) })
            where closed.exchange == fact.sequence {
                switch closed.state {
                case .completed: return (closed.status, closed.transfer.isMocked ? .mocked : .completed)
                case .failed: return (closed.status, .failed)
                case .canceled: return (closed.status, .canceled)
                }
            }
            return (nil, histories[source].hasEnded ? .interrupted : .inProgress)
        }
    }

    /// Where the texts of the tests can be.
    private func mentions(_ text: String, _ run: Run) -> Bool {
        if "login".contains(text) || run.leader.opened.transaction.description.contains(text) { return true }
        return facts(run).contains { _, fact in
            if let error = error(of: fact), error.domain.contains(text) || (error.text?.contains(text) ?? false) { return true }
            if case .exchangeOpened(let opened) = fact.content { return ((opened.host ?? "") + opened.path).contains(text) }
            return false
        }
    }
}
