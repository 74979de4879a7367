/// A line of the table: something measured beside what it is compared with.
struct Row: Sendable {
    /// What `--rows` calls it.
    var name: String
    /// Of both values.
    var unit: String
    /// What it is compared with, in a few words.
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

/// What was measured, and what it is compared with, under the same conditions.
struct Comparison: Sendable {
    var value: Double
    var baseline: Double
    /// The median of the rounds' own ratios; nil: that of the two values.
    var ratioOfRounds: Double?

    /// Nanoseconds per operation, as medians of rounds that take turns, so that whatever else the machine does meets
    /// both alike.
    ///
    /// - Parameter prepare: Not measured, before each round.
    ///
    /// Both closures do `operations` operations and return something that depends on their work, so that it cannot be
    /// optimized away.
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
    /// The middle one, or the mean of the middle two; 0 for none.
    var median: Double {
        guard !isEmpty else { return 0 }
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
