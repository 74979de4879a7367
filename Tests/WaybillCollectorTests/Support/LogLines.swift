#if Collector
import Logging
import WaybillCore

/// A log that keeps its lines.
final class LogLines: Sendable {
    private let lines = Locked<[String]>([])

    /// The message and metadata of each line, in order.
    var all: [String] { lines.withLock { $0 } }

    /// A logger that writes here.
    var logger: Logger { Logger(label: "collector", factory: { _ in Handler(lines: self) }) }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = metadata.merging(event.metadata ?? [:]) { _, new in new }.sorted { $0.key < $1.key }
            let words = ["\(event.level)", "\(event.message)"] + metadata.map { "\($0.key)=\($0.value)" }
            lines.lines.withLock { $0.append(words.joined(separator: " ")) }
        }
    }
}
#endif
