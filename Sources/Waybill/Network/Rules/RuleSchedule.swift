import Dispatch
import WaybillCore

/// Does things later, one after the other: what the rules of one request wait by.
protocol RuleSchedule: Sendable {
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
