package import WaybillCore
package import WaybillExport
import WaybillQueries
package import WaybillTesting

/// Tests through the port of collectors, pages and commands whether a store keeps the facts that it receives.
///
/// It plays generated histories into an empty store and into a ``NaiveStore``, which examines every fact for every
/// answer, and compares the two, call by call. In the histories, sources overlap, repeat and contradict themselves, and
/// their clocks differ. Facts are dropped or never arrive, and meanwhile some are erased or retired.
///
/// Calls that a store leaves to its operator, and refuses with `.setting`, are left out. If pages can show the store,
/// the calls that only pages use are compared, too.
///
/// ## Usage
///
/// ```swift
/// let findings = await StoreConformance { clock in try MyStore(clock: clock) }.findings()
/// XCTAssert(findings.isEmpty, "\(findings)")
/// ```
package struct StoreConformance: Sendable {
    /// A call with an unexpected result.
    package struct Finding: Error, Sendable, Hashable, CustomStringConvertible {
        /// The seed that makes the same history again.
        package var seed: Int
        /// The call, and the step that it followed.
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
    ///   - seeds: One history for each. Default: 40, which take some seconds.
    ///   - clock: Set before each step. Pass the store's clock if the store exists already, e.g. on a server.
    ///   - rounds: How often questions of each kind are asked after a step. Default: once.
    ///   - makeStore: Returns a new, empty store each time, which uses this clock.
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
    /// - Returns: The first finding of each history, since later ones are mostly its consequence; empty if there are
    ///   none.
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
