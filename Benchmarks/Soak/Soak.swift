import Foundation
import TestSupport
import Waybill
import WaybillCore

/// Records at a steady rate and flushes each second, to see whether anything grows: memory, the store's files, or the
/// caller's waiting time.
struct Soak {
    let duration: Duration

    private static let transactionsPerSecond = 100
    private static let eventsPerTransaction = 20

    private enum Login: Int, UseCase {
        static let code = 0
        case initiated = 0
    }

    /// Accepts everything, and keeps nothing.
    private struct AcceptingTransport: FlushTransport {
        func send(_ set: OutgoingSet) async throws -> Receipt { Receipt(set: set.id, acceptedCount: set.factCount) }
    }

    /// Parses the arguments of `--soak MINUTES`.
    init(_ arguments: some Collection<String>) throws {
        let arguments = Array(arguments)
        guard arguments.count == 2, let minutes = Double(arguments[1]), minutes > 0, minutes <= 100_000 else {
            throw UsageError(sentence: "Usage: Benchmarks --soak MINUTES")
        }
        duration = .seconds(minutes * 60)
    }

    /// Prints a line for each interval, and returns all of them.
    func run() async throws -> SoakReport {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(
            store: .directory(folder), delivery: .transport(AcceptingTransport())
        ) { options in
            // Full within the first minutes; the rest of the run shows whether the limit holds.
            options.retention.maximumByteCount = 4 << 20
        }
        let flushing = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                _ = await transactions.flush()
            }
        }
        defer { flushing.cancel() }

        let start = ContinuousClock.now
        let interval = min(.seconds(30), duration / 12)
        var report = SoakReport()
        var latencies = Latencies(
            capacity: Int(interval / .seconds(1) * 2) * Self.transactionsPerSecond * Self.eventsPerTransaction)
        var (ticks, refused) = (0, 0)
        print(SoakSample.head)
        while ContinuousClock.now - start < duration {
            ticks += 1
            try await Task.sleep(until: start + .seconds(1) / Self.transactionsPerSecond * ticks)
            transactions.perform(Login.self) { login in
                for _ in 0..<Self.eventsPerTransaction {
                    if latencies.measure({ login.log(.initiated) }) == .refused { refused += 1 }
                }
            }
            let elapsed = ContinuousClock.now - start
            guard elapsed >= interval * (report.samples.count + 1) else { continue }
            let sample = SoakSample(
                elapsedSeconds: elapsed / .seconds(1), events: ticks * Self.eventsPerTransaction, refused: refused,
                residentMegabytes: residentMegabytes(), fileMegabytes: megabytes(in: folder), latencies: latencies)
            print(sample.line)
            fflush(nil)  // a long run is watched through pipes, too
            report.samples.append(sample)
            latencies.removeAll()
        }
        return report
    }
}

/// Returns the process's resident memory, from Linux's `/proc/self/status`; 0 elsewhere.
func residentMegabytes() -> Double {
    guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
}

/// Returns the size of all files in a folder: database, WAL, journal.
private func megabytes(in folder: URL) -> Double {
    let path = folder.path(percentEncoded: false)
    let sizes = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).map { name in
        // Does not open the files, because the store is in use.
        (try? FileManager.default.attributesOfItem(atPath: path + "/" + name))?[.size] as? Int ?? 0
    }
    return Double(sizes.reduce(0, +)) / 1_048_576
}
