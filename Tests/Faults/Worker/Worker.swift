#if Collector
import ArgumentParser
import Dispatch
import Foundation
import Waybill
import WaybillAtomics
import WaybillCore

extension Faults {
    /// The process that is killed. It records numbered facts, and reports each on its standard output once `log()` has
    /// returned that it was journaled.
    ///
    /// Its lines are a number for each journaled fact, `ready`, and `well` or `ill SENTENCE` when its health changes.
    /// The last line is `end PENDING`.
    struct Worker: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Record, until killed; SIGTERM: deliver everything and end.")

        @Option(help: "The store's folder.")
        var folder: String
        @Option(help: "The number of the first fact; the following ones count up.")
        var first: Int
        @Option(help: "How many threads record at once.")
        var threads = 2
        @Option(help: "How many facts each thread records; none: until killed, or told to end.")
        var facts: Int?
        @Option(help: "Where to deliver to.")
        var collector: String?
        @Option(help: "Longest pause between bursts, in microseconds.")
        var pause: UInt32 = 3_000
        @Option(help: "How much longer than usual facts are, in bytes.")
        var padding = 0
        @Option(
            help: "How the wall clock jumps while facts are recorded, in seconds, one jump after the other.",
            transform: Self.jumps)
        var jumps: [Int] = []
        @Option(help: "Pause between deliveries, in milliseconds.")
        var flushPause = 5
        @Option(help: "The share of transactions that are delivered, however they end.")
        var sampling: Double?
        @Flag(help: "Deliver again and again while recording.")
        var delivers = false

        private static func jumps(_ text: String) -> [Int] { text.split(separator: ",").compactMap { Int($0) } }

        func run() async throws {
            let clock = JumpingClock()
            var options = TransactionManager.Options()
            options.app = "faults"
            options.clock = clock
            if let sampling { options.sampling.setRate(sampling) }
            let transactions = TransactionManager(
                store: .directory(URL(filePath: folder)),
                delivery: collector.flatMap { URL(string: $0) }.map { .collector($0) }
            ) { $0 = options }
            EndSignal.watch()
            signal(SIGPIPE, SIG_DFL)
            Output.line("ready")
            let health = Task.detached { await Self.watch(transactions) }
            let delivery = Task.detached { [delivers, flushPause] in
                while delivers, !Task.isCancelled {
                    await transactions.flush()
                    try? await Task.sleep(for: .milliseconds(flushPause))
                }
            }
            let clocks = Task.detached { [jumps] in
                for jump in jumps {
                    try? await Task.sleep(for: .milliseconds(120))
                    clock.jump(by: jump)
                }
            }
            record(in: transactions)
            await clocks.value
            delivery.cancel()
            await delivery.value
            // Flushes until everything is delivered, because the collector is killed now and then. The process that
            // waits for the end has a time limit.
            var report = await transactions.flush()
            while collector != nil, !report.isComplete {
                try? await Task.sleep(for: .milliseconds(50))
                report = await transactions.flush()
            }
            try? await transactions.sync()
            health.cancel()
            Output.line("end \(report.pending)")
        }

        /// Records on threads, like callers that use no tasks.
        private func record(in transactions: TransactionManager) {
            let group = DispatchGroup()
            for thread in 0..<threads {
                group.enter()
                Thread.detachNewThread {
                    var writer = FactWriter(
                        transactions, next: first + thread, step: threads, chance: Chance(seed: UInt64(first + thread)),
                        padding: padding)
                    while !EndSignal.hasCome, facts.map({ writer.count < $0 }) ?? true {
                        writer.writeBurst()
                        usleep(.random(in: 0...max(1, pause), using: &writer.chance))
                    }
                    group.leave()
                }
            }
            group.wait()
        }

        private static func watch(_ transactions: TransactionManager) async {
            var last = ""
            let parent = getppid()
            while !Task.isCancelled {
                // The parent is gone, and nobody reads the output.
                if getppid() != parent { _exit(1) }
                let problems = transactions.health.problems
                let line = problems.isEmpty ? "well" : "ill \(problems.map(\.description).joined(separator: " "))"
                if line != last { Output.line(line) }
                last = line
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}

/// Lines to the parent, each whole: a write of less than 4,096 bytes to a pipe is not torn (POSIX.1-2017, write,
/// `PIPE_BUF`).
enum Output {
    static func line(_ text: String) {
        let bytes = Array((text.replacing("\n", with: " ").prefix(2_000) + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}

/// Whether somebody sent SIGTERM.
private enum EndSignal {
    private static let come = Atomic(false)

    /// Watches from now on. A dispatch source would be registered some time later, and would lose an earlier signal.
    static func watch() {
        come.store(false, ordering: .relaxed)  // made here, not in the handler
        signal(SIGTERM) { _ in EndSignal.come.store(true, ordering: .relaxed) }
    }

    static var hasCome: Bool { come.load(ordering: .relaxed) }
}
#endif
