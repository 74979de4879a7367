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
    var results: (first: Result<First, WaybillError>?, second: Result<Second, WaybillError>?)
    withUnsafeMutablePointer(to: &results) { results in
        // Right because each thread uses a closure of its own, and writes at a place of its own.
        nonisolated(unsafe) let (first, second, results) = (first, second, results)
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            if index == 0 {
                results.pointee.first = Result { () throws(WaybillError) in try first() }
            } else {
                results.pointee.second = Result { () throws(WaybillError) in try second() }
            }
        }
    }
    guard let first = results.first, let second = results.second else { preconditionFailure("Both were done.") }
    return (try first.get(), try second.get())
}
