import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The jobs that tests run in a separate process: `TestProcess VERB FOLDER`, or a count or a URL instead of the folder.
@main
struct TestProcess {
    enum Login: Int, UseCase {
        static let code = 0
        case initiated = 0, requestSent = 1, responseReceived = 2
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else { exit(64) }
        // Like an app that leaves file modes to others: a store's file modes do not depend on it.
        if arguments[1] == "live" { umask(0) }
        if let step = IncrementalExport.Step(rawValue: String(arguments[1].dropFirst("export-".count))) {
            return try await export(URL(filePath: arguments[2]), diesAt: step)
        }
        if let exchanges = Exchanges(rawValue: arguments[1]) {
            return try await exchanges.run(in: URL(filePath: arguments[2]))
        }
        if let ending = Ending(rawValue: arguments[1]) { return try await ending.run(in: URL(filePath: arguments[2])) }
        if let short = Short(rawValue: arguments[1]) { return short.run(in: URL(filePath: arguments[2])) }
        if let sharing = Sharing(rawValue: arguments[1]) {
            return try await sharing.run(in: URL(filePath: arguments[2]))
        }
        if let count = Int(arguments[2]), arguments[1] == "cancel" { return try await CancelStress(count: count).run() }
        if let count = Int(arguments[2]), let stress = CaptureStress(rawValue: arguments[1]) {
            return try await stress.run(count)
        }
        if let kind = DownloadMemory.Kind(rawValue: arguments[1]) {
            return try await DownloadMemory(kind: kind, url: arguments[2]).run()
        }
        if arguments[1] == "closed" { return try await printToNobody(URL(filePath: arguments[2])) }
        if arguments[1] == "hostile" { return try await HostileRecorder(folder: URL(filePath: arguments[2])).run() }
        if arguments[1] == "hunt" {
            return try SecretHunt(URL(filePath: arguments[2])).run().forEach { print($0) }
        }
        var options = TransactionManager.Options()
        options.app = "test-process"
        let transactions = TransactionManager(store: .directory(URL(filePath: arguments[2]))) { $0 = options }
        switch arguments[1] {
        case "die": try await die(transactions)
        case "journal": journal(transactions)
        case "live": try await live(transactions)
        case "mark": try await mark(transactions)
        case "erase":
            try await mark(transactions)
            let erasure = try await transactions.erase(.all)
            print("erased \(erasure.transactionCount) \(erasure.factCount)")
            fflush(nil)
            try await Task.sleep(for: .seconds(3_600))  // the reader of the files ends it
        case "fork", "clone": try await fork(transactions, isBare: arguments[1] == "clone")
        case "fork-orphan": try await leaveChild(transactions)
        case "obey", "ignore":
            options.obeysLaunchSettings = arguments[1] == "obey"
            options.diagnostics = { print($0) }
            let transactions = TransactionManager(store: .directory(URL(filePath: arguments[2]))) { $0 = options }
            try await use(transactions)
            print(transactions.health.problems)
        case "unheard", "unheard-ignored": try await tellNobody(of: URL(filePath: arguments[2]))
        case "disabled": try await use(.disabled)
        case "default": try await use(TransactionManager { $0 = options })
        default: exit(64)
        }
    }

    /// Exports the new facts in `store` to `lake`, and dies at a step.
    private static func export(_ folder: URL, diesAt last: IncrementalExport.Step) async throws {
        let export = IncrementalExport(as: .ndjson)
        let lake = try LakeFolder(folder.appending(path: "lake"))
        let store = try SQLiteStore(folder.appending(path: "store"), clock: SystemClock())
        _ = try await export.run(of: store, into: lake) { step in
            if step == last { kill(getpid(), SIGKILL) }
        }
    }

    /// Reports a problem without a reader.
    private static func tellNobody(of folder: URL) async throws {
        if CommandLine.arguments[1] == "unheard-ignored" { signal(SIGPIPE, SIG_IGN) }
        let pipe = Pipe()
        dup2(pipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        try pipe.fileHandleForReading.close()
        let transactions = TransactionManager(store: .directory(folder))
        transactions.begin(Login.self).finish()
        try? await transactions.sync()
        transactions.diagnostics.settle()
        print(transactions.health.problems.isEmpty ? "nothing to tell" : "alive")
    }

    /// Records and prints without standard input, output and errors: the next files to be opened would get their numbers.
    private static func printToNobody(_ folder: URL) async throws {
        for descriptor: Int32 in 0...2 { close(descriptor) }
        let transactions = TransactionManager(store: .directory(folder))
        let login = transactions.begin(Login.self)
        login.log(.requestSent)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 4_096)
        for descriptor: Int32 in 0...2 { _ = write(descriptor, line, line.count) }
        login.finish()
        try await transactions.sync()
    }

    /// Dies with a transaction open. Its facts are in the store.
    private static func die(_ transactions: TransactionManager) async throws {
        let login = transactions.begin(Login.self)
        login.log(.requestSent)
        try await transactions.sync()
        print(login.id)
        fflush(nil)
        kill(getpid(), SIGKILL)
        withExtendedLifetime(login) {}
    }

    /// Records numbers until it is killed, and prints each number once it is journaled.
    private static func journal(_ transactions: TransactionManager) {
        let login = transactions.begin(Login.self)
        var number = 0
        while true {
            // Does not print a number that is in memory while the journal opens, or that is refused because the disk is
            // behind.
            guard login.log(.requestSent, attributes: ["number": .integer(number)]) == .journaled else { continue }
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            number += 1
        }
    }

    /// Records an event now and then until it is killed, and prints the transaction.
    private static func live(_ transactions: TransactionManager) async throws {
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        print(login.id)
        fflush(nil)
        for _ in 0..<10_000 {
            login.log(.requestSent)
            try await transactions.sync()
            // No event waits for another, so a reader sees some of them, however slow both are.
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Records the folder's name in every place that accepts text.
    private static func mark(_ transactions: TransactionManager) async throws {
        let marker = URL(filePath: CommandLine.arguments[2]).lastPathComponent
        for _ in 0..<50 {
            let login = transactions.begin(Login.self, attributes: ["note": .string(marker)])
            for _ in 0..<20 {
                login.log(
                    .requestSent, error: RecordedError(code: 1, text: marker), attributes: [marker: .string(marker)])
            }
            var request = URLRequest(url: URL(filePath: "/\(marker)"))
            request.setValue(marker, forHTTPHeaderField: "Note")
            _ = try? await transactions.session.data(for: request, in: login)
            login.finish(.failed, error: RecordedError(code: 2, text: marker))
            try await transactions.sync()
        }
    }

    /// Does everything that a manager can do.
    private static func use(_ transactions: TransactionManager) async throws {
        transactions.recording = .off
        transactions.recording = .on
        await transactions.perform(Login.self) { login in
            login.log(.requestSent)
            _ = try? await transactions.session.data(for: URLRequest(url: URL(filePath: "/dev/null")))
        }
        _ =
            try await transactions.transactions().page().rows
            + [transactions.transaction(GUID())?.summary].compactMap { $0 }
        _ = try await transactions.counts
        await transactions.flush()
        try await transactions.sync()
    }

    /// Only on Linux, like the test that forks.
    private static func waitUntilOthersSleep() throws {
        try eventually("all other threads wait") {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
                // The thread's state follows its name, which may contain any character. `R` means running.
                let state = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8)
                return state?.split(separator: ")").last?.hasPrefix(" R") == true
            } <= 1
        }
    }

    /// Forks a child that does nothing, and dies with a transaction open.
    private static func leaveChild(_ transactions: TransactionManager) async throws {
        let login = transactions.begin(Login.self)
        try await transactions.sync()
        login.log(.initiated)
        guard let symbol = dlsym(nil, "fork") else { exit(69) }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
        if child == 0 {
            alarm(60)  // at the latest; the test ends it
            close(0)
            close(1)
            close(2)
            while true { pause() }
        }
        print("\(child) \(login.id)")
        fflush(nil)
        kill(getpid(), SIGKILL)
    }

    /// Forks with a transaction open; parent and child both record.
    ///
    /// - Parameter isBare: Whether to bypass the C library, like a process that calls clone(2) directly.
    private static func fork(_ transactions: TransactionManager, isBare: Bool) async throws {
        let login = transactions.begin(Login.self)
        login.log(.initiated)
        try await transactions.sync()
        // A child has only the thread that forked. If another thread was doing something for the first time in Swift's
        // runtime, the child would wait for it forever, and neither our code nor any other would continue.
        try waitUntilOthersSleep()
        // Swift hides fork(2), for good reasons, but a host may call it anyway.
        guard let symbol = dlsym(nil, isBare ? "syscall" : "fork") else { exit(69) }
        #if arch(arm64)
        let clone = 220
        #else
        let clone = 56
        #endif
        typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int
        let child =
            isBare
            ? unsafeBitCast(symbol, to: Call.self)(clone, Int(SIGCHLD), 0, 0, 0, 0)
            : Int(unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)())
        let first = GUID()  // drawn from the same block of random bytes, unless the child notices the fork
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
        waitpid(pid_t(child), &status, 0)
        login.log(.responseReceived)
        login.finish()
        try await transactions.sync()
        print("parent \(login.id) \(first) \(status)")
    }
}
