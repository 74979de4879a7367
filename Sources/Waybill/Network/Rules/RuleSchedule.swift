import Dispatch
import WaybillCore

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
