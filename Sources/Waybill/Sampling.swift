public import WaybillCore

/// How large a share of the transactions of each use case is delivered, where it need not be all of them.
///
/// Whole transactions are chosen, by their IDs alone: a client and a server with the same rate choose the same ones, and
/// no request has to say so. What was not chosen is recorded all the same, and can be looked at where it was recorded;
/// it waits for its end. Transactions that failed, were abandoned or interrupted, timed out, or were slow are then
/// delivered like any other; those that succeeded or were canceled are dropped, and booked for the reason `sampled`.
/// Answers count what was chosen by its rate, and say so.
///
/// ```swift
/// options.sampling.rate(0.1, for: Login.self, slowerThan: .seconds(5))
/// options.sampling.rate(0.5)  // all other use cases
/// ```
///
/// A transaction that was begun below another one is chosen by the ID of the topmost: with the same rate it is delivered
/// with it. Exchanges outside of any transaction are always delivered.
///
/// A collector may hand out rates, too: see ``acceptsRatesFromCollector``.
public struct Sampling: Hashable, Sendable {
    /// What holds for a use case.
    struct Rule: Hashable, Sendable {
        var rate = 1.0
        var slow: Duration?

        /// Between the least that is possible and 1.
        fileprivate var perMillion: Int {
            guard rate > 0 else { return 0 }
            return max(Fact.Sampling.leastPerMillion, Int((min(1, rate) * Double(Fact.Sampling.million)).rounded()))
        }
    }

    private(set) var rules: [Int: Rule] = [:]
    private(set) var other = Rule()

    /// Whether the rates that a collector hands out with its receipts hold for what begins after them. Default: false.
    ///
    /// A use case's own rate comes before one for all others, and of two for the same the collector's: until the next
    /// receipt, which may say others or none. They are not remembered: a launch begins with the app's own. What counts
    /// as slow is for the app alone to say. Impossible rates are not taken, and are told in
    /// ``TransactionManager/health``.
    public var acceptsRatesFromCollector = false

    /// Everything is delivered.
    public init() {}

    /// Delivers a share of the transactions of a use case.
    ///
    /// - Parameters:
    ///   - rate: From 0, which keeps none but for their ends, to 1, all of them; in steps of a millionth, and otherwise
    ///     not below 0.0001.
    ///   - useCase: Which transactions.
    ///   - duration: Transactions that took longer are slow, and delivered; nil: none is.
    public mutating func rate<U: UseCase>(_ rate: Double, for useCase: U.Type, slowerThan duration: Duration? = nil) {
        self.rate(rate, forCode: U.code, slowerThan: duration)
    }

    /// Delivers a share of the transactions of a use case that has a number but no Swift type.
    public mutating func rate(_ rate: Double, forCode code: Int, slowerThan duration: Duration? = nil) {
        rules[code] = Rule(rate: rate, slow: duration)
    }

    /// Delivers a share of the transactions of all use cases that have no rate of their own.
    public mutating func rate(_ rate: Double, slowerThan duration: Duration? = nil) {
        other = Rule(rate: rate, slow: duration)
    }

    /// What an opening says; nil where everything of its use case is delivered.
    ///
    /// - Parameter root: Of the transaction that it is below, or its own.
    func sampling(of useCase: Int, root: GUID) -> Fact.Sampling? {
        let rule = rules.isEmpty ? other : rules[useCase] ?? other
        guard rule.rate < 1 else { return nil }
        return Fact.Sampling(
            root: root, perMillion: rule.perMillion, slowMicroseconds: rule.slow.map { max(0, $0.microseconds) })
    }

    /// The same with what a collector handed out, and what was wrong with that.
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

    /// The same with possible rates, and what was wrong with others.
    var checked: (sampling: Sampling, problems: [WaybillError]) {
        var (checked, problems): (Sampling, [WaybillError]) = (self, [])
        func check(_ rule: inout Rule, _ whose: String) {
            guard !(0...1).contains(rule.rate) else { return }
            problems.append(
                WaybillError(.setting, "A sampling rate of \(rule.rate)\(whose) is not between 0 and 1; 1 is used."))
            rule.rate = 1
        }
        check(&checked.other, "")
        for (code, var rule) in rules.sorted(by: { $0.key < $1.key }) {
            check(&rule, " for use case \(code)")
            checked.rules[code] = rule
        }
        return (checked, problems)
    }
}

/// The sampling that holds for what is opened now: the app's own, or with what the collector said last, where the app
/// accepts that.
final class SamplingInForce: Sendable {
    private struct State {
        var sampling: Sampling
        var problem: WaybillError?
    }

    private let own: Sampling
    /// nil: no collector has a say.
    private let state: Locked<State>?

    init(_ own: Sampling) {
        self.own = own
        state = own.acceptsRatesFromCollector ? Locked(State(sampling: own)) : nil
    }

    /// What an opening says.
    func sampling(of useCase: Int, root: GUID) -> Fact.Sampling? {
        (state?.withLock { $0.sampling } ?? own).sampling(of: useCase, root: root)
    }

    /// Takes what a receipt says in place of what the one before said.
    func take(_ rates: [SamplingRate]) {
        state?.withLock { state in (state.sampling, state.problem) = own.taking(rates) }
    }

    /// What was wrong with the last receipt's rates; nil: nothing.
    var problem: WaybillError? { state?.withLock { $0.problem } }
}
