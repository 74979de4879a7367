#if ServiceLifecycle
import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
@testable import WaybillServiceLifecycle
import WaybillTesting

/// A manager is a service of a group.
@Suite(.timeLimit(.minutes(5))) struct TransactionServiceTests {
    #if Collector
    /// A server in a process of its own, which a signal ends, and a collector in another one. Breaks when the last
    /// delivery is before the last request, or cancelled by the shutdown.
    @Test func whatTheLastRequestsRecordIsAtTheCollectorWhenASignalEndsTheServer() async throws {
        let (folder, store) = (try TemporaryDirectory(), try TemporaryDirectory())
        let collector = try ChildProcess(
            "waybill-cli", ["serve", folder.url.path(percentEncoded: false), "--port", "0", "--insecure"])
        let line = await onThread { collector.line() }
        let said = try #require(line?.wholeMatch(of: #/listening on (http://127\.0\.0\.1:(\d+))/#))
        let server = try ChildProcess(
            "ServiceProcess", [store.url.path(percentEncoded: false), String(said.1)])
        #expect(await onThread { server.line() } == "ready")
        server.terminate()
        let (output, status) = await server.finished()
        #expect(output == "over, 0 pending\n")
        #expect(status == 0)
        let answer = try await RawClient.send("GET", "/v1/transactions", to: try #require(Int(said.2)))
        let page = try JSONDecoder.waybill().decode(RecordPage<TransactionSummary>.self, from: answer.body)
        #expect(page.rows.map(\.useCase).sorted() == [1, 2])
        #expect(page.rows.allSatisfy { $0.outcome == .succeeded })
    }
    #endif

    /// Breaks when a collector that hangs keeps a server from ending, or when what it did not take is lost.
    @Test func aCollectorThatHangsHoldsUpTheShutdownForTheGivenTimeOnly() async throws {
        let transactions = TransactionManager.testing(delivery: .transport(HangingTransport()))
        transactions.begin(useCase: 1).finish(.succeeded)
        let service = Task { await transactions.serve(lastFlush: .milliseconds(50)) }
        service.cancel()
        await service.value
        #expect(try await transactions.ledger().pending == 2)
    }

    @Test func aServiceThatIsCancelledDeliversOnceMore() async throws {
        let transport = InMemoryTransport()
        let transactions = TransactionManager.testing(delivery: .transport(transport))
        transactions.begin(useCase: 1).finish(.succeeded)
        let service = Task { try await transactions.run() }
        service.cancel()
        try await service.value
        #expect(try await transactions.ledger().delivered == 2)
        #expect(transport.sets.count == 1)
    }
}

/// Never answers, and is told when nobody waits any more.
private struct HangingTransport: FlushTransport {
    func send(_ set: OutgoingSet) async throws -> Receipt {
        let (stream, continuation) = AsyncStream<Receipt>.makeStream()
        // Ends when the task is cancelled.
        for await receipt in stream { return receipt }
        continuation.finish()
        throw CancellationError()
    }
}

/// Runs what blocks on a thread of its own.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
#endif
