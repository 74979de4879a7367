import Foundation
import Waybill
import WaybillCore

/// Uses a store together with other processes: `shared` in the folder, with its own journals in `own-child`.
enum Sharing: String {
    /// Records, waits for a file `go`, and then ends its transaction.
    case idle = "share-idle"
    /// Like `idle`, but with its journals beside the store, like a process that has the store to itself.
    case plain = "share-plain"
    /// Records numbers until it is killed, and prints each number once it is journaled.
    case journal = "share-journal"
    /// Records numbers and writes each to the store, until a file `go` exists.
    case busy = "share-busy"
    /// Stops itself in the middle of writing to the store; after that, ends its transaction.
    case writing = "share-writing"

    func run(in folder: URL) async throws {
        var options = TransactionManager.Options()
        options.app = "child"
        let own = self == .plain ? nil : folder.appending(path: "own-child")
        let transactions = TransactionManager(
            store: .directory(folder.appending(path: "shared"), journals: own)
        ) { $0 = options }
        let login = transactions.begin(TestProcess.Login.self)
        try await transactions.sync()
        var number = 0
        switch self {
        case .idle, .plain:
            say("\(login.id)")
            try await wait(folder)
        case .journal:
            while true {
                guard login.log(.requestSent, attributes: ["number": .integer(number)]) == .journaled else { continue }
                say("\(number)")
                number += 1
            }
        case .busy:
            say("\(login.id)")
            for _ in 0..<100_000 where access(folder.appending(path: "go").path, F_OK) != 0 {
                login.log(.requestSent, attributes: ["number": .integer(number)])
                number += 1
                // If a stopped process is in the middle of writing, the number is written later.
                try? await transactions.sync()
            }
        case .writing:
            try transactions.sources.readableSource?.writer.runAndWait { _, store in
                try store.write { () throws(WaybillError) in
                    say("\(login.id)")
                    // To this thread, which would run on for a while if another thread took the signal.
                    raise(SIGSTOP)
                }
            }
        }
        login.log(.responseReceived)
        login.finish()
        try await transactions.sync()
        say("\(number)")
    }

    private func wait(_ folder: URL) async throws {
        for _ in 0..<100_000 where access(folder.appending(path: "go").path, F_OK) != 0 {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
