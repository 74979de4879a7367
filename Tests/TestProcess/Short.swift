import Foundation
import Waybill
import WaybillCore
import WaybillStore

/// Ends a few milliseconds after its first fact, in the way that the verb names.
enum Short: String {
    case end = "short-end", exit = "short-exit", kill = "short-kill", late = "short-late", never = "short-never"

    func run(in folder: URL) {
        // On a busy machine, 50 ms may pass before another thread runs at all.
        if self != .never { Recorder.setExitPatience(milliseconds: 60_000) }
        switch self {
        case .end: record(in: folder)
        case .exit:
            record(in: folder)
            Foundation.exit(0)
        case .kill: die(in: folder)
        case .late, .never: recordInMemory(folder)
        }
    }

    /// All that a short program does.
    private func record(in folder: URL) {
        let transactions = TransactionManager(store: .directory(folder))
        let login = transactions.begin(TestProcess.Login.self)
        login.log(.initiated)
        login.log(.requestSent)
        login.log(.responseReceived)
        login.finish()
    }

    /// Prints each number that was journaled, and kills itself within 50 ms.
    private func die(in folder: URL) {
        Thread.detachNewThread {
            usleep(.random(in: 0..<50_000))
            Foundation.kill(getpid(), SIGKILL)
        }
        let login = TransactionManager(store: .directory(folder)).begin(TestProcess.Login.self)
        for number in 0..<1_000_000
        where login.log(.requestSent, attributes: ["number": .integer(number)]) == .journaled {
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
    }

    /// Exits with five facts in memory, because its journal cannot be opened until shortly after that, or ever.
    private func recordInMemory(_ folder: URL) {
        let source = SourceIdentity(id: GUID(), app: "test-process")
        let path = folder.appending(path: "journal-\(source.id)").path(percentEncoded: false)
        let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
        guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else { _exit(72) }
        let writer = SourceWriter(source: source, place: .folder(folder), clock: SystemClock(), capacity: 100)
        let part = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0).sequence
        for code in 0..<3 { _ = writer.recorder.record(event: code, part: part) }
        let last = writer.recorder.record(.closed(Fact.Closed(outcome: .succeeded)), part: part)
        guard last.result == .inMemory else { _exit(73) }
        if self == .late {
            Thread.detachNewThread {
                usleep(5_000)
                close(descriptor)
            }
        }
        withExtendedLifetime(writer) { Foundation.exit(0) }
    }
}
