import Dispatch
import WaybillCore

/// Does two things at once, each on a thread of its own, and returns when both are done.
///
/// What both use must be made for it: each has a connection of its own.
///
/// - Throws: What the first has thrown, else what the second has.
func onTwoThreads<First, Second>(
    _ first: () throws(WaybillError) -> First, _ second: () throws(WaybillError) -> Second
) throws(WaybillError) -> (First, Second) {
    var (one, other): (Result<First, WaybillError>?, Result<Second, WaybillError>?) = (nil, nil)
    withUnsafeMutablePointer(to: &one) { one in
        withUnsafeMutablePointer(to: &other) { other in
            // Right because each thread uses a closure of its own, and writes to a place of its own.
            nonisolated(unsafe) let (first, second, one, other) = (first, second, one, other)
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 {
                    one.pointee = Result { () throws(WaybillError) in try first() }
                } else {
                    other.pointee = Result { () throws(WaybillError) in try second() }
                }
            }
        }
    }
    // Cannot be: concurrentPerform returns when it has called both, and both write.
    guard let one, let other else { preconditionFailure("Both were done.") }
    return (try one.get(), try other.get())
}
