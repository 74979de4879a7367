import Foundation

extension Comparison {
    /// Measures microseconds per request, as medians of rounds that take turns, and the median of the ratios of all
    /// rounds.
    ///
    /// - Parameters:
    ///   - requests: The number of requests in each round, of each kind.
    ///   - ways: The number of requests in progress at once.
    static func microseconds(
        requests: Int = 50, ways: Int = 1, rounds: Int = 40, of value: @escaping @Sendable () async throws -> Void,
        against baseline: @escaping @Sendable () async throws -> Void
    ) async throws -> Comparison {
        var pairs: [(value: Double, baseline: Double)] = []
        for round in -2..<rounds {
            // The two take turns in coming first.
            var pair = (value: 0.0, baseline: 0.0)
            if round % 2 == 0 { pair.value = try await time(requests, ways, value) }
            pair.baseline = try await time(requests, ways, baseline)
            if round % 2 != 0 { pair.value = try await time(requests, ways, value) }
            if round >= 0 { pairs.append(pair) }  // connections, caches, lazy globals
        }
        return Comparison(
            value: pairs.map(\.value).median, baseline: pairs.map(\.baseline).median,
            ratioOfRounds: pairs.map { $0.value / $0.baseline }.median)
    }

    private static func time(_ requests: Int, _ ways: Int, _ body: @escaping @Sendable () async throws -> Void)
        async throws -> Double
    {
        let start = ContinuousClock.now
        if ways == 1 {
            for _ in 0..<requests { try await body() }
        } else {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<ways { group.addTask { for _ in 0..<(requests / ways) { try await body() } } }
                try await group.waitForAll()
            }
        }
        return (ContinuousClock.now - start) / .microseconds(1) / Double(requests)
    }
}
