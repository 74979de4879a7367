import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// These tests fail by a hang or a trap: on Linux, URLSession's own async methods do both under these loads.
@Suite(.timeLimit(.minutes(5)))
struct CancellationTests {
    let http = HTTPSession(configuration: .ephemeral)

    @Test func aTaskThatIsCancelledBeforehandSendsNothing() async throws {
        let server = try LoopbackServer { _ in .text("never asked") }
        let begin = Gate()
        let request = URLRequest(url: server.url())
        let task = Task { [http] in
            await begin.opened()
            return try await http.data(for: request)
        }
        task.cancel()
        begin.open()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(server.requests.isEmpty)
    }

    @Test func aTaskThatIsCancelledWhileTheServerThinksEndsAtOnce() async throws {
        let arrived = Gate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .never
        }
        let request = URLRequest(url: server.url())
        let task = Task { [http] in try await http.data(for: request) }
        await arrived.opened()
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func cancellingAfterTheAnswerChangesNothing() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let answers = Locked<[Bool]>([])
        let exchange = exchange(of: URLRequest(url: server.url()))
        await withCheckedContinuation { continuation in
            exchange.start(
                into: MemorySink { answer in
                    answers.withLock { $0.append((try? answer.get()) != nil) }
                    continuation.resume()
                })
        }
        exchange.cancel()
        exchange.cancel()
        #expect(answers.withLock { $0 } == [true])
    }

    @Test func anExchangeCancelledBeforeItStartsSaysSoOnce() throws {
        let exchange = exchange(of: URLRequest(url: try refusedURL()))
        exchange.cancel()
        let codes = Locked<[URLError.Code?]>([])
        exchange.start(
            into: MemorySink { answer in
                if case .failure(let error) = answer { codes.withLock { $0.append(error.code) } }
            })
        #expect(codes.withLock { $0 } == [.cancelled])
    }

    @Test func cancellingAtAnyMomentNeitherHangsNorTraps() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let request = URLRequest(url: server.url())
        let counts = await cancelled(of: 800, request: request, afterAtMost: 1500)
        #expect(counts.answered + counts.cancelled == 800)
        #expect(counts.cancelled > 0)
    }

    @Test func cancellingAroundTheEndOfTheAnswerNeitherHangsNorTraps() async throws {
        let ends = Locked<[Gate]>([])
        let server = try LoopbackServer { _ in
            let gate = Gate()
            ends.withLock { $0.append(gate) }
            return .text("answer").after(gate)
        }
        // The thread that cancels also releases the answer, to make them coincide.
        let request = URLRequest(url: server.url())
        var results = 0
        for _ in 0..<200 {
            let before = server.requests.count
            let task = Task { [http] in try await http.data(for: request) }
            try await eventually("the request arrives") {
                server.requests.count > before && !ends.withLock { $0.isEmpty }
            }
            ends.withLock { $0.removeFirst() }.open()
            for _ in 0..<Int.random(in: 0..<40) { await Task.yield() }
            task.cancel()
            _ = await task.result
            results += 1
        }
        #expect(results == 200)
    }

    @Test func cancellingDuringARedirectNeitherHangsNorTraps() async throws {
        let target = try LoopbackServer { _ in .text("there") }
        let url = target.url(host: "localhost")
        let server = try LoopbackServer { _ in .redirect(to: url) }
        let request = URLRequest(url: server.url())
        let counts = await cancelled(of: 800, request: request, afterAtMost: 2000)
        #expect(counts.answered + counts.cancelled == 800)
        #expect(counts.cancelled > 0)
    }

    private func exchange(of request: URLRequest) -> HTTPCall {
        let outgoing = OutgoingRequest(request: request)
        return HTTPCall(of: outgoing, by: TaskTransport(outgoing, in: http))
    }

    /// Sends requests, eight at a time, and cancels each after a random time in microseconds.
    private func cancelled(
        of count: Int, request: URLRequest, afterAtMost limit: Int
    ) async -> (answered: Int, cancelled: Int) {
        await withTaskGroup(of: (answered: Int, cancelled: Int).self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var counts = (answered: 0, cancelled: 0)
                    for _ in 0..<(count / 8) {
                        let task = Task {
                            try await http.data(
                                for: request, redirects: .follow(droppingFieldsForOtherOrigins: ["X-A"]),
                                deadline: .seconds(30))
                        }
                        let canceller = DispatchWorkItem { task.cancel() }
                        DispatchQueue.global().asyncAfter(
                            deadline: .now() + .microseconds(.random(in: 0...limit)), execute: canceller)
                        switch await task.result {
                        case .success: counts.answered += 1
                        case .failure(let error as URLError) where error.code == .cancelled: counts.cancelled += 1
                        case .failure(let error): Issue.record(error)
                        }
                    }
                    return counts
                }
            }
            return await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.answered, $0.1 + $1.cancelled) }
        }
    }
}
