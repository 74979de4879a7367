import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Parents of transactions. Breaks when the payment of a checkout looks like any other.
@Suite(.timeLimit(.minutes(5))) struct ParentTests {
    let tx = TransactionManager.testing()

    private func summary<U: UseCase>(_ useCase: U.Type) throws -> TransactionSummary {
        try #require(tx.transactions(useCase).last).summary
    }

    @Test func aPerformInsideAnotherOneIsBelowIt() async throws {
        let ids = await tx.perform(Login.self) { login in
            await tx.perform(Purchase.self) { purchase in
                _ = await Task { tx.begin(useCase: 17).finish() }.value
                purchase.finish(.failed)
                return (login.id, purchase.id)
            }
        }
        #expect(try summary(Login.self).parent == nil)
        #expect(try summary(Purchase.self).parent == ids.0)
        #expect(try summary(Purchase.self).parentPart?.sequence == 1)
        #expect(try summary(Numbered.self).parent == ids.1)
        // Each still has its own outcome.
        #expect(try tx.last(Login.self)?.outcome == .succeeded)
        #expect(try tx.last(Purchase.self)?.outcome == .failed)
        #expect(try #require(tx.transactions(Login.self).first).family?.below.map(\.id).count == 2)
    }

    @Test func theSameUseCaseInsideIsATransactionOfItsOwn() throws {
        tx.perform(Login.self) { outer in
            tx.perform(Login.self) { inner in #expect(Login.current?.id == inner.id && inner.id != outer.id) }
            #expect(Login.current?.id == outer.id)
        }
        #expect(try tx.transactions(Login.self).compactMap(\.summary.parent).count == 1)
    }

    @Test func nilStandsByItselfAlsoInside() throws {
        tx.perform(Login.self) { _ in tx.perform(Purchase.self, parent: nil) { _ in } }
        #expect(try summary(Purchase.self).parent == nil)
    }

    @Test func aParentMayBeNamedWhenItIsOver() throws {
        let login = tx.begin(Login.self)
        login.finish()
        tx.begin(Purchase.self, parent: .transaction(login)).finish()
        #expect(try summary(Purchase.self).parent == login.id)
        #expect(try summary(Purchase.self).parentPart?.sequence == 1)
        // An ID that an app remembers over a launch.
        let remembered = GUID()
        tx.begin(Purchase.self, parent: .id(remembered)).finish()
        #expect(try summary(Purchase.self).parent == remembered)
        #expect(try summary(Purchase.self).parentPart == nil)
    }

    /// Breaks when a reader looks for a parent that doesn't exist.
    @Test func whatWasNotRecordedIsNobodysParent() throws {
        tx.perform(Login.self) { login in
            tx.perform(Broken.self) { _ in tx.begin(Purchase.self).finish() }
            TransactionManager.disabled.perform(Broken.self) { _ in tx.begin(Search.self).finish() }
        }
        let login = try summary(Login.self).id
        #expect(try summary(Purchase.self).parent == login)
        #expect(try summary(Search.self).parent == login)
    }

    /// Breaks when an open transaction identifies a user who resets the installation.
    @Test func afterAResetOfTheInstallationNothingNamesWhatWasBefore() async throws {
        let login = tx.begin(Login.self)
        try await tx.resetInstallation()
        tx.begin(Purchase.self, parent: .transaction(login)).finish()
        #expect(try summary(Purchase.self).parent == nil)
        login.finish()
    }

    @Test func theHookIsToldOfTheParent() throws {
        let parents = Locked<[GUID?]>([])
        let hooked = TransactionManager.testing { options in
            options.diagnostics = { _ in }
            options.willRecord = { draft in
                if case .opened(let opened) = draft { parents.withLock { $0.append(opened.parent) } }
                return draft
            }
        }
        let id = hooked.perform(Login.self) { login in
            hooked.begin(Purchase.self).finish()
            return login.id
        }
        #expect(parents.withLock { $0 } == [nil, id])
    }

    /// Breaks when lists show a server's own transactions beside the request that caused them, without the connection.
    @Test func whatAServerJoinsIsAPartAndWhatItBeginsBelowIsAChild() async throws {
        let client = GUID()
        let field = "\"\(client)\";u=\(Login.code)"
        let login = tx.join(Login.self) { $0 == "Waybill-Transaction" ? field : nil }
        await login.withCurrent { tx.perform(Purchase.self) { _ in } }
        login.finish()
        #expect(try summary(Login.self).id == client && summary(Login.self).parent == nil)
        #expect(try summary(Purchase.self).parent == client)
        #expect(try summary(Purchase.self).parentPart?.sequence == 1)
    }

    private enum Numbered: Int, UseCase {
        static let code = 17
        case none = 0
    }

    private enum Search: Int, UseCase {
        static let code = 18
        case none = 0
    }

    /// Its code is not one that a collector accepts, and it is not recorded.
    private enum Broken: Int, UseCase {
        static let code = -1
        case none = 0
    }
}
