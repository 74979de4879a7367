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

/// Links tasks of code that owns its delegate to the right transaction.
@Suite(.timeLimit(.minutes(5)))
struct CapturingDelegateTests {
    private let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])
    private let waiting = WaitingDelegate()
    private let capturing: CapturingDelegate
    private let session: URLSession

    init() {
        capturing = tx.capturing(waiting)
        session = URLSession(configuration: .ephemeral, delegate: capturing, delegateQueue: nil)
    }

    private func run(_ task: URLSessionTask) async {
        let ended = waiting.end(of: task)
        task.resume()
        await ended.opened()
    }

    @Test func aTaskCarriesTheFieldOfTheTransactionItIsMadeFor() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let login = tx.begin(Login.self)
        await run(capturing.task(for: URLRequest(url: server.url()), in: login) { session.dataTask(with: $0) })
        await login.withCurrent {
            await run(capturing.task(for: URLRequest(url: server.url())) { session.dataTask(with: $0) })
        }
        let told = server.requests.compactMap {
            $0.header("Waybill-Transaction").flatMap { TransactionHeader(parsing: $0) }
        }
        #expect(told.map(\.transaction) == [login.id, login.id])
        #expect(told.map(\.exchange) == (try tx.exchanges.map(\.id.sequence)))
        #expect(try tx.exchanges.map(\.status) == [200, 200])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when the one line replaces the delegate, or sends twice.
    @Test func aSessionMadeByTheOneLineIsRecordedAndTellsItsDelegate() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let (transactions, configuration, delegate) = (tx, URLSessionConfiguration.ephemeral, waiting)
        let session = URLSession.waybill(transactions, configuration: configuration, delegate: delegate)
        let transport = InMemoryTransport()
        tx.delivery = .transport(transport)
        await run(session.dataTask(with: URLRequest(url: server.url("/alone"))))
        await tx.flush()
        let facts = transport.transactionSets.flatMap { $0.sources.flatMap(\.facts) }
        #expect(facts.map(\.part) == [0, 0], "opened and closed")
        let login = tx.begin(Login.self)
        let capturing = try #require(session.delegate as? CapturingDelegate)
        await run(capturing.task(for: URLRequest(url: server.url("/login")), in: login) { session.dataTask(with: $0) })
        #expect(server.requests.map(\.path) == ["/alone", "/login"], "each once")
        #expect(server.requests.map { $0.header("Waybill-Transaction") != nil } == [false, true])
        #expect(try tx.transactions(Login.self).last?.exchanges.map(\.status) == [200])
        session.finishTasksAndInvalidate()
        self.session.finishTasksAndInvalidate()
    }

    @Test func aTaskMadeByItselfBelongsToTheTransactionWhoseFieldItCarries() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let (login, other) = (tx.begin(Login.self), tx.begin(Login.self))
        var request = URLRequest(url: server.url())
        _ = other.headers(for: server.url())
        for (name, value) in login.headers(for: server.url()) { request.setValue(value, forHTTPHeaderField: name) }
        await run(session.dataTask(with: request))
        #expect(try tx.transactions(Login.self).first { $0.summary.id == login.id }?.exchanges.map(\.status) == [200])
        #expect(try tx.exchanges.count == 1)
        session.finishTasksAndInvalidate()
    }

    @Test func aTaskMadeByItselfBelongsToNoTransaction() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let transport = InMemoryTransport()
        tx.delivery = .transport(transport)
        await run(session.dataTask(with: URLRequest(url: server.url())))
        await tx.flush()
        #expect(transport.transactionSets.flatMap { $0.sources.flatMap(\.facts) }.map(\.part) == [0, 0])
        session.finishTasksAndInvalidate()
    }

    @Test func aRedirectToAnotherHostLosesTheFieldAndOneToTheSameKeepsIt() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/same": .init(status: 302, headers: [("Location", "/here")])
            case "/other":
                .init(status: 302, headers: [("Location", "http://localhost:\(request.header("Port") ?? "")/here")])
            default: .text("hello")
            }
        }
        let login = tx.begin(Login.self)
        for path in ["/same", "/other"] {
            var request = URLRequest(url: server.url(path))
            request.setValue("\(server.port)", forHTTPHeaderField: "Port")
            await run(capturing.task(for: request, in: login) { session.dataTask(with: $0) })
        }
        #expect(server.requests.map { $0.header("Waybill-Transaction") != nil } == [true, true, true, false])
        #expect(try tx.exchanges.map { $0.transfer.redirects.map(\.status) } == [[302], [302]])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when a field that code adds to a task that the delegate didn't make follows a redirect to another host.
    @Test func aFieldThatTheCallerHasAddedStaysWithItsOriginToo() async throws {
        let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"]) { options in
            (options.server.traceContext, options.diagnostics) = (.propagate, { _ in })
        }
        let target = try LoopbackServer { _ in .text("hello") }
        let place = target.url("/there", host: "localhost")
        let server = try LoopbackServer { _ in .redirect(to: place) }
        let session = URLSession(configuration: .ephemeral, delegate: tx.capturing(waiting), delegateQueue: nil)
        var request = URLRequest(url: server.url())
        for (name, value) in tx.begin(Login.self).headers(for: server.url()) {
            request.setValue(value, forHTTPHeaderField: name)
        }
        await run(session.dataTask(with: request))
        let (here, there) = (try #require(server.requests.first), try #require(target.requests.first))
        for name in ["Waybill-Transaction", "traceparent"] {
            #expect(here.header(name) != nil)
            #expect(there.header(name) == nil, "\(name)")
        }
        session.finishTasksAndInvalidate()
    }

    @Test func whileRecordingIsOffNothingIsRecordedAndEverythingWorks() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let login = tx.begin(Login.self)
        tx.recording = .off
        await run(capturing.task(for: URLRequest(url: server.url()), in: login) { session.dataTask(with: $0) })
        #expect(server.requests.map { $0.header("Waybill-Transaction") } == [nil])
        tx.recording = .on
        #expect(try tx.exchanges.isEmpty)
        session.finishTasksAndInvalidate()
    }

    /// Two exchanges of each transaction at once, 32 at a time.
    @Test func eachOfManyExchangesAtOnceIsTiedToItsOwnTransaction() async throws {
        let server = try LoopbackServer { request in .text(request.path) }
        let logins = (0..<160).map { _ in tx.begin(Login.self) }
        await LinkingCourse(server: server).run(logins) { request, login in
            await run(capturing.task(for: request, in: login) { session.dataTask(with: $0) })
        }
        #expect(try LinkingCourse(server: server).mismatches(among: tx.transactions(Login.self).map(\.record)) == [])
        #expect(server.requests.count == 320)
        session.finishTasksAndInvalidate()
    }
}

/// Reports when a task has ended.
final class WaitingDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let gates = Locked<[ObjectIdentifier: Gate]>([:])

    /// A gate that opens when the task ends. Ask for it before you resume the task.
    func end(of task: URLSessionTask) -> Gate {
        gates.withLock { gates in
            let gate = Gate()
            gates[ObjectIdentifier(task)] = gate
            return gate
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        gates.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }?.open()
    }
}
