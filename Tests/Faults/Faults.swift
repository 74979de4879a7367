#if Collector
import ArgumentParser
import Foundation

/// `make faults`: tests the promises about facts on real processes that are killed, starved and damaged.
@main
struct Faults: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Kill recorders and collectors, fill disks, flip bits, and count every fact afterwards.",
        subcommands: [Run.self, Worker.self], defaultSubcommand: Run.self)

    /// Every case, in the order of the table.
    static let cases: [FaultCase] =
        [
            .killed, .killedSampling, .killedEarly, .drain, .flush, .answer, .two, .four, .clock, .full, .busy,
            .failing, .readOnly,
            .permissions, .deleted, .power,
        ] + Self.linuxCases + FaultCase.journals + [.database, .chaos, .control]

    private static var linuxCases: [FaultCase] {
        #if os(Linux)
        [.overlay, .shutDown]
        #else
        []
        #endif
    }

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run the cases, print a table, and write .build/faults.json.")

        @Option(help: "How often a process is killed at a random instant; the other cases do a share of it.")
        var kills = 50

        @Option(help: "How many clients there are in chaos.")
        var clients = 20

        @Option(help: "How long there is chaos.")
        var seconds = 20

        @Option(help: "Repeats the chance of an earlier run, as far as processes can be repeated.")
        var seed = UInt64.random(in: 0..<1_000_000_000)

        @Option(help: "Some of the cases, separated by commas.")
        var cases = ""

        func run() async throws {
            let names = cases.split(separator: ",").map(String.init)
            if let unknown = names.first(where: { name in !Faults.cases.contains { $0.name == name } }) {
                throw ValidationError(
                    "There is no case \"\(unknown)\"; they are \(Faults.cases.map(\.name).joined(separator: ", ")).")
            }
            // Shutting down a file system has blocked the machine's own `sync` for minutes: this case runs only by
            // name.
            let chosen = Faults.cases.filter {
                names.isEmpty ? $0.name != "shut down" : names.contains($0.name)
            }
            // A killed worker leaves a pipe that nobody reads.
            signal(SIGPIPE, SIG_IGN)
            print("seed \(seed), kills \(kills), clients \(clients), seconds \(seconds)")
            let table = FaultTable(chosen)
            print(table.head)
            fflush(nil)
            var results: [FaultResult] = []
            for one in chosen {
                let result = await result(of: one)
                results.append(result)
                for line in table.lines(result) { print(line) }
                fflush(nil)
            }
            try FaultResult.write(results, to: URL(filePath: ".build/faults.json"))
            let failed = results.filter(\.hasFailed)
            guard failed.isEmpty else {
                // Repeated at the end, because some machines keep only that part of a log.
                print("Seed \(seed), wrong in \(failed.map(\.name).joined(separator: ", ")):")
                for line in failed.flatMap(table.lines) { print(line) }
                throw ExitCode(1)
            }
        }

        private func result(of one: FaultCase) async -> FaultResult {
            var result = FaultResult(name: one.name)
            let start = ContinuousClock.now
            do {
                result.counts = try await one.run(
                    FaultSetting(kills: kills, clients: clients, seconds: seconds, seed: seed.mixed(with: one.name)))
            } catch let skipped as Skipped {
                result.skipped = skipped.reason
            } catch {
                result.counts.problems.append("The case could not be done: \(error)")
            }
            result.seconds = (ContinuousClock.now - start) / .seconds(1)
            return result
        }
    }
}
#else
@main
struct Faults {
    static func main() { print("The fault suite needs the trait Collector: swift run --traits Collector Faults") }
}
#endif
