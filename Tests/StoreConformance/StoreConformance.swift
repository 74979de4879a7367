package import WaybillCore
package import WaybillExport
import WaybillQueries
package import WaybillTesting

/// Tries a store out, by the port that collectors, pages and commands use: whether it keeps what it is given.
///
/// It plays generated histories into an empty store and into a ``NaiveStore``, which looks at every fact for every
/// answer, and compares the two, call by call. In the histories sources overlap, repeat and contradict themselves,
/// their clocks differ, facts are dropped or never arrive, and meanwhile some of it is erased or retired.
///
/// What a store leaves to its operator, and refuses with `.setting`, is left out; of a store that pages can be made of,
/// also that is compared which only pages show.
///
/// ## Usage
///
/// ```swift
/// let findings = await StoreConformance { clock in try MyStore(clock: clock) }.findings()
/// XCTAssert(findings.isEmpty, "\(findings)")
/// ```
package struct StoreConformance: Sendable {
    /// A call that gave something else than it should.
    package struct Finding: Error, Sendable, Hashable, CustomStringConvertible {
        /// Makes the same history again.
        package var seed: Int
        /// What was asked, and after which step.
        package var call: String
        /// The first difference.
        package var detail: String

        package var description: String { "Seed \(seed), \(call): \(detail)" }
    }

    private let seeds: Range<Int>
    private let clock: ManualClock
    private let rounds: Int
    private let makeStore: @Sendable (any TransactionClock) async throws -> any ExportingStore

    /// Makes a trial.
    ///
    /// - Parameters:
    ///   - seeds: A history for each. Default: 40, which take some seconds.
    ///   - clock: Set before each step. Give that of the store where the store is there already, e.g. a server's.
    ///   - rounds: How often questions of each kind are asked after a step. Default: once.
    ///   - makeStore: Gives an empty store each time, which goes by this clock.
    package init(
        seeds: Range<Int> = 0..<40, clock: ManualClock = ManualClock(), rounds: Int = 1,
        makeStore: @escaping @Sendable (any TransactionClock) async throws -> any ExportingStore
    ) {
        self.seeds = seeds
        self.clock = clock
        self.rounds = rounds
        self.makeStore = makeStore
    }

    /// Plays all histories, one after the other.
    ///
    /// - Returns: The first finding of each history, since what follows is mostly its consequence; empty: none.
    package func findings() async -> [Finding] { await trial().findings }

    /// Plays all histories, and counts the questions whose answers were compared.
    package func trial() async -> (findings: [Finding], questionCount: Int) {
        var (findings, questionCount) = ([Finding](), 0)
        for seed in seeds {
            do throws(Finding) {
                questionCount += try await play(seed)
            } catch {
                findings.append(error)
            }
        }
        return (findings, questionCount)
    }

    private func play(_ seed: Int) async throws(Finding) -> Int {
        let store: any ExportingStore
        do { store = try await makeStore(clock) } catch {
            throw Finding(seed: seed, call: "making the store", detail: "it failed: \(error)")
        }
        var trial = StoreTrial(seed: seed, store: store, clock: clock, rounds: rounds)
        try await trial.run()
        return trial.questionCount
    }
}
