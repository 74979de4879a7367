import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The program of the tutorial, step by step. `make docs` compares each line of the tutorial with the tests.
@Suite(.timeLimit(.minutes(5))) struct TutorialTests {
    enum Login: String, UseCase {
        case requestSent, responseReceived
    }

    /// Breaks when a newcomer's first program loses the login, or takes a rejected one for a success.
    @Test func eachStepRecordsTheLogin() async throws {
        let server = try LoopbackServer { _ in .text("wrong password", status: 401) }
        let request = URLRequest(url: server.url("/login"))
        let folder = try TemporaryDirectory()
        do {
            let transactions = TransactionManager(store: .directory(folder.url))
            func logIn(with request: URLRequest) async throws {
                try await transactions.perform(Login.self) { login in
                    login.log(.requestSent)
                    let (data, _) = try await URLSession.shared.data(for: request)
                    login.log(.responseReceived, attributes: ["bytes": data.count])
                }
            }
            try await logIn(with: request)
            #expect(try transactions.last(Login.self)?.events.map(\.event) == [.requestSent, .responseReceived])
            #expect(try transactions.last(Login.self)?.outcome == .succeeded)
        }

        let transactions = TransactionManager(store: .directory(folder.url), correlatedHosts: ["api.example.com"])
        func logIn(with request: URLRequest) async throws {
            try await transactions.perform(Login.self) { login in
                login.log(.requestSent)
                let (data, _) = try await transactions.session.data(for: request, requiring: 200..<300)
                login.log(.responseReceived, attributes: ["bytes": data.count])
            }
        }
        await #expect(throws: RecordedError(domain: "HTTP", code: 401)) { try await logIn(with: request) }
        #expect(try transactions.last(Login.self)?.outcome == .failed)

        func printFailures() async throws {
            for row in try await transactions.transactions(matching: "outcome:failed").page(limit: 20).rows {
                print(row.useCaseName, row.outcome)
            }
        }
        try await printFailures()
        #expect(try await transactions.transactions(matching: "outcome:failed").page(limit: 20).rows.count == 1)
    }
}
