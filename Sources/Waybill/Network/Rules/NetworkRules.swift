import Dispatch
public import Foundation
public import WaybillCore

/// The rules of a manager, which mock, slow down or fail the requests of its sessions while they are on.
///
/// Rules are off at first. Only one rule acts on a request: the first in order of precedence that is enabled, matches,
/// and has times left. Rules apply only to ``CapturedSession``, whether or not recording is on, and never to the
/// manager's own requests. Waybill never loads rules: only your code adds them and turns them on.
///
/// ## Usage
///
/// ```swift
/// transactions.rules.add(NetworkRule("slow", .throttle(NetworkRule.Throttle(latency: .seconds(2)))))
/// transactions.rules.isEnabled = TransactionManager.isDebugBuild
/// ```
public final class NetworkRules: Sendable {
    private struct Entry {
        var rule: NetworkRule
        var hits = 0
    }

    private struct State {
        var isEnabled = false
        var entries: [Entry] = []

        func index(of name: String) -> Int? { entries.firstIndex { $0.rule.name == name } }
    }

    private let state = Locked(State())
    private let canBeOn: Bool
    let schedule: @Sendable () -> any RuleSchedule

    init(canBeOn: Bool = true, schedule: @escaping @Sendable () -> any RuleSchedule = { DispatchSchedule() }) {
        self.canBeOn = canBeOn
        self.schedule = schedule
    }

    /// Whether rules apply. Default: false. It stays false with `TransactionManager.disabled`.
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set { state.withLock { $0.isEnabled = newValue && canBeOn } }
    }

    /// All rules in order of precedence: the newest first, unless they were moved.
    public var all: [NetworkRule] { state.withLock { $0.entries.map(\.rule) } }

    /// The number of requests that each rule has acted on since it was added, by name.
    public var hits: [String: Int] {
        state.withLock { Dictionary(uniqueKeysWithValues: $0.entries.map { ($0.rule.name, $0.hits) }) }
    }

    /// Adds a rule before all others and removes any other rule of that name. Its hits count from 0.
    public func add(_ rule: NetworkRule) { add([rule]) }

    /// Adds rules before all others, the first with precedence, and removes other rules of their names.
    public func add(_ rules: [NetworkRule]) {
        var names: Set<String> = []
        let new = rules.filter { names.insert($0.name).inserted }.map { Entry(rule: $0) }
        state.withLock { $0.entries = new + $0.entries.filter { !names.contains($0.rule.name) } }
    }

    /// Enables or disables the rule of that name, if any, and keeps its precedence and its hits.
    public func setEnabled(_ isEnabled: Bool, named name: String) {
        state.withLock { state in
            if let index = state.index(of: name) { state.entries[index].rule.isEnabled = isEnabled }
        }
    }

    /// Replaces a rule with one of the same precedence. Its hits count from 0.
    ///
    /// - Returns: False, without a change, if no rule has that name, or if a third rule has the new one's name.
    @discardableResult
    public func replace(named name: String, with rule: NetworkRule) -> Bool {
        state.withLock { state in
            guard let index = state.index(of: name), rule.name == name || state.index(of: rule.name) == nil else {
                return false
            }
            state.entries[index] = Entry(rule: rule)
            return true
        }
    }

    /// Moves the rule of that name by a number of places: towards the last, or, if negative, towards the first.
    public func move(named name: String, by places: Int) {
        state.withLock { state in
            guard let index = state.index(of: name) else { return }
            let entry = state.entries.remove(at: index)
            let (place, isFar) = index.addingReportingOverflow(places)
            let last = state.entries.count
            state.entries.insert(entry, at: isFar ? (places < 0 ? 0 : last) : min(max(0, place), last))
        }
    }

    /// Removes the rule of that name, if any, and its hits.
    public func remove(named name: String) { state.withLock { $0.entries.removeAll { $0.rule.name == name } } }

    /// Removes all rules and their hits.
    public func removeAll() { state.withLock { $0 = State(isEnabled: $0.isEnabled) } }

    var problems: [WaybillError] { all.flatMap(\.problems) }

    func hit(by request: ExchangeRequest, body: @autoclosure () -> Data?) -> NetworkRule? {
        let rules = isEnabled ? all : []
        // Compare without the lock, since a pattern can take milliseconds.
        return rules.first { rule in
            rule.isEnabled && rule.matching.matches(request, body: body()) && rule.problems.isEmpty && takes(rule)
        }
    }

    private func takes(_ rule: NetworkRule) -> Bool {
        state.withLock { state in
            guard let index = state.index(of: rule.name), state.entries[index].hits < rule.times ?? .max else {
                return false
            }
            state.entries[index].hits += 1
            return true
        }
    }
}

extension NetworkRules {
    private struct Document: Decodable {
        let rules: [NetworkRule]

        init(from decoder: any Decoder) throws {
            rules = try decoder.container(keyedBy: MemberKey.self).decode([NetworkRule].self, forKey: "rules")
        }
    }

    /// Adds the rules of a JSON document (`Schemas/rules.v1.schema.json`) before all others. The first has precedence.
    ///
    /// - Throws: `WaybillError` of code `.format` if the document is not valid. No rules are added then. The message
    ///   begins with a JSON pointer (RFC 6901), or with a line and a column if the text is not JSON.
    public func add(json: Data) throws(WaybillError) { add(try Self.rules(in: json)) }

    /// Returns all rules in order of precedence, as a JSON document that ``add(json:)`` reads.
    public func json() -> Data { RuleJSON.written(["rules": all]) }

    private static func rules(in json: Data) throws(WaybillError) -> [NetworkRule] {
        let rules = try RuleJSON.read(Document.self, from: json).rules
        var names: Set<String> = []
        for (index, rule) in rules.enumerated() where !names.insert(rule.name).inserted {
            throw WaybillError(.format, "/rules/\(index)/name: a rule before it has that name")
        }
        return rules
    }
}

extension NetworkRule {
    package init(json: Data) throws(WaybillError) { self = try RuleJSON.read(NetworkRule.self, from: json) }

    package var json: Data { RuleJSON.written(self) }
}

private enum RuleJSON {
    static func read<Value: Decodable>(_: Value.Type, from json: Data) throws(WaybillError) -> Value {
        // `JSONDecoder` accepts more than JSON and does not say where a mistake is.
        do throws(JSONFailure) {
            try JSONReader.read(Array(json)) { reader throws(JSONFailure) in try check(&reader) }
        } catch {
            let before = json.prefix(error.offset)
            let line = before.count { $0 == UInt8(ascii: "\n") } + 1
            let column = before.reversed().prefix { $0 != UInt8(ascii: "\n") }.count { $0 & 0xC0 != 0x80 } + 1
            throw WaybillError(.format, "line \(line), column \(column): \(error.message)")
        }
        do {
            return try JSONDecoder().decode(Value.self, from: json)
        } catch let error as DecodingError {
            throw WaybillError(.format, error.placed)
        } catch {
            throw WaybillError(.format, "The rules cannot be read.", cause: "\(error)")
        }
    }

    /// Decoding ignores duplicate members, and does not report the place of a number that is too long.
    private static func check(_ reader: inout JSONReader) throws(JSONFailure) {
        switch reader.next {
        case UInt8(ascii: "{"):
            var names: Set<String> = []
            try reader.beginObject()
            while let name = try reader.nextKey()?.string {
                guard names.insert(name).inserted else {
                    throw JSONFailure(.invalid, at: reader.offset, "“\(name)” is here twice; keep one of them")
                }
                try check(&reader)
            }
        case UInt8(ascii: "["):
            try reader.beginArray()
            while try reader.nextElement() { try check(&reader) }
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let start = reader.offset
            try reader.skipValue()
            guard reader.offset - start <= "\(Limits.largestInteger)".utf8.count else {
                throw JSONFailure(.invalid, at: start, "an integer up to \(Limits.largestInteger) was expected")
            }
        default: try reader.skipValue()
        }
    }

    static func written(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Rules consist of strings, integers, Booleans, arrays and objects, so encoding does not fail.
        return (try? encoder.encode(value)) ?? Data("{}".utf8)
    }
}

/// A manager's clock that is also a schedule, such as the manual clock of `WaybillTesting`, replaces the system's.
package protocol RuleSchedule: Sendable {
    /// Calls a closure after a delay, never before this method returns. Closures with equal delays keep their order.
    func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void)
}

struct DispatchSchedule: RuleSchedule {
    private let queue = DispatchQueue(label: "waybill.rule")

    func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
        guard delay > .zero else { return queue.async(execute: body) }
        queue.asyncAfter(deadline: .now() + min(delay.timeInterval, 1e9), execute: body)
    }
}

extension Duration {
    func drawn(upTo longest: Duration?) -> Duration {
        guard let longest, longest > self else { return self }
        return .microseconds(Int64.random(in: microseconds...longest.microseconds))
    }

    static func problem(from shortest: Duration, to longest: Duration?) -> String? {
        guard let longest, longest < shortest else { return nil }
        return "It cannot take \(shortest) at least and \(longest) at most."
    }
}
