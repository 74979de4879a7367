import Foundation

/// The measurements at the end of an interval.
struct SoakSample: Codable {
    var elapsedSeconds: Double
    /// The number of events since the start.
    var events: Int
    var refused: Int
    var residentMegabytes: Double
    var fileMegabytes: Double
    /// Latencies of `log` in this interval, in nanoseconds, including two readings of the clock.
    var p50: Int
    var p99: Int
    var p999: Int
    var longest: Int

    init(
        elapsedSeconds: Double, events: Int, refused: Int, residentMegabytes: Double, fileMegabytes: Double,
        latencies: Latencies
    ) {
        self.elapsedSeconds = elapsedSeconds
        self.events = events
        self.refused = refused
        self.residentMegabytes = residentMegabytes
        self.fileMegabytes = fileMegabytes
        p50 = latencies.quantile(0.5)
        p99 = latencies.quantile(0.99)
        p999 = latencies.quantile(0.999)
        longest = latencies.quantile(1)
    }

    static let head = "      s    events  refused   MB in memory  MB in files   ns: p50      p99    p99.9   longest"

    var line: String {
        String(
            format: "%7.0f %9d %8d %14.1f %12.2f %9d %8d %8d %9d", elapsedSeconds, events, refused, residentMegabytes,
            fileMegabytes, p50,
            p99, p999, longest)
    }
}

/// All samples and their verdicts.
struct SoakReport: Codable {
    var samples: [SoakSample] = []

    /// Whether a value was about the same in the last third of the run as in the second third. Caches and the quota
    /// fill in the first third.
    ///
    /// - Parameters:
    ///   - growth: The allowed factor.
    ///   - slack: The allowed difference on top of it, in the value's unit.
    func isFlat(_ value: (SoakSample) -> Double, growth: Double, slack: Double) -> Bool {
        let third = samples.count / 3
        guard third > 0 else { return false }
        let before = samples.dropLast(third).suffix(third).map(value).median
        let after = samples.suffix(third).map(value).median
        return after <= before * growth + slack
    }

    /// The verdicts, in the words of the last lines.
    var verdicts: [(name: String, isFlat: Bool)] {
        [
            ("memory", isFlat(\.residentMegabytes, growth: 1.05, slack: 1)),
            ("file size", isFlat(\.fileMegabytes, growth: 1.05, slack: 0.5)),
            // Medians of intervals, because another process on the machine must not decide. Twice as long is not flat.
            ("latency, p50", isFlat({ Double($0.p50) }, growth: 1.5, slack: 50)),
            ("latency, p99", isFlat({ Double($0.p99) }, growth: 2, slack: 500)),
            ("nothing refused", (samples.last?.refused ?? 1) == 0),
        ]
    }

    /// Prints the verdicts, writes `.build/soak.json`, and returns whether all were flat.
    func finish(at file: URL = URL(filePath: ".build/soak.json")) throws -> Bool {
        struct Written: Encodable {
            var samples: [SoakSample]
            var verdicts: [String: Bool]
        }
        for verdict in verdicts {
            print("\(verdict.isFlat ? "✔" : "✘") \(verdict.name)\(verdict.isFlat ? "" : ": NOT FLAT")")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let written = Written(
            samples: samples, verdicts: Dictionary(uniqueKeysWithValues: verdicts.map { ($0.name, $0.isFlat) }))
        try encoder.encode(written).write(to: file, options: .atomic)
        return verdicts.allSatisfy(\.isFlat)
    }
}
