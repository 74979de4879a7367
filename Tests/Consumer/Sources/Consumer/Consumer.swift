import Foundation
import Waybill

// The names that an app, or SwiftUI and StoreKit, are likely to have already.
struct Transaction {
    var amount: Int
}

enum Event: Equatable {
    case signedIn(Session)
}

struct Session: Equatable {
    var user: String
}

enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0, requestSent = 1, responseReceived = 2
}

@MainActor
final class LoginModel {
    private(set) var history: [Event] = []
    private let transactions: TransactionManager
    private let payments = [Transaction(amount: 3)]

    init(transactions: TransactionManager) {
        self.transactions = transactions
    }

    func signIn(as user: String) async throws {
        try await transactions.perform(Login.self, attributes: ["variant": "B"]) { login in
            login.log(.requestSent)
            let session = try await answer(to: user)
            login.log(.responseReceived)
            history.append(.signedIn(session))
        }
    }

    private func answer(to user: String) async throws -> Session {
        await Task.yield()
        return Session(user: user)
    }
}

@main
enum Consumer {
    @MainActor
    static func main() async throws {
        #if DEBUG
        let isDebugBuild = true
        #else
        let isDebugBuild = false
        #endif
        guard TransactionManager.isDebugBuild == isDebugBuild else {
            print("is a debug build: \(TransactionManager.isDebugBuild)")
            exit(1)
        }

        let transactions = TransactionManager(store: .inMemory)
        let model = LoginModel(transactions: transactions)
        try await model.signIn(as: "ada")
        let report = await transactions.flush()

        // Opened, two events, closed: all four are still pending, because there is nowhere to deliver them.
        guard model.history == [.signedIn(Session(user: "ada"))], report.pending == 4, report.delivered == 0 else {
            print("signed in: \(model.history), flushed: \(report)")
            exit(1)
        }
        print("ok")
    }
}
