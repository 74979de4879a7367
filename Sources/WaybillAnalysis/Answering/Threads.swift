import Dispatch
import WaybillCore

/// Does several things at once, each on a thread of its own, and returns when all are done.
///
/// What they use must be made for it: each has a connection of its own.
///
/// - Parameter body: Given the number of the thing, from 0.
/// - Throws: What the first of those has thrown that have.
func onThreads<Result>(_ count: Int, _ body: (Int) throws(WaybillError) -> Result) throws(WaybillError) -> [Result] {
    guard count > 1 else { return count == 1 ? [try body(0)] : [] }
    var results = [Swift.Result<Result, WaybillError>?](repeating: nil, count: count)
    results.withUnsafeMutableBufferPointer { results in
        // Right because each number is given to one thread, which writes to a place of its own.
        nonisolated(unsafe) let (body, results) = (body, results)
        DispatchQueue.concurrentPerform(iterations: count) { index in
            results[index] = Swift.Result { () throws(WaybillError) in try body(index) }
        }
    }
    var all: [Result] = []
    for case let result? in results { all.append(try result.get()) }
    return all
}

extension Array {
    /// What becomes of each, by as many threads as there are processors; `body` may change it.
    mutating func onThreads<Result>(
        _ body: (inout Element) throws(WaybillError) -> Result
    ) throws(WaybillError) -> [Result] {
        try withUnsafeMutableBufferPointer { (elements) throws(WaybillError) in
            // Right because each number is given to one thread.
            nonisolated(unsafe) let elements = elements
            return try WaybillAnalysis.onThreads(elements.count) { (number) throws(WaybillError) in
                try body(&elements[number])
            }
        }
    }
}
