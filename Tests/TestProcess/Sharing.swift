import Foundation
import Waybill
import WaybillCore

/// Uses a store that other processes use, too: `shared` in the folder, with its own journals in `own-child`.
enum Sharing: String {
    /// Records, and then nothing until there is a file `go`; then it ends what it began.
    case idle = "share-idle"
    /// The same with its journals beside the store, as a process that has the store to itself.
    case plain = "share-plain"
    /// Records numbers until somebody kills it, and says each once it is journaled.
    case journal = "share-journal"
    /// Records numbers and writes each to the store, until there is a file `go`.
    case busy = "share-busy"
    /// Stops itself in the middle of writing to the store; then it ends what it began.
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
                // Where another process that stands still is writing, it comes later.
                try? await transactions.sync()
            }
        case .writing:
            try transactions.sources.readableSource?.writer.runAndWait { _, store in
                try store.write { () throws(WaybillError) in
                    say("\(login.id)")
                    // To this thread, which would go on for a while if another one took the signal.
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
