#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import Testing
import Waybill
import WaybillTesting

/// A captured session behaves as it does without capture: the same answers, the same delegate calls, and the same
/// requests at the server.
@Suite(.timeLimit(.minutes(5)))
struct CapturedBehaviorTests {
    private let tx = TransactionManager.testing()

    private static let bare: Behavior.MakeSession = { URLSession(configuration: $0, delegate: $1, delegateQueue: nil) }

    @Test(arguments: Behavior.all) func aSessionBehindACapturingDelegateDoesWhatItDoesAlone(behavior: Behavior)
        async throws
    {
        let alone = try await behavior.seen(Self.bare)
        let captured = try await behavior.seen {
            URLSession(configuration: $0, delegate: tx.capturing($1), delegateQueue: nil)
        }
        #expect(captured == alone)
    }

    @Test(arguments: Behavior.all) func aPassivelyCapturedSessionDoesWhatItDoesAlone(behavior: Behavior) async throws {
        tx.passiveCapture.start()
        let alone = try await behavior.seen(Self.bare)
        let captured = try await behavior.seen {
            let session = Self.bare($0, $1)
            tx.passiveCapture.include(session)
            return session
        }
        #expect(captured == alone)
        #expect(tx.health.problems.isEmpty)
    }
}
#endif
