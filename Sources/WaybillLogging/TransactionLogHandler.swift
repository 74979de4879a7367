#if Logging
public import Logging
import Waybill
import WaybillCore

/// Records what is logged inside a transaction among its events, called `log.info`, `log.error` and so on.
///
/// The message, the logger's label and the metadata are the event's attributes, redacted and cut as all attributes are; an
/// error is the event's error. Outside any transaction nothing is recorded, and nothing is formatted. Of one part of a
/// transaction a thousand lines and spans are kept; those beyond are counted in the manager's health. What is logged while
/// a line is being recorded, e.g. by `options.willRecord`, is not recorded.
///
/// ## Usage
///
/// ```swift
/// LoggingSystem.bootstrap { label in
///     MultiplexLogHandler([StreamLogHandler.standardError(label: label), TransactionLogHandler(label: label)])
/// }
/// ```
public struct TransactionLogHandler: LogHandler {
    /// The least that is recorded. Default: `.info`.
    public var logLevel: Logger.Level
    /// What each line has; the line's own metadata wins.
    public var metadata: Logger.Metadata = [:]
    /// What is asked for more metadata with each line inside a transaction; nil: nothing. What
    /// `Logger.MetadataProvider.transaction` adds is left out, since the event is in the transaction.
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String

    /// Whether a line is being recorded here.
    @TaskLocal private static var isRecording = false

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - label: The logger's, which is the attribute `logger`.
    ///   - logLevel: The least that is recorded.
    ///   - metadataProvider: What is asked for more metadata; nil: nothing.
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

    /// Made once: each is written in every set.
    private static let names = Dictionary(
        uniqueKeysWithValues: Logger.Level.allCases.map { ($0, "log.\($0.rawValue)") })

    /// With the message, which is what the line is for, whatever else there is no room for.
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
            // A name that is taken gets one of its own, so that nothing is lost.
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
    /// How deep metadata may be nested; what is deeper is left out.
    private static let depthLimit = 8

    /// A text as it is; a list or a dictionary as JSON with its names in order, so that it is the same each time and
    /// secrets in it are redacted by name.
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
/// A log handler that records lines in transactions; needs the trait `Logging`.
@available(
    *, unavailable,
    message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Logging\"])"
)
public struct TransactionLogHandler {}
#endif
