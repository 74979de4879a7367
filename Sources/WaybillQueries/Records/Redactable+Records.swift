public import Foundation
public import WaybillCore
import WaybillStore

extension TransactionRecord: Redactable {
    package mutating func redact(by redactor: Redactor) {
        summary.redact(by: redactor)
        sources.redact(by: redactor)
        for index in parts.indices {
            parts[index].error.redact(by: redactor)
            parts[index].attributes.redact(by: redactor)
        }
        for index in timeline.indices {
            timeline[index].label.redact(by: redactor)
            timeline[index].error.redact(by: redactor)
            timeline[index].attributes.redact(by: redactor)
        }
        exchanges.redact(by: redactor)
        family?.above.redact(by: redactor)
        family?.below.redact(by: redactor)
    }
}

extension TransactionSummary: Redactable {
    package mutating func redact(by redactor: Redactor) {
        useCaseName.redact(by: redactor)
        error.redact(by: redactor)
        attributes.redact(by: redactor)
    }
}

extension ExchangeRecord: Redactable {
    package mutating func redact(by redactor: Redactor) {
        exchange.redact(by: redactor)
        source.redact(by: redactor)
        useCaseName.redact(by: redactor)
    }
}

extension ExchangeBodies: Redactable {
    package mutating func redact(by redactor: Redactor) {
        request.redact(by: redactor)
        response.redact(by: redactor)
    }
}

extension ExchangeBody: Redactable {
    package mutating func redact(by redactor: Redactor) {
        let hasMessages = contentType == KeptMessage.contentType
        if hasMessages {
            // Each message is redacted by its own type, not as a string in a record.
            bytes = KeptMessage.messages(in: self).flatMap { message in
                var message = message
                message.bytes = redactor.body(
                    message.bytes, contentType: message.isText ? "text/plain" : "application/octet-stream",
                    keepsBinary: true)
                return message.record
            }
        }
        contentType.redact(by: redactor)
        if !hasMessages { bytes = redactor.body(bytes, contentType: contentType, keepsBinary: true) }
    }
}

extension TransactionRecord.Source: Redactable {
    package mutating func redact(by redactor: Redactor) {
        app.redact(by: redactor)
        appVersion.redact(by: redactor)
        device.redact(by: redactor)
        os.redact(by: redactor)
        osVersion.redact(by: redactor)
    }
}

extension TransactionRecord.Exchange: Redactable {
    package mutating func redact(by redactor: Redactor) {
        method.redact(by: redactor)
        url = redactor.wholeURL(url)
        requestHeaderFields = redactor.headerFields(requestHeaderFields)
        responseHeaderFields = redactor.headerFields(responseHeaderFields)
        error.redact(by: redactor)
        transfer.redact(by: redactor)
    }
}

extension SourceRecord: Redactable {
    package mutating func redact(by redactor: Redactor) {
        app.redact(by: redactor)
        appVersion.redact(by: redactor)
        device.redact(by: redactor)
        os.redact(by: redactor)
        osVersion.redact(by: redactor)
        attributes.redact(by: redactor)
    }
}

extension DeliveryState: Redactable {
    package mutating func redact(by redactor: Redactor) {
        own?.settled.redact(by: redactor)
        own?.totals.redact(by: redactor)
        for index in quarantine.indices {
            quarantine[index].app.redact(by: redactor)
            quarantine[index].reason.redact(by: redactor)
            quarantine[index].sample.redact(by: redactor)
        }
        for index in legacyQuarantine.indices {
            legacyQuarantine[index].reason.redact(by: redactor)
            let json = redactor.body(Array(legacyQuarantine[index].json.utf8), contentType: "application/json")
            legacyQuarantine[index].json = String(decoding: json, as: UTF8.self)
        }
    }
}

extension NameConflict: Redactable {
    package mutating func redact(by redactor: Redactor) {
        for index in names.indices {
            names[index].name.redact(by: redactor)
            names[index].app.redact(by: redactor)
            names[index].versions.redact(by: redactor)
        }
    }
}

extension RecordPage: Redactable where Row: Redactable {
    package mutating func redact(by redactor: Redactor) {
        rows.redact(by: redactor)
        whyEmpty.redact(by: redactor)
        note.redact(by: redactor)
    }
}

// Records keep whole microseconds, as rows and JSON do. These properties convert them to dates and durations.

extension TransactionSummary {
    /// The begin time.
    public var begun: Date { Date(microseconds: begunMicroseconds) }
    /// The time from opening to closing; `nil` while the transaction is open.
    public var duration: Duration? { durationMicroseconds.map { .microseconds($0) } }
    /// The sampling rate of its use case, from 0 to 1; `nil` if every transaction is delivered.
    public var samplingRate: Double? { sampling.map { Double($0.perMillion) / 1_000_000 } }
}

extension TransactionRecord.Part {
    /// The time when it was begun or joined.
    public var opened: Date { Date(microseconds: openedMicroseconds) }
    /// The time when it was closed; `nil` while it is open.
    public var closed: Date? { closedMicroseconds.map { Date(microseconds: $0) } }
    package var durationMicroseconds: Int64? { closedMicroseconds?.subtracting(openedMicroseconds) }
}

extension TransactionRecord.Entry {
    /// The time of the entry, by its source's clock anchors.
    public var time: Date { Date(microseconds: timeMicroseconds) }
}

extension TransactionRecord.Exchange {
    /// The time when it was opened.
    public var opened: Date { Date(microseconds: openedMicroseconds) }
    /// The time when the request's last byte was handed over; `nil` if it was not measured.
    public var sent: Date? { transfer.sentAtMicroseconds.map { Date(microseconds: $0) } }
    /// The time when the head of the response arrived; `nil` if it was not measured.
    public var firstByte: Date? { firstByteMicroseconds.map { Date(microseconds: $0) } }
    /// The time when it was closed; `nil` while it is in progress.
    public var closed: Date? { closedMicroseconds.map { Date(microseconds: $0) } }
    /// The HTTP version, e.g. `1.1` or `2`; `nil` if the platform does not report it.
    public var httpVersion: String? { transfer.httpVersion }
    /// The bytes of the response body before decompression; `nil` if unknown.
    public var receivedWireByteCount: Int64? { transfer.receivedWireByteCount }
    /// Whether it used an existing connection; `nil` if the platform does not report it.
    public var isConnectionReused: Bool? { transfer.isConnectionReused }
    /// The durations of the steps before the request; `nil` for a step that was skipped or not measured.
    public var phases: (lookup: Duration?, connect: Duration?, tls: Duration?) {
        let phases = transfer.phases
        return (
            phases.lookupMicroseconds.map { .microseconds($0) }, phases.connectMicroseconds.map { .microseconds($0) },
            phases.secureMicroseconds.map { .microseconds($0) }
        )
    }
    /// The followed redirects in order, with status and redacted URL.
    public var redirects: [(status: Int, url: String)] { transfer.redirects.map { ($0.status, $0.url) } }
    /// Whether a rule answered or failed it without a server.
    public var isMocked: Bool { transfer.isMocked }
    /// The name of the rule that answered, failed or delayed it; `nil` without one.
    public var rule: String? { transfer.rule }
    /// The message counts and close code of a WebSocket (RFC 6455, section 7.4); `nil` for other exchanges.
    public var webSocket: (sentCount: Int64, receivedCount: Int64, closeCode: Int?)? {
        transfer.webSocket.map { ($0.sentMessageCount, $0.receivedMessageCount, $0.closeCode) }
    }
    package var durationMicroseconds: Int64? { closedMicroseconds?.subtracting(openedMicroseconds) }
}

extension SourceRecord {
    /// The start of the source; `nil` without a clock anchor.
    public var started: Date? { startedMicroseconds.map { Date(microseconds: $0) } }
    /// The last arrival of a set; `nil` for the store's own sources.
    public var heard: Date? { heardMicroseconds.map { Date(microseconds: $0) } }
}

extension ClockAlignment.Offset {
    /// The duration to add to its times. Negative if its clock is ahead.
    public var duration: Duration { .microseconds(microseconds) }
    /// The largest error of ``duration``.
    public var uncertainty: Duration { .microseconds(uncertaintyMicroseconds) }
}
