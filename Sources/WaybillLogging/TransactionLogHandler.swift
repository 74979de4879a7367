#if Logging
public import Logging
import Waybill
import WaybillCore

/// A log handler that records lines as events of the current transaction, named `log.info`, `log.error` and so on.
///
/// The message, the logger's label and the metadata become attributes, and an error becomes the event's error. Outside
/// any transaction, the handler does nothing. It also ignores lines that are logged while it records one, e.g. by
/// `options.willRecord`. A part keeps a thousand lines and spans, and the manager's health counts the others.
///
/// ## Usage
///
/// ```swift
/// LoggingSystem.bootstrap { label in
///     MultiplexLogHandler([StreamLogHandler.standardError(label: label), TransactionLogHandler(label: label)])
/// }
/// ```
public struct TransactionLogHandler: LogHandler {
    /// The lowest recorded level. Default: `.info`.
    public var logLevel: Logger.Level
    /// The metadata of all lines. A line's own metadata has precedence.
    public var metadata: Logger.Metadata = [:]
    /// The provider of further metadata inside transactions; `nil` for none.
    ///
    /// The handler omits what `Logger.MetadataProvider.transaction` adds, because the event has the transaction.
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String

    @TaskLocal private static var isRecording = false

    /// Creates a handler.
    ///
    /// - Parameters:
    ///   - label: The logger's label, recorded as the attribute `logger`.
    ///   - logLevel: The lowest recorded level.
    ///   - metadataProvider: The provider of further metadata; `nil` for none.
    public init(label: String, logLevel: Logger.Level = .info, metadataProvider: Logger.MetadataProvider? = nil) {
        (self.label, self.logLevel, self.metadataProvider) = (label, logLevel, metadataProvider)
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        guard !Self.isRecording, let part = TransactionScope.current?.part else { return }
        Self.$isRecording.withValue(true) {
            part.report(Self.names[event.level] ?? "log", error: event.error, attributes: attributes(of: event, part))
        }
    }

    private static let names = Dictionary(
        uniqueKeysWithValues: Logger.Level.allCases.map { ($0, "log.\($0.rawValue)") })

    /// Includes the message even if there is no room for all metadata.
    private func attributes(of event: LogEvent, _ part: OpenPart) -> Attributes {
        var attributes: Attributes = ["message": "\(event.message)", "logger": label]
        var all = metadata
        if let metadataProvider {
            all.merge(metadataProvider.get().filter { !Self.isOurs($0.key) }) { $1 }
        }
        if let own = event.metadata { all.merge(own.filter { !Self.isOurs($0.key) }) { $1 } }
        guard !all.isEmpty else { return attributes }
        let room = Limits.attributes - attributes.count
        let names = all.keys.sorted()
        for name in names.prefix(room) {
            guard let value = all[name] else { continue }
            // A prefix avoids replacing an attribute of the same name.
            attributes[attributes[name] == nil ? name : "metadata.\(name)"] = .string(value.recordedText)
        }
        if names.count > room { part.source?.counters.add(names.count - room, to: \.truncated) }
        return attributes
    }

    private static func isOurs(_ name: String) -> Bool {
        name == Logger.MetadataProvider.transactionName || name == Logger.MetadataProvider.supportCodeName
    }
}

extension Logger.MetadataValue {
    private static let depthLimit = 8

    /// The text, or JSON for lists and dictionaries. It is deterministic, and redaction by name works in it.
    fileprivate var recordedText: String {
        switch self {
        case .string(let text): return text
        case .stringConvertible(let value): return "\(value)"
        case .array, .dictionary:
            var writer = JSONWriter()
            write(to: &writer, depth: 0)
            return writer.text
        }
    }

    private func write(to writer: inout JSONWriter, depth: Int) {
        switch self {
        case .string, .stringConvertible: writer.string(recordedText)
        case .array where depth == Self.depthLimit, .dictionary where depth == Self.depthLimit: writer.string("…")
        case .array(let values):
            writer.beginArray()
            for value in values { value.write(to: &writer, depth: depth + 1) }
            writer.endArray()
        case .dictionary(let members):
            writer.beginObject()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.key(name)
                value.write(to: &writer, depth: depth + 1)
            }
            writer.endObject()
        }
    }
}
#else
/// A log handler that records lines in transactions. It requires the trait `Logging`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Logging\"])"
)
public struct TransactionLogHandler {}
#endif
