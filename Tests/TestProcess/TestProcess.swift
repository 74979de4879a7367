import Foundation
import Waybill
import WaybillReport
import WaybillStore

/// What the tests need a process of its own for: `TestProcess VERB FOLDER`.
@main
struct TestProcess {
    enum Login: Int, UseCase {
        static let code = 0
        case initiated = 0, requestSent = 1, responseReceived = 2
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { exit(64) }
        if let step = IncrementalExport.Step(rawValue: String(arguments[1].dropFirst("export-".count))) {
            return try export(URL(filePath: arguments[2]), diesAt: step)
        }
        var options = TransactionManager.Options()
        options.app = "test-process"
        let transactions = TransactionManager(store: .directory(URL(filePath: arguments[2])), options: options)
        switch arguments[1] {
        case "die": try await die(transactions)
        case "fork": try await fork(transactions)
        default: exit(64)
        }
    }

    /// Exports what is new in `store` into `lake`, up to a step.
    private static func export(_ folder: URL, diesAt last: IncrementalExport.Step) throws {
        let export = IncrementalExport(as: .ndjson)
        let lake = try IncrementalFolder(folder.appending(path: "lake"), suffix: export.suffix)
        _ = try export.run(of: StoreReader(.folder(folder.appending(path: "store"))), into: lake) { step in
            if step == last { kill(getpid(), SIGKILL) }
        }
    }

    /// Dies with a transaction open; what it had recorded is in the store.
    private static func die(_ transactions: TransactionManager) async throws {
        let login = transactions.begin(Login.self)
        login.log(.requestSent)
        try await transactions.sync()
        print(login.id)
        fflush(nil)
        kill(getpid(), SIGKILL)
        withExtendedLifetime(login) {}
    }

    /// Forks with a transaction open; parent and child both record.
    private static func fork(_ transactions: TransactionManager) async throws {
        let login = transactions.begin(Login.self)
        login.log(.initiated)
        try await transactions.sync()
        // Swift hides fork(2), for good reasons; a host may call it all the same.
        guard let symbol = dlsym(nil, "fork") else { exit(69) }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
        let first = GUID()  // drawn from the same block of random bytes, unless the child notices that it is one
        if child == 0 {
            let ofParent = login.log(.requestSent)
            let own = transactions.begin(Login.self)
            own.log(.responseReceived)
            own.finish()
            print("child \(ofParent) \(own.id) \(first)")
            fflush(nil)
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        login.log(.responseReceived)
        login.finish()
        try await transactions.sync()
        print("parent \(login.id) \(first) \(status)")
    }
}
