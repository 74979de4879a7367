import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

/// The current transaction when a context other than the task's carries one: both form one chain, and the innermost
/// wins.
@Suite(.timeLimit(.minutes(5))) struct ScopeTests {
    /// A context with its own current value, like a tracer's.
    private enum Context {
        @TaskLocal static var scope: TransactionScope?
        static let isCarried: Void = TransactionScope.carry { scope }
    }

    let tx = TransactionManager.testing()

    init() { _ = Context.isCarried }

    @Test func whatAContextCarriesIsCurrentWhereTheTasksValuesAreNot() async {
        let scope = tx.perform(Login.self) { TransactionScope($0) }
        let found = await Task.detached {
            Context.$scope.withValue(scope) {
                (Login.current?.id, UseCaseTransaction.current?.id, Purchase.current?.id)
            }
        }.value
        #expect(found.0 == scope.transaction.id && found.1 == scope.transaction.id && found.2 == nil)
        #expect(UseCaseTransaction.current == nil, "nothing of it stays behind")
    }

    @Test func whatIsPerformedInsideASpanWinsOverTheSpan() throws {
        let login = tx.begin(Login.self)
        Context.$scope.withValue(TransactionScope(login)) {
            tx.perform(Purchase.self) { purchase in
                #expect(UseCaseTransaction.current?.id == purchase.id)
                #expect(Login.current?.id == login.id, "the span's is still around it")
            }
            #expect(UseCaseTransaction.current?.id == login.id)
        }
        #expect(try tx.transactions(Purchase.self).first?.summary.parent == login.id)
    }

    @Test func aSpanInsideWhatIsPerformedKeepsItsTransaction() {
        tx.perform(Login.self) { login in
            let joined = tx.begin(Purchase.self)
            Context.$scope.withValue(TransactionScope(joined)) {
                #expect(UseCaseTransaction.current?.id == joined.id)
                #expect(Login.current?.id == login.id)
                // A span without its own transaction carries the scope where it was made.
                Context.$scope.withValue(TransactionScope.current) {
                    #expect(UseCaseTransaction.current?.id == joined.id)
                }
            }
            #expect(UseCaseTransaction.current?.id == login.id)
        }
    }

    @Test func theChainIsFollowedThroughEveryOrderOfBoth() {
        let ids = [tx.begin(Login.self), tx.begin(Login.self), tx.begin(Login.self), tx.begin(Login.self)]
        for order in 0..<16 {
            /// Nests each transaction inside the previous one, through the task or the context according to the bits.
            func nest(_ depth: Int) {
                guard depth < ids.count else { return }
                let enter = {
                    #expect(Login.current?.id == ids[depth].id, "order \(order), depth \(depth)")
                    nest(depth + 1)
                    #expect(Login.current?.id == ids[depth].id, "order \(order), back at depth \(depth)")
                }
                if order >> depth & 1 == 0 {
                    ids[depth].perform { _ in enter() }
                } else {
                    Context.$scope.withValue(TransactionScope(ids[depth]), operation: enter)
                }
            }
            nest(0)
        }
        #expect(Login.current == nil)
    }

    @Test func whatIsCurrentIsFoundWithoutAType() {
        tx.perform(Login.self) { login in
            #expect(UseCaseTransaction.current?.log(named: "cache miss") == .inMemory)
            #expect(Login.log(.initiated) == .inMemory)
            #expect(Login.log(.requestSent, code: 401) == .inMemory)
            #expect(UseCaseTransaction.current?.id == login.id)
        }
        #expect(UseCaseTransaction.current == nil)
    }

    /// Breaks when nobody notices an event outside any transaction.
    @Test func whoeverLogsOutsideATransactionIsToldOnce() {
        enum Lonely: Int, UseCase {
            static let code = 4_711
            case asked
        }
        #expect(Lonely.log(.asked) == .off)
        #expect(MissingTransactions.note(Lonely.self) == !TransactionManager.isDebugBuild)
        #expect(!MissingTransactions.note(Lonely.self))
    }
}
