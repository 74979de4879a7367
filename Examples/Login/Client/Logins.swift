import Foundation
import LoginUseCase
import Waybill
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The login screen of the demo: what an app would do, for each scenario.
struct Logins: Sendable {
    let transactions: TransactionManager
    let session: CapturedSession
    let server: URL

    func run(_ scenario: Scenario, index: Int) async {
        let variant: Attributes = ["variant": index.isMultiple(of: 2) ? "A" : "B"]
        switch scenario {
        case .leftScreen:
            let login = transactions.begin(Login.self, attributes: variant)
            login.log(.initiated)
        // The screen goes away, and the handle with it.
        case .cancelledByUser:
            try? transactions.perform(Login.self, attributes: variant) { login in
                login.log(.initiated)
                throw CancellationError()
            }
        default:
            try? await transactions.perform(Login.self, attributes: variant) { login in
                login.log(.initiated)
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...8)))  // somebody types
                let request = try request(scenario)
                login.log(.requestSent)
                let (_, response) = try await session.data(for: request)
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                login.log(.responseReceived, attributes: ["status": .integer(status)])
                if status != 200 { login.finish(.failed, code: status) }
            }
        }
    }

    private func request(_ scenario: Scenario) throws -> URLRequest {
        // Port 1 refuses connections.
        let base = scenario == .connectionRefused ? URL(string: "http://127.0.0.1:1") ?? server : server
        var request = URLRequest(url: base.appending(path: "login"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(credentials(scenario))
        return request
    }

    private func credentials(_ scenario: Scenario) -> LoginRequest {
        switch scenario {
        case .wrongPassword: LoginRequest(user: "ada", password: "letmein")
        case .unknownUser: LoginRequest(user: "nobody", password: "difference engine")
        case .serverError: LoginRequest(user: "corrupt", password: "difference engine")
        case .serverTooLate: LoginRequest(user: "slow", password: "difference engine")
        default: LoginRequest(user: "ada", password: "difference engine")
        }
    }
}
