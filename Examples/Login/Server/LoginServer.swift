#if Hummingbird
import Foundation
import Hummingbird
import Logging
import LoginUseCase
import NIOCore
import Waybill
import WaybillHummingbird

/// A server that checks passwords, joins the transaction of each request and records its own events.
///
/// Environment: `COLLECTOR` (a URL), `STORE` (a folder). The first line of its output is
/// `listening on http://127.0.0.1:PORT`.
@main
struct LoginServer {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let store = environment["STORE"], let collector = environment["COLLECTOR"].flatMap({ URL(string: $0) })
        else {
            FileHandle.standardError.write(Data("Set COLLECTOR and STORE; `make demo` does.\n".utf8))
            exit(64)
        }
        let transactions = TransactionManager(
            store: .directory(URL(filePath: store)), delivery: .collector(collector)
        ) { options in
            options.app = "login-server"
            options.appVersion = "2.0.1"
            options.server.accepting = .only(Login.self)
        }

        transactions.startDelivery(every: .seconds(1))
        try await application(transactions, accounts: Accounts()).runService()  // until SIGTERM
        let report = await transactions.flush()
        if !report.isComplete { exit(1) }
    }

    static func application(_ transactions: TransactionManager, accounts: Accounts) -> some ApplicationProtocol {
        let router = Router()
        router.add(middleware: TransactionMiddleware(transactions))
        router.post("login") { request, context -> HTTPResponse.Status in
            Login.log(.serverStarted)
            let login = try await request.decode(as: LoginRequest.self, context: context)
            switch try await accounts.check(login) {
            case .accepted:
                Login.log(.serverAccepted)
                return .ok
            case .wrongPassword:
                Login.log(.serverRejected, code: 1, attributes: ["reason": "wrong password"])
                return .unauthorized
            case .unknownUser:
                Login.log(.serverRejected, code: 2, attributes: ["reason": "unknown user"])
                return .unauthorized
            }
        }
        var logger = Logger(label: "login-server")
        logger.logLevel = .error  // the demo makes errors on purpose, and shows them in the timeline
        return Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(
                    Data("listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n".utf8))
            },
            logger: logger)
    }
}
#else
@main
struct LoginServer {
    static func main() {
        print("The login server needs Hummingbird: build with --traits Hummingbird.")
    }
}
#endif
