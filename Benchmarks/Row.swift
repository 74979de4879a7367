/// A line of the table: a measurement and its baseline.
struct Row: Sendable {
    /// The name for `--rows`.
    var name: String
    /// The unit of both values.
    var unit: String
    /// The name of the baseline, in a few words.
    var baseline: String
    var measure: @Sendable () async throws -> Comparison

    init(
        _ name: String, unit: String, against baseline: String,
        measure: @escaping @Sendable () async throws -> Comparison
    ) {
        self.name = name
        self.unit = unit
        self.baseline = baseline
        self.measure = measure
    }
}

/// A measurement and its baseline, under the same conditions.
struct Comparison: Sendable {
    var value: Double
    var baseline: Double
    /// The median of the ratios of all rounds; `nil` to use the ratio of the two values.
    var ratioOfRounds: Double?

    /// Measures nanoseconds per operation, as medians of rounds that take turns. Any other work of the machine affects
    /// both alike.
    ///
    /// - Parameter prepare: Runs before each round and is not measured.
    ///
    /// Both closures do `operations` operations and return something that depends on their work, which keeps the
    /// compiler from optimizing it away.
    static func nanoseconds(
        operations: Int, rounds: Int = 15, before prepare: () throws -> Void = {}, of value: () throws -> Int,
        against baseline: () throws -> Int
    ) rethrows -> Comparison {
        var values: [Double] = []
        var baselines: [Double] = []
        for round in -1..<rounds {
            try prepare()
            let first = try time(value)
            let second = try time(baseline)
            guard round >= 0 else { continue }  // caches, lazy globals, page faults
            values.append(first / Double(operations))
            baselines.append(second / Double(operations))
        }
        return Comparison(value: values.median, baseline: baselines.median)
    }

    private static func time(_ body: () throws -> Int) rethrows -> Double {
        let start = ContinuousClock.now
        keep(try body())
        return (ContinuousClock.now - start) / .nanoseconds(1)
    }
}

/// Makes the optimizer believe that a value is needed.
@inline(never)
private func keep(_ value: Int) {
    withUnsafeMutablePointer(to: &kept) { $0.pointee &+= value }
}

// Written by one thread at a time, never read for its value.
nonisolated(unsafe) private var kept = 0

extension [Double] {
    /// The middle value, or the mean of the middle two; 0 if the array is empty.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
