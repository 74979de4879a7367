#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An event that a test waited for did not happen.
public struct DidNotHappen: Error, CustomStringConvertible {
    public let description: String

    fileprivate init(_ what: String, within bound: Duration) {
        description = "This did not happen within \(bound.components.seconds) s: \(what)."
    }
}

/// Checks a condition repeatedly until it is true. Also repeats a step until it is done, e.g. for the pages of a list:
/// a loop without an end becomes an error.
///
/// - Parameters:
///   - what: A clause that describes the expected event, e.g. "the server hangs up".
///   - bound: How long it may take. Generous by default: a slow machine is no failure.
///   - isSo: One check, or one step.
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
        // Pauses of up to 5 ms after the first checks leave the processors to the code that is waited for.
        if looks < 50 { await Task.yield() } else { try await Task.sleep(for: .microseconds(min(5_000, looks * 20))) }
    }
}

/// The same on a thread, without pauses: mostly for steps, which may number hundreds of thousands. Disfavored: an
/// asynchronous test must use the other one and block no thread.
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
