public import Foundation
public import WaybillCore

/// A rule that answers the requests it matches with a mock, slows them down, fails them, or cuts off their responses.
///
/// ## Usage
///
/// ```swift
/// transactions.rules.add(
///     NetworkRule("login is down", matching: RequestPattern(method: "POST", path: "/login"), .mock(NetworkRule.Response(status: 503))))
/// transactions.rules.isEnabled = true
/// ```
///
/// `Schemas/rules.v1.schema.json` describes its JSON.
public struct NetworkRule: Sendable, Equatable {
    /// The one thing that a rule does.
    public enum Action: Sendable, Equatable {
        /// Answers the request without sending it.
        case mock(NetworkRule.Response)
        /// Sends the request slowly.
        case throttle(NetworkRule.Throttle)
        /// Fails the request with this code, without sending it, after a delay, or after a random one with `upTo`.
        case fail(URLError.Code, after: Duration = .zero, upTo: Duration? = nil)
        /// Loses the connection (`URLError.networkConnectionLost`) after this number of bytes of the response's body.
        case cut(afterByteCount: Int64)
    }

    /// The name in lists and in the records of exchanges, unique among the rules of a manager.
    public var name: String
    /// Whether the rule can act.
    public var isEnabled: Bool
    /// The number of requests that the rule acts on after it is added; `nil` for all.
    public var times: Int?
    /// The requests that the rule matches.
    public var matching: RequestPattern
    /// The effect on those requests.
    public var action: Action

    /// Creates a rule. By default, it acts on every request.
    public init(
        _ name: String, matching: RequestPattern = RequestPattern(), _ action: Action, times: Int? = nil,
        isEnabled: Bool = true
    ) {
        self.name = name
        self.isEnabled = isEnabled
        self.times = times
        self.matching = matching
        self.action = action
    }

    /// The reasons why the rule can't act, which also show in the manager's health; empty if it can.
    public var problems: [WaybillError] {
        (matching.problems.map(\.message) + [timesProblem, actionProblem].compactMap { $0 }).map {
            WaybillError(.setting, "Rule “\(name)”: \($0)")
        }
    }

    private var timesProblem: String? {
        guard let times, times < 1 else { return nil }
        return "It cannot act \(times) times; say at least 1, or turn it off."
    }

    private var actionProblem: String? {
        switch action {
        case .mock(let response): response.problem
        case .throttle(let throttle): throttle.problem
        case .fail(_, let delay, let longest): Duration.problem(from: delay, to: longest)
        case .cut(let count): count < 0 ? "A connection cannot be cut after \(count) bytes." : nil
        }
    }
}

extension NetworkRule: Codable {
    /// Decodes a rule as `Schemas/rules.v1.schema.json` describes it. Throws `DecodingError`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members("name", "disabled", "match", "times", "mock", "throttle", "fail", "cut")
        let actions = [
            try members.value(NetworkRule.Response.self, "mock").map(Action.mock),
            try members.value(NetworkRule.Throttle.self, "throttle").map(Action.throttle),
            try members.nested("fail").map(Self.failure),
            try members.nested("cut").map { cut in
                .cut(afterByteCount: try cut.members("after_bytes").integer("after_bytes") ?? 0)
            },
        ].compactMap { $0 }
        self.init(
            try members.decode(String.self, forKey: "name"),
            matching: try members.value(RequestPattern.self, "match") ?? RequestPattern(),
            try Self.only(actions, decoder),
            times: try members.integer("times", in: 1...Int(clamping: Limits.largestInteger)),
            isEnabled: try members.value(Bool.self, "disabled") != true)
        guard (1...Limits.labelLength).contains(name.unicodeScalars.count) else {
            throw members.failure("name", "a name of 1 to \(Limits.labelLength) characters was expected")
        }
    }

    private static func only(_ actions: [Action], _ decoder: any Decoder) throws -> Action {
        guard actions.count == 1, let action = actions.first else {
            throw decoder.failure("one of mock, throttle, fail and cut was expected")
        }
        return action
    }

    private static func failure(from decoder: any Decoder) throws -> Action {
        let members = try decoder.members("code", "delay_us", "longest_delay_us")
        // Apple platforms accept every number as a code; others only known ones.
        let code: URLError.Code? =
            if let name = try? members.decode(String.self, forKey: "code") {
                URLError.Code(name: name)
            } else {
                URLError.Code(
                    rawValue: try members.integer("code", in: -9999 ... -1) ?? members.decode(Int.self, forKey: "code"))
            }
        guard let code else { throw members.failure("code", "no code of URLError is that") }
        let (delay, longest) = try members.delay("delay_us", "longest_delay_us")
        return .fail(code, after: delay, upTo: longest)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(name, forKey: "name")
        if !isEnabled { try members.encode(true, forKey: "disabled") }
        if matching != RequestPattern() { try members.encode(matching, forKey: "match") }
        try members.encodeIfPresent(times, forKey: "times")
        switch action {
        case .mock(let response): try members.encode(response, forKey: "mock")
        case .throttle(let throttle): try members.encode(throttle, forKey: "throttle")
        case .fail(let code, let delay, let longest):
            var failure = members.nestedContainer(keyedBy: MemberKey.self, forKey: "fail")
            if let name = code.name {
                try failure.encode(name, forKey: "code")
            } else {
                try failure.encode(code.rawValue, forKey: "code")
            }
            if delay > .zero { try failure.encode(delay.microseconds, forKey: "delay_us") }
            try failure.encodeIfPresent(longest?.microseconds, forKey: "longest_delay_us")
        case .cut(let count):
            var cut = members.nestedContainer(keyedBy: MemberKey.self, forKey: "cut")
            if count > 0 { try cut.encode(count, forKey: "after_bytes") }
        }
    }
}
