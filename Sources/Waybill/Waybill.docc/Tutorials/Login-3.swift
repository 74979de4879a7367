import Foundation
import Waybill

enum Login: String, UseCase {
    case requestSent, responseReceived
}

let transactions = TransactionManager(store: .default)

func logIn(with request: URLRequest) async throws {
    try await transactions.perform(Login.self) { login in
        login.log(.requestSent)
        let (data, _) = try await URLSession.shared.data(for: request)
        login.log(.responseReceived, attributes: ["bytes": data.count])
    }
}
