import Foundation
import Waybill
import WaybillCore
import WaybillStore

/// Ends with a transaction open, in the way that the verb names.
enum Ending: String {
    case exit = "end-exit", kill = "end-kill", fault = "end-segv", abort = "end-abort", terminate = "end-term"
    case handledExit = "end-handled-exit", handledKill = "end-handled-kill", handledFault = "end-handled-deadly"
    case ignored = "end-ignored", ignoredInfo = "end-ignored-info", uncaught = "end-uncaught", written = "end-written",
        fork = "end-fork"
    case stack = "end-stack", two = "end-two"

    func run(in folder: URL) async throws {
        prepare()
        switch self {
        case .written: try await record(byWritingTo: folder)
        case .two:
            let first = try await transactions(in: folder.appending(path: "one"))
            let second = try await transactions(in: folder.appending(path: "two"))
            withExtendedLifetime((first, second)) { end() }
        case .exit, .kill, .fault, .abort, .terminate, .handledExit, .handledKill, .handledFault, .ignored,
            .ignoredInfo,
            .uncaught, .fork, .stack:
            let opened = try await transactions(in: folder)
            withExtendedLifetime(opened) { end() }
        }
        _exit(70)
    }

    private func transactions(in folder: URL) async throws -> any Sendable {
        let transactions = TransactionManager(store: .directory(folder)) { $0.catchesSignals = self != .uncaught }
        let login = transactions.begin(TestProcess.Login.self)
        try await transactions.sync()
        guard login.log(.requestSent) == .journaled else { _exit(71) }
        return (transactions, login)
    }

    /// Records to a journal that is not mapped, as on file systems where mapping is not safe.
    private func record(byWritingTo folder: URL) async throws {
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID(), app: "test-process"), place: .folder(folder), clock: SystemClock(),
            capacity: 100, journalSize: JournalSize(isMapped: false), catchesSignals: true)
        _ = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        try await writer.sync()
        withExtendedLifetime(writer) { end() }
    }

    /// Installs the app's own signal handlers, before the manager does.
    private func prepare() {
        switch self {
        case .handledExit: signal(SIGTERM) { _ in Ending.say("handled\n") }
        case .handledKill: signal(SIGTERM) { _ in Ending.say("handled\n") }
        case .handledFault:
            // Like crash reporters: the handler restores the default, and the fault happens again.
            var action = sigaction()
            let handler: @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void = {
                number, _, _ in
                Ending.say("handled\n")
                signal(number, SIG_DFL)
            }
            #if canImport(Darwin)
            action.__sigaction_u.__sa_sigaction = handler
            #else
            action.__sigaction_handler.sa_sigaction = handler
            #endif
            action.sa_flags = SA_SIGINFO
            sigaction(SIGSEGV, &action, nil)
        case .ignored: signal(SIGTERM, SIG_IGN)
        case .ignoredInfo:
            var action = sigaction()
            #if canImport(Darwin)
            action.__sigaction_u.__sa_handler = SIG_IGN
            #else
            action.__sigaction_handler.sa_handler = SIG_IGN
            #endif
            action.sa_flags = SA_SIGINFO
            sigaction(SIGTERM, &action, nil)
        case .exit, .kill, .fault, .abort, .terminate, .uncaught, .written, .fork, .stack, .two: break
        }
    }

    private static func say(_ text: StaticString) { _ = write(1, text.utf8Start, text.utf8CodeUnitCount) }

    private func end() {
        switch self {
        case .exit: Foundation.exit(7)
        case .kill: Foundation.kill(getpid(), SIGKILL)
        case .fault, .handledFault, .uncaught, .written: Self.fault()
        case .abort, .two: Foundation.abort()
        case .terminate: Foundation.kill(getpid(), SIGTERM)
        case .handledExit:
            Self.terminateHere()
            Foundation.exit(7)
        case .handledKill, .ignored, .ignoredInfo:
            Self.terminateHere()
            Foundation.kill(getpid(), SIGKILL)
        case .fork:
            guard let symbol = dlsym(nil, "fork") else { _exit(69) }
            let child = unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)()
            if child == 0 { Foundation.abort() }
            var status: Int32 = 0
            waitpid(child, &status, 0)
            Foundation.exit(7)
        case .stack:
            // A handler can run only if the thread has another stack.
            let size = 1 << 16
            var other = stack_t()
            other.ss_sp = .allocate(byteCount: size, alignment: 16)
            other.ss_size = numericCast(size)
            sigaltstack(&other, nil)
            print(Self.deep(0))
        }
        pause()
    }

    /// Returns after this thread has handled SIGTERM. Dispatch's threads block it.
    private static func terminateHere() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        Foundation.raise(SIGTERM)
    }

    @inline(never)
    private static func fault() { UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1 }

    @inline(never)
    private static func deep(_ number: Int) -> Int {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 512) { room in
            room[0] = number
            return deep(number + 1) + room[0]
        }
    }
}
