#if Collector
/// Numbers in the text format that Prometheus reads, version 0.0.4
/// (prometheus.io/docs/instrumenting/exposition_formats).
struct MetricsText {
    static let mediaType = "text/plain; version=0.0.4"

    private(set) var text = ""

    enum Kind: String { case counter, gauge }

    /// A number, and what tells it from others of its name.
    struct Sample {
        var labels: KeyValuePairs<String, String>
        var value: Int

        init(_ labels: KeyValuePairs<String, String>, _ value: Int) {
            self.labels = labels
            self.value = value
        }
    }

    /// Adds a metric with its help, and a line for each sample.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            text += labels.isEmpty ? "\(name) \(sample.value)\n" : "\(name){\(labels)} \(sample.value)\n"
        }
    }

    /// Adds a metric that has no labels.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        add(name, kind, help, [Sample([:], value)])
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
#endif
