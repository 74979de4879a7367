import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The guide's adapter, compiled and run with a queue that has its own context.
@Suite(.timeLimit(.minutes(5))) struct JoinOtherStacksTests {
    private final class Context: Sendable {
        @TaskLocal static var current: Context?
        static let isCarried: Void = TransactionScope.carry { current?.scope }
        private let value = Locked<TransactionScope?>(nil)
        var scope: TransactionScope? {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    private struct Job: Sendable {
        var name: String
        var context = Context()
        var work: @Sendable () -> Void
    }

    private struct Queue {
        func run(_ job: Job) async {
            await Task.detached { Context.$current.withValue(job.context) { job.work() } }.value
        }
    }

    private let queue = Queue()

    private func run(_ job: Job, for login: UseCaseTransaction<Login>) async {
        job.context.scope = TransactionScope(login)
        await queue.run(job)
        UseCaseTransaction.current?.log(named: "job done", attributes: ["job": job.name])
    }

    @Test func theAdapterCarriesTheTransaction() async throws {
        _ = Context.isCarried
        let tx = TransactionManager.testing { options in
            options.diagnostics = { _ in }
            options.server.traceContext = .join
        }
        await tx.perform(Login.self) { login in
            await run(Job(name: "mail") { Login.log(.requestSent) }, for: login)
        }
        let events = try tx.transactions(Login.self).flatMap { $0.timeline.filter { $0.kind == .event } }
        #expect(events.map(\.label) == ["requestSent", "job done"])
    }
}
