import Dispatch
import Foundation
import WaybillCore

/// The processes that the demo started: none outlives it, unless it is released.
final class Children: Sendable {
    private let running = Locked<[Child]>([])
    private let signals = Locked<[any DispatchSourceSignal]>([])

    func start(_ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], log: URL) throws
        -> Child
    {
        let child = try Child(executable, arguments, environment: environment, log: log)
        running.withLock { $0.append(child) }
        return child
    }

    /// Lets a child outlive the demo.
    func release(_ child: Child) { running.withLock { $0.removeAll { $0 === child } } }

    func killAll() { running.withLock { $0 }.forEach { $0.kill() } }

    /// Ends the children, then the demo, when somebody interrupts it.
    func stopOnSignals() {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [self] in
                killAll()
                exit(128 + number)
            }
            source.activate()
            signals.withLock { $0.append(source) }
        }
    }
}

/// One line that grows on a terminal; a line for each quarter elsewhere.
struct Progress {
    private let total: Int
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var done = 0

    init(total: Int) { self.total = total }

    mutating func step() {
        done += 1
        if isTerminal {
            print("\rlogins     \(done)/\(total)", terminator: done == total ? "\n" : "")
            fflush(nil)
        } else if done == total || done % max(1, total / 4) == 0 {
            print("logins     \(done)/\(total)")
        }
    }
}
