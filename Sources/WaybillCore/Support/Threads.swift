import Dispatch
import Foundation

/// Does several things at once, each on a thread of its own, and returns when all are done.
///
/// What they use must be made for it: each has a connection of its own.
///
/// - Parameter body: Given the number of the thing, from 0.
/// - Throws: What the first of those has thrown that have.
package func onThreads<Result, Failure: Error>(
    _ count: Int, _ body: (Int) throws(Failure) -> Result
) throws(Failure) -> [Result] {
    guard count > 1 else { return count == 1 ? [try body(0)] : [] }
    var results = [Swift.Result<Result, Failure>?](repeating: nil, count: count)
    results.withUnsafeMutableBufferPointer { results in
        // Right because each number is given to one thread, which writes to a place of its own.
        nonisolated(unsafe) let (body, results) = (body, results)
        DispatchQueue.concurrentPerform(iterations: count) { index in
            results[index] = Swift.Result { () throws(Failure) in try body(index) }
        }
    }
    var all: [Result] = []
    for case let result? in results { all.append(try result.get()) }
    return all
}

extension Array {
    /// What becomes of each, by as many threads as there are processors; `body` may change it.
    package mutating func onThreads<Result, Failure: Error>(
        _ body: (inout Element) throws(Failure) -> Result
    ) throws(Failure) -> [Result] {
        try withUnsafeMutableBufferPointer { (elements) throws(Failure) in
            // Right because each number is given to one thread.
            nonisolated(unsafe) let elements = elements
            return try WaybillCore.onThreads(elements.count) { (number) throws(Failure) in
                try body(&elements[number])
            }
        }
    }
}

extension Array where Element: Sendable {
    /// The same as `map`, by all processors: for what takes long for each of many.
    package func mapOnThreads<Result>(_ transform: (Element) -> Result) -> [Result] {
        // Several for each processor, since one may take longer than another.
        let pieceCount = Swift.min(count, 4 * ProcessInfo.processInfo.activeProcessorCount)
        return WaybillCore.onThreads(pieceCount) { piece in
            self[count * piece / pieceCount..<count * (piece + 1) / pieceCount].map(transform)
        }.flatMap(\.self)
    }
}
