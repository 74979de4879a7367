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
        /// The request is not sent, and fails with this code after a delay.
        case fail(URLError.Code, after: Duration = .zero)
        /// The request is sent, and the connection is lost (`URLError.networkConnectionLost`) after so many bytes of
        /// the response's body; a shorter one comes whole.
        case cut(afterByteCount: Int)
    }

    /// What it is called, in lists and in the records of what it did to: unique among the rules of a manager.
    public var name: String
    /// Whether it is looked at.
    public var isEnabled: Bool
    /// The requests that it is for.
    public var matching: RequestPattern
    /// What it does to them.
    public var action: Action

    /// Makes a rule; for every request unless a pattern is given.
    public init(_ name: String, matching: RequestPattern = RequestPattern(), _ action: Action, isEnabled: Bool = true) {
        self.name = name
        self.isEnabled = isEnabled
        self.matching = matching
        self.action = action
    }

    /// Why it does nothing, in sentences that show in the manager's health; empty where it can.
    public var problems: [WaybillError] {
        (matching.problems.map(\.message) + [actionProblem].compactMap { $0 }).map {
            WaybillError(.setting, "Rule “\(name)”: \($0)")
        }
    }

    private var actionProblem: String? {
        switch action {
        case .mock(let response): response.problem
        case .throttle(let throttle): throttle.problem
        case .fail: nil
        case .cut(let count): count < 0 ? "A connection cannot be cut after \(count) bytes." : nil
        }
    }
}
