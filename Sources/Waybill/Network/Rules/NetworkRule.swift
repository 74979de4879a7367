public import Foundation
public import WaybillCore

/// What is done instead of, or on the way of, the requests it matches: answered by a mock, slowed down, failed, or cut
/// off.
///
/// ## Usage
///
/// ```swift
/// transactions.rules.add(
///     NetworkRule("login is down", matching: RequestPattern(method: "POST", path: "/login"), .mock(MockedResponse(status: 503))))
/// transactions.rules.isOn = true
/// ```
///
/// In JSON, `Schemas/rules.v1.schema.json` describes it.
public struct NetworkRule: Sendable, Hashable {
    /// What a rule does; exactly one thing.
    public enum Action: Sendable, Hashable {
        /// The request is not sent, and this is its answer.
        case mock(MockedResponse)
        /// The request is sent, and is slow.
        case throttle(Throttle)
        /// The request is not sent, and fails with this code after a delay; where `upTo` is not nil, after one that is
        /// drawn between both for each request.
        case fail(URLError.Code, after: Duration = .zero, upTo: Duration? = nil)
        /// The request is sent, and the connection is lost (`URLError.networkConnectionLost`) after so many bytes of
        /// the response's body; a shorter one comes whole.
        case cut(afterByteCount: Int64)
    }

    /// What it is called, in lists and in the records of what it did to: unique among the rules of a manager.
    public var name: String
    /// Whether it is looked at.
    public var isEnabled: Bool
    /// How many requests it acts on, and is passed over after that; nil: all. Counted from when it was added.
    public var times: Int?
    /// The requests that it is for.
    public var matching: RequestPattern
    /// What it does to them.
    public var action: Action

    /// Makes a rule; for every request unless a pattern or a number of times is given.
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

    /// Why it does nothing, in sentences that show in the manager's health; empty where it can.
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
