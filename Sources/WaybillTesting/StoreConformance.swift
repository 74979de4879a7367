/// Tries a store out: whether it keeps and answers what it is given.
///
/// It plays generated histories into an empty store and into a naive one in memory, which looks at every fact for every
/// answer, and compares the two, call by call. In the histories sources overlap, repeat and contradict themselves, their
/// clocks differ, facts are dropped or never arrive, and meanwhile some of it is erased or retired.
///
/// ## Usage
///
/// ```swift
/// let findings = await StoreConformance { try MyStore() }.findings()
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
    private let makeStore: @Sendable () async throws -> any StoreUnderTest

    /// Makes a trial.
    ///
    /// - Parameters:
    ///   - seeds: A history for each. Default: 40, which take some seconds.
    ///   - makeStore: Gives an empty store each time.
    package init(seeds: Range<Int> = 0..<40, makeStore: @escaping @Sendable () async throws -> any StoreUnderTest) {
        self.seeds = seeds
        self.makeStore = makeStore
    }

    /// Plays all histories, one after the other.
    ///
    /// - Returns: The first finding of each history, since what follows is mostly its consequence; empty: none.
    package func findings() async -> [Finding] {
        var findings: [Finding] = []
        for seed in seeds {
            do throws(Finding) {
                try await finding(seed)
            } catch {
                findings.append(error)
            }
        }
        return findings
    }

    private func finding(_ seed: Int) async throws(Finding) {
        let store: any StoreUnderTest
        do { store = try await makeStore() } catch {
            throw Finding(seed: seed, call: "making the store", detail: "it failed: \(error)")
        }
        var trial = StoreTrial(seed: seed, store: store)
        try await trial.run()
    }
}
