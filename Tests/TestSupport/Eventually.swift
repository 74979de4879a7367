#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a test waited for did not happen.
public struct DidNotHappen: Error, CustomStringConvertible {
    public let description: String

    fileprivate init(_ what: String, within bound: Duration) {
        description = "This did not happen within \(bound.components.seconds) s: \(what)."
    }
}

/// Looks again and again until something is so. Also for what a test repeats until it is done, e.g. the pages of a
/// list: a mistake that goes on without end becomes an error.
///
/// - Parameters:
///   - what: A clause that says what is to happen, e.g. "the server hangs up".
///   - bound: How long it may take; generous by default, because a busy machine is no failure.
///   - isSo: One look, or one step.
/// - Throws: ``DidNotHappen`` after the bound; `CancellationError` where the test was canceled, as its time limit does.
public func eventually(
    _ what: @autoclosure () -> String, within bound: Duration = .seconds(60),
    isolation: isolated (any Actor)? = #isolation,
    _ isSo: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + bound
    while try await !isSo() {
        try Task.checkCancellation()
        guard ContinuousClock.now < end else { throw DidNotHappen(what(), within: bound) }
        await Task.yield()
    }
}

/// The same on a thread, for what is not asynchronous. Disfavored, so that an asynchronous test takes the other one and
/// blocks no thread.
@_disfavoredOverload
public func eventually(
    _ what: @autoclosure () -> String, within bound: Duration = .seconds(60), _ isSo: () throws -> Bool
) throws {
    let end = ContinuousClock.now + bound
    while try !isSo() {
        guard ContinuousClock.now < end else { throw DidNotHappen(what(), within: bound) }
        sched_yield()
    }
}
