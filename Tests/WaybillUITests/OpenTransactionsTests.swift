import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting
import WaybillUI

/// The effects of the modifiers of SwiftUI's views and scenes, without SwiftUI.
@Suite(.timeLimit(.minutes(5))) struct OpenTransactionsTests {
    private enum SignUp: Int, UseCase {
        static let code = 7
        case typed = 0
    }

    private let transport = InMemoryTransport()
    private let tx: TransactionManager

    init() { tx = .testing(delivery: .transport(transport)) }

    private func screen<U: UseCase>(_ useCase: U.Type) -> ScreenTransaction<U> {
        let screen = ScreenTransaction<U>()
        screen.use(tx, ["variant": "B"])
        return screen
    }

    /// Breaks when events of an inner view are lost because it appears before the view around it.
    @Test func whoeverComesFirstBeginsTheOnlyTransaction() throws {
        let screen = screen(SignUp.self)
        let open = OpenTransactions().adding(screen)
        #expect(open[SignUp.self]?.log(.typed) == .inMemory)
        screen.begun()
        open[SignUp.self]?.finish()
        screen.end()
        let record = try #require(try tx.last(SignUp.self))
        #expect(record.outcome == .succeeded)
        #expect(record.events.map(\.event) == [.typed])
        #expect(record.summary.attributes == ["variant": "B"])
    }

    /// Breaks when a screen that the user left stays open as long as a model has its handle.
    @Test func aScreenThatIsLeftIsAbandonedAndBeginsAgain() async throws {
        let screen = screen(SignUp.self)
        let kept = screen.begun()
        screen.end()
        #expect(try tx.last(SignUp.self)?.outcome == .abandoned)
        let next = screen.begun()
        #expect(next.id != kept.id)
        screen.end()
        screen.end()
        #expect(try await tx.transactions().page().rows.map(\.outcome) == [.abandoned, .abandoned])
    }

    @Test func aViewFindsTheNearestTransactionOfEachUseCase() {
        let (outer, inner, other) = (screen(SignUp.self), screen(SignUp.self), screen(Login.self))
        let open = OpenTransactions().adding(outer).adding(other).adding(inner)
        #expect(open[SignUp.self]?.id == inner.begun().id)
        #expect(open[Login.self]?.id == other.begun().id)
        #expect(OpenTransactions()[Login.self] == nil)
    }

    /// Breaks when a preview records.
    @Test func withoutAManagerNothingIsRecorded() {
        let open = OpenTransactions().adding(ScreenTransaction<SignUp>())
        #expect(open[SignUp.self]?.log(.typed) == .off)
    }

    /// Breaks when an app that calls nothing else never delivers, or delivers only after it was suspended.
    @Test(arguments: [true, false]) func eachPhaseDelivers(isActive: Bool) async throws {
        tx.perform(SignUp.self) { _ in }
        tx.deliver(whileActive: isActive)
        try await eventually("it was delivered") { transport.sets.count == 1 }
    }
}
