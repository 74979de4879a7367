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
