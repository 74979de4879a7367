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

/// Looks again and again until something is so. Also repeats a step until it is done, e.g. for the pages of a list: a
/// mistake that goes on without end becomes an error.
///
/// - Parameters:
///   - what: A clause that says what is to happen, e.g. "the server hangs up".
///   - bound: How long it may take. Generous by default: a slow machine is no failure.
///   - isSo: One look, or one step.
/// - Throws: ``DidNotHappen`` after the bound; `CancellationError` if the test is cancelled, e.g. by its time limit.
public func eventually(
    _ what: @autoclosure () -> String, within bound: Duration = .seconds(180),
    isolation: isolated (any Actor)? = #isolation,
    _ isSo: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + bound
    var looks = 0
    while try await !isSo() {
        try Task.checkCancellation()
        guard ContinuousClock.now < end else { throw DidNotHappen(what(), within: bound) }
        looks += 1
        // Pauses of up to 5 ms after the first looks leave the processors to the code that is waited for.
        if looks < 50 { await Task.yield() } else { try await Task.sleep(for: .microseconds(min(5_000, looks * 20))) }
    }
}

/// The same on a thread, without pauses: mostly for steps, of which there may be hundreds of thousands. Disfavored, so
/// that an asynchronous test takes the other one and blocks no thread.
@_disfavoredOverload
public func eventually(
    _ what: @autoclosure () -> String, within bound: Duration = .seconds(180), _ isSo: () throws -> Bool
) throws {
    let end = ContinuousClock.now + bound
    while try !isSo() {
        guard ContinuousClock.now < end else { throw DidNotHappen(what(), within: bound) }
        sched_yield()
    }
}
