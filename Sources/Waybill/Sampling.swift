public import WaybillCore

/// The share of each use case's transactions that is delivered.
///
/// Waybill chooses whole transactions by their IDs, and a client and server with the same rate choose the same ones.
/// Others wait on the device for their end, which decides between delivery and the drop reason `sampled`: <doc:Deliver>
/// has the rules. Queries scale their counts by the rate.
///
/// ```swift
/// options.sampling.setRate(0.1, for: Login.self, slowerThan: .seconds(5))
/// options.sampling.setRate(0.5)  // all other use cases
/// ```
///
/// A child is chosen by the ID of its root, so the same rate delivers both. Exchanges outside transactions are always
/// delivered. A collector can set rates, too; see ``acceptsRatesFromCollector``.
public struct Sampling: Equatable, Sendable {
    struct Rule: Equatable, Sendable {
        var rate = 1.0
        var slow: Duration?

        fileprivate var perMillion: Int {
            guard rate > 0 else { return 0 }
            return max(Fact.Sampling.leastPerMillion, Int((min(1, rate) * Double(Fact.Sampling.million)).rounded()))
        }
    }

    private(set) var rules: [Int: Rule] = [:]
    private(set) var other = Rule()

    /// Whether to apply the rates in a collector's receipts to new transactions. Default: false.
    ///
    /// A rate for a use case precedes one for all others, and the collector's precedes the app's. Rates apply until the
    /// next receipt or launch. ``TransactionManager/health`` lists invalid ones, which are ignored. Whoever controls the
    /// collector can then stop the delivery of successful transactions, but of no others.
    public var acceptsRatesFromCollector = false

    /// Creates a sampling that delivers everything.
    public init() {}

    /// Sets the rate of a use case from 0 to 1; rates above 0 are at least 0.0001. Transactions that take longer than
    /// `duration` are always delivered.
    public mutating func setRate<U: UseCase>(_ rate: Double, for useCase: U.Type, slowerThan duration: Duration? = nil)
    {
        setRate(rate, forCode: U.code, slowerThan: duration)
    }

    /// Sets the rate of a use case that has a code but no Swift type.
    public mutating func setRate(_ rate: Double, forCode code: Int, slowerThan duration: Duration? = nil) {
        rules[code] = Rule(rate: rate, slow: duration)
    }

    /// Sets the rate of all use cases without a rate.
    public mutating func setRate(_ rate: Double, slowerThan duration: Duration? = nil) {
        other = Rule(rate: rate, slow: duration)
    }

    func sampling(of useCase: Int, root: GUID) -> Fact.Sampling? {
        let rule = rules.isEmpty ? other : rules[useCase] ?? other
        guard rule.rate < 1 else { return nil }
        return Fact.Sampling(
            root: root, perMillion: rule.perMillion, slowMicroseconds: rule.slow.map { max(0, $0.microseconds) })
    }

    func taking(_ rates: [SamplingRate]) -> (sampling: Sampling, problem: WaybillError?) {
        guard rates.count <= Limits.samplingRates else {
            let problem = "The collector handed out more than \(Limits.samplingRates) sampling rates; none is taken."
            return (self, WaybillError(.format, problem))
        }
        var taken = self
        for rate in rates where rate.isPossible {
            let share = Double(rate.perMillion) / Double(Fact.Sampling.million)
            if let code = rate.useCase {
                taken.rules[code, default: Rule(slow: other.slow)].rate = share
            } else {
                taken.other.rate = share
            }
        }
        guard let wrong = rates.first(where: { !$0.isPossible }) else { return (taken, nil) }
        let whose = wrong.useCase.map { " for use case \($0)" } ?? ""
        let problem = "A sampling rate that the collector handed out\(whose) is not between 0 and 1; it is not taken."
        return (taken, WaybillError(.format, problem))
    }

    var checked: (sampling: Sampling, problems: [WaybillError]) {
        var (checked, problems): (Sampling, [WaybillError]) = (self, [])
        func check(_ rule: inout Rule, _ whose: String) {
            guard !(0...1).contains(rule.rate) else { return }
            problems.add("A sampling rate of \(rule.rate)\(whose) is not between 0 and 1; 1 is used.")
            rule.rate = 1
        }
        check(&checked.other, "")
        for (code, var rule) in rules.ordered(by: { $0.key < $1.key }) {
            check(&rule, " for use case \(code)")
            checked.rules[code] = rule
        }
        return (checked, problems)
    }
}

final class SamplingInForce: Sendable {
    private struct State {
        var sampling: Sampling
        var problem: WaybillError?
    }

    private let own: Sampling
    private let state: Locked<State>?

    init(_ own: Sampling) {
        self.own = own
        state = own.acceptsRatesFromCollector ? Locked(State(sampling: own)) : nil
    }

    func sampling(of useCase: Int, root: GUID) -> Fact.Sampling? {
        (state?.withLock { $0.sampling } ?? own).sampling(of: useCase, root: root)
    }

    func take(_ rates: [SamplingRate]) {
        state?.withLock { state in (state.sampling, state.problem) = own.taking(rates) }
    }

    var problem: WaybillError? { state?.withLock { $0.problem } }
}
