import Foundation
import Waybill
import WaybillQueries

enum Login: String, UseCase {
    case requestSent, responseReceived
}

let transactions = TransactionManager(store: .default, correlatedHosts: ["api.example.com"])

func logIn(with request: URLRequest) async throws {
    try await transactions.perform(Login.self) { login in
        login.log(.requestSent)
        let (data, _) = try await transactions.session.data(for: request, requiring: 200..<300)
        login.log(.responseReceived, attributes: ["bytes": data.count])
    }
}

func printFailures() async throws {
    for row in try await transactions.transactions(matching: "outcome:failed").page(limit: 20).rows {
        print(row.useCaseName, row.outcome)
    }
}
