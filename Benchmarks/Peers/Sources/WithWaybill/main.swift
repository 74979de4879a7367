import Foundation
import Waybill
import Work

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum Login: Int, UseCase {
    static let code = 1
    case initiated, validated, keychainRead, requestSent, responseReceived, tokenStored, profileShown, done
}

struct WithWaybill: Peer {
    let transactions: TransactionManager

    init(folder: URL) {
        transactions = TransactionManager(store: .directory(folder), correlatedHosts: ["127.0.0.1"]) { options in
            options.retention.maximumByteCount = 1 << 40  // the others keep everything, too
        }
    }

    func begin() -> UseCaseTransaction<Login> { transactions.begin(Login.self) }

    func log(_ step: Step, in login: UseCaseTransaction<Login>) {
        if let event = Login(rawValue: step.rawValue) { login.log(event) }
    }

    func send(_ request: URLRequest, in login: UseCaseTransaction<Login>) async throws -> (Data, URLResponse) {
        try await transactions.session.data(for: request, in: login)
    }

    func end(_ login: UseCaseTransaction<Login>) { login.finish() }

    func finish() async throws { try await transactions.sync() }
}

try await Work.run(WithWaybill.self)
