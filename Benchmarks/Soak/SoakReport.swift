import Foundation

/// What was seen at the end of an interval.
struct SoakSample: Codable {
    var elapsedSeconds: Double
    /// Since the start.
    var events: Int
    var refused: Int
    var residentMegabytes: Double
    var fileMegabytes: Double
    /// Of `log`, in nanoseconds, in this interval; two readings of the clock are in them.
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

/// All samples, and what they say.
struct SoakReport: Codable {
    var samples: [SoakSample] = []

    /// Whether something was about the same in the last third of the run as in the third before it: caches and the
    /// quota fill in the first.
    ///
    /// - Parameters:
    ///   - growth: Allowed, as a factor.
    ///   - slack: Allowed besides, in the value's unit.
    func isFlat(_ value: (SoakSample) -> Double, growth: Double, slack: Double) -> Bool {
        let third = samples.count / 3
        guard third > 0 else { return false }
        let before = samples.dropLast(third).suffix(third).map(value).median
        let after = samples.suffix(third).map(value).median
        return after <= before * growth + slack
    }

    /// What was judged, in the words of the last lines.
    var verdicts: [(name: String, isFlat: Bool)] {
        [
            ("memory", isFlat(\.residentMegabytes, growth: 1.05, slack: 1)),
            ("file size", isFlat(\.fileMegabytes, growth: 1.05, slack: 0.5)),
            // Another process on the machine must not decide: the median of intervals, and twice as long is not flat.
            ("latency, p50", isFlat({ Double($0.p50) }, growth: 1.5, slack: 50)),
            ("latency, p99", isFlat({ Double($0.p99) }, growth: 2, slack: 500)),
            ("nothing refused", (samples.last?.refused ?? 1) == 0),
        ]
    }

    /// Prints the verdicts and writes `.build/soak.json`; whether all was flat.
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
