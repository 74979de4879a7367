import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A task with a completion handler does nothing before it is resumed, does everything once, and can end at any time.
@Suite(.timeLimit(.minutes(5)))
struct CapturedTaskTests {
    let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])

    /// The arguments of the completion handler's calls.
    private final class Answers: Sendable {
        let all = Locked<[(data: Data?, code: URLError.Code?)]>([])
        let first = Gate()

        func take(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
            all.withLock { $0.append((data, (error as? URLError)?.code)) }
            first.open()
        }
    }

    @Test func nothingIsSentOrRecordedBeforeItIsResumed() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let answers = Answers()
        try await tx.perform(Login.self) { _ in
            let task = tx.session.dataTask(with: server.url(), completionHandler: answers.take)
            _ = try await tx.session.data(from: server.url("/other"))
            #expect(server.requests.map(\.path) == ["/other"])
            #expect(try tx.exchanges.count == 1)
            task.resume()
            await answers.first.opened()
        }
        #expect(server.requests.map(\.path) == ["/other", "/"])
        #expect(try tx.exchanges.count == 2)
    }

    @Test func itBelongsToTheTransactionOfWhereItWasMade() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let answers = Answers()
        let login = tx.begin(Login.self)
        let task = await login.withCurrent {
            tx.session.dataTask(with: server.url(), completionHandler: answers.take)
        }
        task.resume()
        await answers.first.opened()
        #expect(server.requests.first?.header("Waybill-Transaction")?.contains("\(login.id)") == true)
    }

    @Test func resumingAgainSendsNothingMore() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let answers = Answers()
        let task = tx.session.dataTask(with: server.url(), completionHandler: answers.take)
        task.resume()
        task.resume()
        await answers.first.opened()
        task.resume()
        task.cancel()
        _ = try await tx.session.data(from: server.url("/after"))
        #expect(server.requests.map(\.path) == ["/", "/after"])
        #expect(answers.all.withLock { $0.map(\.data) } == [Data("answer".utf8)])
    }

    @Test func cancelledBeforeItIsResumedItSaysSoAndSendsNothing() async throws {
        let server = try LoopbackServer { _ in .text("never asked") }
        let answers = Answers()
        let task = tx.session.downloadTask(with: server.url(), in: tx.begin(Login.self)) { _, response, error in
            answers.take(nil, response, error)
        }
        task.cancel()
        task.cancel()
        task.resume()
        await answers.first.opened()
        _ = try await tx.session.data(from: server.url("/after"))
        #expect(answers.all.withLock { $0.map(\.code) } == [.cancelled])
        #expect(server.requests.map(\.path) == ["/after"])
        #expect(try tx.exchanges.isEmpty)
    }

    /// On Linux the answer arrives on URLSession's own queue, where a call of URLSession would trap.
    @Test func theSessionAndURLSessionCanBeUsedInTheCompletionHandler() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let answers = Answers()
        let (tx, url) = (tx, server.url("/second"))
        let task = tx.session.dataTask(with: server.url("/first")) { _, _, _ in
            URLSession.shared.dataTask(with: url) { _, _, _ in
                tx.session.dataTask(with: url, completionHandler: answers.take).resume()
            }.resume()
        }
        task.resume()
        await answers.first.opened()
        #expect(server.requests.map(\.path) == ["/first", "/second", "/second"])
    }

    @Test func aDownloadedFileIsThereUntilTheHandlerReturns() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let answers = Answers()
        let file = Locked<URL?>(nil)
        let task = tx.session.downloadTask(with: server.url()) { url, response, error in
            file.withLock { $0 = url }
            answers.take(url.flatMap { try? Data(contentsOf: $0) }, response, error)
        }
        task.resume()
        await answers.first.opened()
        #expect(answers.all.withLock { $0.map(\.data) } == [Data("answer".utf8)])
        // A session calls its handlers one after the other.
        let next = Answers()
        tx.session.dataTask(with: server.url(), completionHandler: next.take).resume()
        await next.first.opened()
        let url = try #require(file.withLock { $0 })
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func progressIsCountedInBothDirections() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let answers = Answers()
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        let task = tx.session.uploadTask(with: request, from: Data(count: 300_000), completionHandler: answers.take)
        #expect(task.progress.sentByteCount == 0)
        task.resume()
        await answers.first.opened()
        #expect(task.progress.sentByteCount == 300_000)
        #expect(task.progress.expectedSentByteCount == 300_000)
        #expect(task.progress.receivedByteCount == 6)
        #expect(task.progress.expectedReceivedByteCount == 6)
    }

    @Test func aRequestWithoutAURLFails() async throws {
        let answers = Answers()
        var request = URLRequest(url: URL(filePath: "/"))
        request.url = nil
        tx.session.dataTask(with: request, completionHandler: answers.take).resume()
        await answers.first.opened()
        #expect(answers.all.withLock { $0.map(\.code) } == [.badURL])
    }
}
