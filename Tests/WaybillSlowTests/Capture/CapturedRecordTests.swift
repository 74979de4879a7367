#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import Testing
import Waybill
import WaybillCore
import WaybillTesting
@testable import WaybillTests

/// The records that each way of capture makes of the same exchanges.
@Suite(.timeLimit(.minutes(10)))
struct CapturedRecordTests {
    private let tx: TransactionManager
    private let transport = InMemoryTransport()

    init() { tx = TransactionManager.testing(delivery: .transport(transport)) }

    /// The records of tasks with a completion handler, which report nothing to a delegate on Linux.
    private static let passivelyAlone: [String: [String]] = [
        "GET with a handler": ["completed 200 ?/5"],
        "GET, asynchronous": ["completed 200 ?/5"],
        "HEAD": ["completed 200 ?/0"],
        "POST of a body": ["completed 200 6/5"],
        "POST of a stream": ["completed 200 ?/5"],
        "upload of data": ["completed 200 5000000/5"],
        "upload of a file with a handler": ["completed 200 11/5"],
        "download with a handler": ["completed 200 ?/?"],
        "redirect": ["completed 200 ?/5"],
        "redirect of a POST by 307": ["completed 200 6/5"],
        "204": ["completed 204 ?/0"],
        "503": ["completed 503 ?/4"],
        "gzip": ["completed 200 ?/23"],
        "chunked": ["completed 200 ?/5000000"],
        "cookies": ["completed 200 ?/0", "completed 200 ?/0"],
        "an answer out of the cache": ["completed 200 ?/4", "completed 200 ?/4"],
        "a configuration's own header fields": ["completed 200 ?/5"],
        "cut short": ["failed - ?/?"],
        "refused": ["failed - ?/?"],
        "cancelled with a handler": ["cancelled - ?/?"],
    ]

    private static let both: [String: (delegate: [String], passive: [String])] = [
        "GET with a delegate": (["completed 200 0/5000000 timed"], ["completed 200 ?/? timed"]),
        "POST with a delegate": (["completed 200 5000000/5 timed"], ["completed 200 5000000/? timed"]),
        "upload of a file with a delegate": (["completed 200 5000000/5 timed"], ["completed 200 5000000/? timed"]),
        "upload of a stream that the delegate gives": (["completed 200 9/5 timed"], ["completed 200 ?/? timed"]),
        "download with a delegate": (["completed 200 0/5000000"], ["completed 200 ?/5000000"]),
        "redirect with a delegate": (["completed 200 0/5 timed by [301]"], ["completed 200 ?/? timed"]),
        "a redirect that the delegate refuses": (["completed 302 0/5 timed"], ["completed 302 ?/5 timed"]),
        "a challenge that the delegate meets": (["completed 200 0/7 timed"], ["completed 401 ?/? timed"]),
        "resumed twice": (["completed 200 0/5 timed"], ["completed 200 ?/? timed"]),
        "hung up": (["failed - ?/?"], ["failed - ?/?"]),
        "timed out": (["failed - ?/?"], ["failed - ?/?"]),
        "cancelled with a delegate": (["cancelled - ?/?"], ["cancelled - ?/?"]),
    ]

    @Test(arguments: Behavior.all) func aCapturingDelegateSees(behavior: Behavior) async throws {
        _ = try await behavior.seen { URLSession(configuration: $0, delegate: tx.capturing($1), delegateQueue: nil) }
        #expect(await records() == Self.both[behavior.name]?.delegate ?? [])
    }

    @Test(arguments: Behavior.all) func passiveCaptureSees(behavior: Behavior) async throws {
        tx.passiveCapture.start()
        _ = try await behavior.seen {
            let session = URLSession(configuration: $0, delegate: $1, delegateQueue: nil)
            tx.passiveCapture.include(session)
            return session
        }
        #expect(await records() == Self.both[behavior.name]?.passive ?? Self.passivelyAlone[behavior.name])
    }

    /// Returns the state, the status, the bytes of the request's and of the response's body, whether the first byte was
    /// timed, and the redirects.
    private func records() async -> [String] {
        await tx.flush()
        let facts = transport.transactionSets.flatMap { $0.sources.flatMap(\.facts) }
        return facts.compactMap { fact in
            guard case .exchangeClosed(let closed) = fact.content else { return nil }
            var line =
                "\(closed.state) \(closed.status.map(String.init) ?? "-") \(closed.sentByteCount.map(String.init) ?? "?")/"
            line += closed.receivedByteCount.map(String.init) ?? "?"
            if closed.firstByteAtMicroseconds != nil { line += " timed" }
            if !closed.transfer.redirects.isEmpty { line += " by \(closed.transfer.redirects.map(\.status))" }
            return line
        }
    }
}
#endif
