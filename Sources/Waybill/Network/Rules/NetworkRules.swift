import Dispatch
public import Foundation
public import WaybillCore

/// The rules of a manager: they mock, slow down or fail the requests of its sessions while they are on, which at first
/// they are not.
///
/// Of the rules that are enabled, match, and have times left, only the one that was added last acts: a throttle above a
/// mock hides it, and a slow mock is a mock with a delay. Rules apply to ``CapturedSession`` alone, whether recording is on or not,
/// and never to what the manager itself sends. Nothing is ever loaded by itself: a build is open to rules only where
/// its own code adds them and turns them on.
///
/// ## Usage
///
/// ```swift
/// transactions.rules.add(NetworkRule("slow", .throttle(Throttle(latency: .seconds(2)))))
/// transactions.rules.isOn = TransactionManager.isDebugBuild
/// ```
public final class NetworkRules: Sendable {
    private struct State {
        var isOn = false
        /// In order of precedence.
        var rules: [NetworkRule] = []
        var hits: [String: Int] = [:]
    }

    private let state = Locked(State())
    /// False for good where requests are sent as they are.
    private let canBeOn: Bool
    /// What rules wait by.
    let schedule: @Sendable () -> any RuleSchedule

    init(canBeOn: Bool = true, schedule: @escaping @Sendable () -> any RuleSchedule = { DispatchSchedule() }) {
        self.canBeOn = canBeOn
        self.schedule = schedule
    }

    /// Whether rules apply; false until it is set, and for good with `TransactionManager.disabled`.
    public var isOn: Bool {
        get { state.withLock { $0.isOn } }
        set { state.withLock { $0.isOn = newValue && canBeOn } }
    }

    /// All rules in order of precedence, which is newest first.
    public var all: [NetworkRule] { state.withLock { $0.rules } }

    /// How many requests each rule has acted on since it was added, by its name.
    public var hits: [String: Int] {
        state.withLock { state in
            Dictionary(uniqueKeysWithValues: state.rules.map { ($0.name, state.hits[$0.name] ?? 0) })
        }
    }

    /// Adds a rule before all others, in place of one of that name; its hits count from 0.
    public func add(_ rule: NetworkRule) { add([rule]) }

    /// Adds rules before all others, in place of those of their names; the first has precedence. Of rules of one name
    /// the first is added.
    public func add(_ rules: [NetworkRule]) {
        var names: Set<String> = []
        let new = rules.filter { names.insert($0.name).inserted }
        state.withLock { state in
            state.rules = new + state.rules.filter { !names.contains($0.name) }
            for name in names { state.hits[name] = nil }
        }
    }

    /// Turns one rule on or off, and keeps its precedence and its hits; does nothing where there is none of that name.
    public func setEnabled(_ isEnabled: Bool, named name: String) {
        state.withLock { state in
            for index in state.rules.indices where state.rules[index].name == name {
                state.rules[index].isEnabled = isEnabled
            }
        }
    }

    /// Puts a rule in the place of another one, whose precedence it gets; its hits count from 0.
    ///
    /// - Returns: Whether it was: not where there is none of that name, or a third one has the name of the new one; then
    ///   nothing is changed.
    @discardableResult
    public func replace(named name: String, with rule: NetworkRule) -> Bool {
        state.withLock { state in
            guard let index = state.rules.firstIndex(where: { $0.name == name }),
                rule.name == name || !state.rules.contains(where: { $0.name == rule.name })
            else { return false }
            state.rules[index] = rule
            (state.hits[name], state.hits[rule.name]) = (nil, nil)
            return true
        }
    }

    /// Gives a rule another precedence, and keeps its hits; does nothing where there is none of that name.
    ///
    /// - Parameters:
    ///   - name: The rule's.
    ///   - places: How many others it passes, towards the last; below 0: towards the first. As many as there are at most.
    public func move(named name: String, by places: Int) {
        state.withLock { state in
            guard let index = state.rules.firstIndex(where: { $0.name == name }) else { return }
            let rule = state.rules.remove(at: index)
            let (place, isFar) = index.addingReportingOverflow(places)
            let last = state.rules.count
            state.rules.insert(rule, at: isFar ? (places < 0 ? 0 : last) : min(max(0, place), last))
        }
    }

    /// Removes a rule, and its hits; does nothing where there is none of that name.
    public func remove(named name: String) {
        state.withLock { state in
            state.rules.removeAll { $0.name == name }
            state.hits[name] = nil
        }
    }

    /// Removes all rules, and their hits.
    public func removeAll() { state.withLock { $0 = State(isOn: $0.isOn) } }

    /// Why some of them do nothing.
    var problems: [WaybillError] { all.flatMap(\.problems) }

    /// The rule that acts on a request, which is counted; nil for none.
    func hit(by request: ExchangeRequest, body: @autoclosure () -> Data?) -> NetworkRule? {
        let rules = state.withLock { $0.isOn ? $0.rules : [] }
        // Compared without the lock held: a pattern may take milliseconds.
        return rules.first { rule in
            rule.isEnabled && rule.matching.matches(request, body: body()) && rule.problems.isEmpty && takes(rule)
        }
    }

    /// Whether a rule acts once more, which is counted: of requests at the same time no more than it has times left.
    private func takes(_ rule: NetworkRule) -> Bool {
        state.withLock { state in
            let hits = state.hits[rule.name] ?? 0
            guard hits < rule.times ?? .max else { return false }
            state.hits[rule.name] = hits + 1
            return true
        }
    }
}

extension NetworkRules {
    /// A document of rules: `application/vnd.waybill.rules.v1+json`.
    private struct Document: Codable {
        var rules: [NetworkRule]
    }

    /// Adds the rules of a JSON document, as `Schemas/rules.v1.schema.json` describes it, before all others; the first
    /// of them has precedence.
    ///
    /// - Throws: `WaybillError` of code `.format` that says where it is wrong, as a JSON pointer (RFC 6901), and then
    ///   nothing is added.
    public func add(json: Data) throws(WaybillError) { add(try Self.rules(in: json)) }

    /// All rules in order of precedence, as a JSON document that ``add(json:)`` reads.
    public func json() -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Nothing in a rule is anything but a string, an integer, a list or an object.
        return (try? encoder.encode(Document(rules: all))) ?? Data(#"{"rules":[]}"#.utf8)
    }

    private static func rules(in json: Data) throws(WaybillError) -> [NetworkRule] {
        // As strict as for every other format, and it says where: JSONDecoder does not.
        do throws(JSONFailure) {
            try JSONReader.read(Array(json)) { reader throws(JSONFailure) in try reader.skipValue() }
        } catch {
            throw WaybillError(.format, "\(error.message), at byte \(error.offset)")
        }
        let rules: [NetworkRule]
        do {
            rules = try JSONDecoder().decode(Document.self, from: json).rules
        } catch let error as DecodingError {
            throw WaybillError(.format, error.placed)
        } catch {
            throw WaybillError(.format, "The rules cannot be read.", cause: "\(error)")
        }
        var names: Set<String> = []
        for (index, rule) in rules.enumerated() where !names.insert(rule.name).inserted {
            throw WaybillError(.format, "/rules/\(index)/name: a rule before it has that name")
        }
        return rules
    }
}

/// Does things later, one after the other: what the rules of one request wait by.
///
/// A clock that is one is waited by where a manager has it: that of `WaybillTesting`, which lets time pass by itself.
package protocol RuleSchedule: Sendable {
    /// Calls a closure after a delay, and never at once; what has the same delay goes in order.
    func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void)
}

/// Waits by the system's clock.
struct DispatchSchedule: RuleSchedule {
    private let queue = DispatchQueue(label: "waybill.rule")

    func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        guard delay > .zero else { return queue.async(execute: body) }
        queue.asyncAfter(deadline: .now() + min(delay.timeInterval, 1e9), execute: body)
    }
}

extension Duration {
    /// A time between this one and the longest, drawn anew each time; this one where there is no longest.
    func drawn(upTo longest: Duration?) -> Duration {
        guard let longest, longest > self else { return self }
        return .microseconds(Int64.random(in: microseconds...longest.microseconds))
    }

    /// Why no time can be drawn between these; nil where one can.
    static func problem(from shortest: Duration, to longest: Duration?) -> String? {
        guard let longest, longest < shortest else { return nil }
        return "It cannot take \(shortest) at least and \(longest) at most."
    }
}
