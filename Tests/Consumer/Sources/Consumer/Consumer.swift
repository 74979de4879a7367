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
    static func main() async throws {
        let model = await LoginModel(transactions: TransactionManager(store: .inMemory))
        try await model.signIn(as: "ada")
        guard await model.history == [.signedIn(Session(user: "ada"))] else {
            print("the closure did not run")
            exit(1)
        }
        print("ok")
    }
}
