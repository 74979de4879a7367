#if canImport(Darwin)
import WaybillCore
import os

/// Shows transactions, exchanges and events in Instruments, and writes diagnostics and events to the system's log.
///
/// Names and codes are public there. Attributes are private.
enum SystemLog {
    /// Signposts of this category are on only while Instruments records, so they cost nothing in production.
    private static let signposter = OSSignposter(logHandle: OSLog(subsystem: "Waybill", category: .dynamicTracing))
    private static let diagnostics = Logger(subsystem: "Waybill", category: "diagnostics")
    private static let events = Logger(subsystem: "Waybill", category: "events")

    static func tell(_ diagnostic: String) { diagnostics.notice("\(diagnostic, privacy: .public)") }

    static func began(_ useCase: Int, _ sequence: Int64, in source: SourceRecorder) {
        guard signposter.isEnabled, sequence > 0 else { return }
        _ = signposter.beginInterval(
            "transaction", id: id(sequence, source), "\(source.name(of: useCase), privacy: .public)")
    }

    static func ended(_ sequence: Int64, as outcome: TransactionOutcome, in source: SourceRecorder) {
        guard signposter.isEnabled, sequence > 0 else { return }
        signposter.endInterval(
            "transaction", .beginState(id: id(sequence, source)), "\(outcome.name, privacy: .public)")
    }

    static func began(_ request: Fact.ExchangeOpened, _ sequence: Int64, in source: SourceRecorder) {
        guard signposter.isEnabled, sequence > 0 else { return }
        _ = signposter.beginInterval(
            "exchange", id: id(sequence, source),
            "\(request.method, privacy: .public) \(request.host ?? "", privacy: .public)\(request.path, privacy: .private)"
        )
    }

    static func ended(_ exchange: Fact.ExchangeClosed, in source: SourceRecorder) {
        guard signposter.isEnabled else { return }
        signposter.endInterval(
            "exchange", .beginState(id: id(exchange.exchange, source)), "\(exchange.status ?? 0, privacy: .public)")
    }

    static func logged(
        _ code: Int, _ attributes: Attributes = [:], in useCase: Int, _ sequence: Int64, of source: SourceRecorder
    ) {
        let isMirrored = source.settings.options.mirrorsEvents
        guard isMirrored || signposter.isEnabled else { return }
        let (useCaseName, name) = source.names(of: code, in: useCase)
        signposter.emitEvent(
            "event", id: id(sequence, source), "\(useCaseName, privacy: .public): \(name, privacy: .public)")
        guard isMirrored else { return }
        events.notice(
            """
            \(useCaseName, privacy: .public) (\(useCase, privacy: .public)): \(name, privacy: .public) \
            (\(code, privacy: .public)) \(attributes.isEmpty ? "" : "\(attributes)", privacy: .private)
            """)
    }

    /// Two managers of a process may have the same sequences.
    private static func id(_ sequence: Int64, _ source: SourceRecorder) -> OSSignpostID {
        OSSignpostID(source.id.low ^ UInt64(sequence))
    }
}

extension SourceRecorder {
    fileprivate func names(of event: Int, in useCase: Int) -> (useCase: String, event: String) {
        (name(of: useCase), useCases.name(of: event, in: useCase) ?? "event \(event)")
    }
}
#endif
