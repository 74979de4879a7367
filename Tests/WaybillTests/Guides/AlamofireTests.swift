import Dispatch
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

/// The interceptor and the session of the guide for Alamofire, compiled and run over a real socket. The stand-ins have
/// the signatures of Alamofire 5.
@Suite(.timeLimit(.minutes(5))) struct AlamofireTests {
    /// A delegate that knows the requests, like Alamofire's.
    final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
        private let waiting = Locked<[Int: @Sendable (Int?) -> Void]>([:])

        func wait(for task: URLSessionTask, _ completion: @escaping @Sendable (Int?) -> Void) {
            waiting.withLock { $0[task.taskIdentifier] = completion }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            let completion = waiting.withLock { $0.removeValue(forKey: task.taskIdentifier) }
            completion?((task.response as? HTTPURLResponse)?.statusCode)
        }
    }

    protocol RequestInterceptor: Sendable {
        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void)
    }

    /// Makes requests and tasks on its own queue, like Alamofire's.
    final class Session: Sendable {
        let session: URLSession
        let delegate: SessionDelegate
        let rootQueue: DispatchQueue

        init(session: URLSession, delegate: SessionDelegate, rootQueue: DispatchQueue) {
            precondition(session.delegateQueue.underlyingQueue === rootQueue, "as Alamofire asks for it")
            (self.session, self.delegate, self.rootQueue) = (session, delegate, rootQueue)
        }

        @discardableResult func request(_ url: URL, interceptor: (any RequestInterceptor)? = nil) -> DataRequest {
            let answered = DataRequest()
            rootQueue.async { [self] in
                let send: @Sendable (Result<URLRequest, any Error>) -> Void = { [self] result in
                    guard let request = try? result.get() else { return }
                    let task = session.dataTask(with: request)
                    delegate.wait(for: task) { status in answered.end(status) }
                    task.resume()
                }
                guard let interceptor else { return send(.success(URLRequest(url: url))) }
                interceptor.adapt(URLRequest(url: url), for: self, completion: send)
            }
            return answered
        }
    }

    final class DataRequest: Sendable {
        private let gate = Gate()
        private let answer = Locked<Int?>(nil)

        func end(_ status: Int?) {
            answer.withLock { $0 = status }
            gate.open()
        }

        var status: Int? {
            get async {
                await gate.opened()
                return answer.withLock { $0 }
            }
        }
    }

    // From the guide.
    struct TransactionInterceptor: RequestInterceptor {
        let transaction: UseCaseTransaction<Login>

        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            var request = urlRequest
            let fields = request.url.map { transaction.headers(for: $0) } ?? [:]
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            completion(.success(request))
        }
    }

    let transactions = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])

    private func makeSession() -> Session {
        let queue = DispatchQueue(label: "network")
        let delegateQueue = OperationQueue()
        delegateQueue.maxConcurrentOperationCount = 1
        delegateQueue.underlyingQueue = queue
        let delegate = SessionDelegate()
        let urlSession = URLSession.waybill(transactions, delegate: delegate, delegateQueue: delegateQueue)
        let session = Session(session: urlSession, delegate: delegate, rootQueue: queue)
        return session
    }

    @Test func aRequestWithItsInterceptorBelongsToItsTransaction() async throws {
        let server = try LoopbackServer { _ in .text("hello", status: 201) }
        let (session, url) = (makeSession(), server.url("/items"))
        let login = transactions.begin(Login.self)
        session.request(url, interceptor: TransactionInterceptor(transaction: login))
        #expect(await session.request(url).status == 201)
        try await eventually("both are over") {
            try server.requests.count == 2 && transactions.exchanges.count == 1
        }
        login.finish()
        let fields = server.requests.compactMap { $0.header("Waybill-Transaction") }
        #expect(fields.count == 1 && fields.first?.contains(login.id.description) == true)
        #expect(try transactions.exchanges.map(\.url) == [url.absoluteString])
        session.session.finishTasksAndInvalidate()
    }

    @Test func aRedirectToAnotherHostTakesNoFieldAlong() async throws {
        let target = try LoopbackServer { _ in .text("there") }
        let place = target.url("/there", host: "localhost")
        let server = try LoopbackServer { _ in .redirect(to: place) }
        let (session, login) = (makeSession(), transactions.begin(Login.self))
        let request = session.request(server.url(), interceptor: TransactionInterceptor(transaction: login))
        #expect(await request.status == 200)
        #expect(server.requests.map { $0.header("Waybill-Transaction") == nil } == [false])
        #expect(target.requests.map { $0.header("Waybill-Transaction") == nil } == [true])
        session.session.finishTasksAndInvalidate()
    }
}
