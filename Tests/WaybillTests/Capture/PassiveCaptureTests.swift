#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import TestSupport
import Testing
@testable import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// While passive capture runs, requests of unchanged code are recorded, and linked if their transaction is known.
@Suite(.timeLimit(.minutes(5)))
struct PassiveCaptureTests {
    private let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])

    private func session(cached: Bool = true, fields: [String: String]? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        if !cached { configuration.urlCache = nil }
        configuration.httpAdditionalHeaders = fields
        let session = URLSession(configuration: configuration, delegate: Silent(), delegateQueue: nil)
        tx.passiveCapture.include(session)
        return session
    }

    @Test func nothingIsRecordedBeforeItIsStartedNorAfterItIsStopped() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let (session, login) = (session(), tx.begin(Login.self))
        func send() async throws {
            let (data, _) = try await login.withCurrent { try await session.data(for: URLRequest(url: server.url())) }
            #expect(data == Data("hello".utf8))
        }
        try await send()
        #expect(!tx.passiveCapture.isRunning)
        #expect(try tx.exchanges.isEmpty)
        tx.passiveCapture.start()
        try await send()
        #expect(tx.passiveCapture.isRunning)
        #expect(try tx.exchanges.count == 1)
        tx.passiveCapture.stop()
        try await send()
        #expect(try tx.exchanges.count == 1)
        tx.passiveCapture.start()
        try await send()
        #expect(try tx.exchanges.count == 2)
        #expect(server.requests.map { $0.header("Waybill-Transaction") != nil } == [false, true, false, true])
        session.finishTasksAndInvalidate()
    }

    @Test func aManagerThatIsGoneCapturesNothing() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let session = URLSession(configuration: .ephemeral)
        weak var capture: PassiveCapture?
        do {
            let tx = TransactionManager.testing()
            tx.passiveCapture.include(session)
            tx.passiveCapture.start()
            capture = tx.passiveCapture
        }
        #expect(capture == nil)
        _ = try await session.data(for: URLRequest(url: server.url()))
        #expect(server.requests.count == 1)
        session.finishTasksAndInvalidate()
    }

    @Test func aDisabledManagerCapturesNothing() {
        TransactionManager.disabled.passiveCapture.start()
        #expect(!TransactionManager.disabled.passiveCapture.isRunning)
    }

    @Test(arguments: [true, false]) func eachOfManyRequestsAtOnceIsTiedToTheTransactionItIsResumedIn(isCached: Bool)
        async throws
    {
        let server = try LoopbackServer { request in .text(request.path) }
        let session = session(cached: isCached)
        tx.passiveCapture.start()
        let logins = (0..<160).map { _ in tx.begin(Login.self) }
        await LinkingCourse(server: server).run(logins) { request, login in
            _ = try? await login.withCurrent { try await session.data(for: request) }
        }
        #expect(try LinkingCourse(server: server).mismatches(among: tx.transactions(Login.self).map(\.record)) == [])
        #expect(server.requests.count == 320)
        session.finishTasksAndInvalidate()
    }

    @Test func theFieldThatARequestCarriesCountsMoreThanTheCurrentTransaction() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let session = session()
        tx.passiveCapture.start()
        let (login, current) = (tx.begin(Login.self), tx.begin(Login.self))
        var request = URLRequest(url: server.url())
        for (name, value) in login.headers(for: server.url()) { request.setValue(value, forHTTPHeaderField: name) }
        let sent = request
        _ = try await current.withCurrent { try await session.data(for: sent) }
        #expect(try tx.transactions(Login.self).first { $0.summary.id == login.id }?.exchanges.count == 1)
        #expect(try tx.exchanges.count == 1)
        session.finishTasksAndInvalidate()
    }

    @Test func whatAnotherWayInHasRecordedIsNotRecordedAgain() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let waiting = WaitingDelegate()
        let capturing = tx.capturing(waiting)
        let session = URLSession(configuration: .ephemeral, delegate: capturing, delegateQueue: nil)
        tx.passiveCapture.include(session)
        tx.passiveCapture.start()
        let login = tx.begin(Login.self)
        let task = capturing.task(for: URLRequest(url: server.url()), in: login) { session.dataTask(with: $0) }
        let ended = waiting.end(of: task)
        task.resume()
        await ended.opened()
        #expect(try tx.exchanges.count == 1)
        session.finishTasksAndInvalidate()
    }

    /// A session without a delegate follows a redirect at once, with all fields of the request.
    @Test func aSessionWithoutADelegateGetsNoFieldAndIsTiedAllTheSame() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let session = URLSession(configuration: .ephemeral)
        tx.passiveCapture.include(session)
        tx.passiveCapture.start()
        _ = try await tx.begin(Login.self).withCurrent { try await session.data(for: URLRequest(url: server.url())) }
        #expect(server.requests.map { $0.header("Waybill-Transaction") } == [nil])
        #expect(try tx.exchanges.map(\.status) == [200])
        session.finishTasksAndInvalidate()
    }

    /// Breaks when a later request of other code carries the field.
    @Test func theFieldIsOnlyOnItsOwnRequest() async throws {
        let server = try LoopbackServer {
            $0.path == "/there" ? .init(status: 302, headers: [("Location", "/here")]) : .text("hello")
        }
        let session = session(fields: ["Own": "yes"])
        tx.passiveCapture.start()
        _ = try await tx.begin(Login.self).withCurrent {
            try await session.data(for: URLRequest(url: server.url("/there")))
        }
        _ = try await session.data(for: URLRequest(url: server.url("/after")))
        #expect(server.requests.map { $0.header("Waybill-Transaction") != nil } == [true, false, false])
        #expect(server.requests.map { $0.header("Own") } == ["yes", "yes", "yes"])
        #expect(session.configuration.httpAdditionalHeaders as? [String: String] == ["Own": "yes"])
        session.finishTasksAndInvalidate()
    }

    @Test func aConfigurationsOwnValueIsLeftAlone() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let session = session(fields: ["waybill-transaction": "mine"])
        tx.passiveCapture.start()
        _ = try await tx.begin(Login.self).withCurrent { try await session.data(for: URLRequest(url: server.url())) }
        #expect(server.requests.map { $0.header("Waybill-Transaction") } == ["mine"])
        session.finishTasksAndInvalidate()
    }

    @Test func theSameRequestUnderWayForTwoTransactionsIsTiedToNeither() throws {
        let (first, second) = (tx.begin(Login.self).part, tx.begin(Login.self).part)
        let request = URLRequest(url: try refusedURL("/\(UUID())"))
        Callers.note(first, of: request)
        Callers.note(first, of: request)
        #expect(Callers.take(request) === first && Callers.take(request) === first)
        Callers.note(first, of: request)
        Callers.note(second, of: request)
        #expect(Callers.take(request) == nil && Callers.take(request) == nil)
        Callers.note(nil, of: request)
        Callers.note(second, of: request)
        #expect(Callers.take(request) == nil && Callers.take(request) == nil)
        Callers.note(second, of: request)
        #expect(Callers.take(request) === second)
        #expect(Callers.take(request) == nil)
    }

    /// One line at start-up, then code that knows nothing of Waybill. It runs in a separate process, since each process
    /// has only one shared session.
    @Test func theSharedSessionIsCapturedFromTheStartOn() async throws {
        let (server, folder) = (try LoopbackServer { _ in .text("hello") }, try TemporaryDirectory())
        let child = try ChildProcess(
            "TestProcess", ["exchange-passive", folder.url.path],
            environment: ["WAYBILL_TEST_URL": server.url().absoluteString, "WAYBILL_TEST_PATHS": "a b upload"])
        let (output, status) = await child.finished()
        let recorded = try JSONDecoder().decode([TransactionRecord.Exchange].self, from: Data(output.utf8))
        #expect(status == 0)
        #expect(recorded.map(\.status) == [200, 200, 200])
        #expect(server.requests.map { $0.header("Waybill-Transaction") } == [nil, nil, nil], "it has no delegate")
    }

    @Test func aClassOfSomebodyElseIsNotTakenForTheNativeOne() {
        #expect(NativeProtocol.class != nil)
        #expect(NativeProtocol.find(in: []) == nil)
        #expect(NativeProtocol.find(in: [SomebodyElses.self, CapturingProtocol.self, NSObject.self]) == nil)
    }

    @Test func theSessionOfATaskIsFoundAndOneThatIsHiddenIsNot() throws {
        let session = URLSession(configuration: .ephemeral)
        let request = URLRequest(url: try refusedURL())
        #expect(NativeProtocol.session(of: session.dataTask(with: request)) === session)
        #expect(NativeProtocol.session(of: session.downloadTask(with: request)) === session)
        #expect(NativeProtocol.session(of: URLSessionStreamTask()) == nil)
    }

    @Test func whatCannotBeCapturedIsSaidOnceAndShowsInHealth() {
        let told = Locked<[String]>([])
        let tx = TransactionManager.testing { options in
            options.diagnostics = { sentence in told.withLock { $0.append(sentence) } }
        }
        tx.passiveCapture.start()
        #expect(tx.health.isGood)
        tx.passiveCapture.give(up: NativeProtocol.isMissing)
        tx.passiveCapture.give(up: NativeProtocol.isMissing)
        #expect(tx.health.problems == [NativeProtocol.isMissing])
        tx.diagnostics.settle()
        #expect(told.withLock { $0 } == [NativeProtocol.isMissing.message])
        tx.passiveCapture.stop()
        #expect(tx.health.isGood)
    }

    /// Breaks when the answers of the caller's own class are lost.
    @Test func aClassThatTheCallerHasPutThereIsAskedFirst() {
        let configuration = URLSessionConfiguration.ephemeral
        let native = configuration.protocolClasses ?? []
        for own: [AnyClass] in [[SomebodyElses.self], [SomebodyElses.self] + native, []] {
            configuration.protocolClasses = own
            let session = URLSession(configuration: configuration)
            tx.passiveCapture.include(session)
            tx.passiveCapture.include(session)
            let classes = session.configuration.protocolClasses ?? []
            #expect(classes.count == own.count + 1)
            #expect(classes.firstIndex { $0 == CapturingProtocol.self } == (own.isEmpty ? 0 : 1))
            session.finishTasksAndInvalidate()
        }
    }

    /// The short form of `TestProcess cancel-passive 8000`.
    @Test(arguments: ["passive", "delegate"]) func cancellingAtAnyMomentNeitherHangsNorTrapsAndEveryRecordIsClosed(
        way: String
    ) async throws {
        let child = try ChildProcess("TestProcess", ["cancel-\(way)", "800"])
        let (output, status) = await child.finished(within: .seconds(60))
        try #require(status == 0, "hung or trapped")
        let numbers = output.split(separator: " ").compactMap {
            Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        try #require(numbers.count == 3)
        #expect(numbers[1] > 0, "nothing was cancelled: this proved nothing")
        #expect(numbers[2] == 0, "none is left open")
    }
}

/// Implements no methods.
private final class Silent: NSObject, URLSessionTaskDelegate, Sendable {}

/// Accepts every request and never answers.
private final class SomebodyElses: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
}
#endif
