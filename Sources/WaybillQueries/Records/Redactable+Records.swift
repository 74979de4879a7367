public import Foundation
public import WaybillCore
import WaybillStore

extension TransactionRecord: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var record = self
        record.summary = summary.redacted(by: redactor)
        record.sources = sources.redacted(by: redactor)
        for index in record.parts.indices {
            record.parts[index].error = parts[index].error.map(redactor.error)
            record.parts[index].attributes = redactor.attributes(parts[index].attributes).0
        }
        for index in record.timeline.indices {
            record.timeline[index].label = redactor.text(timeline[index].label)
            record.timeline[index].error = timeline[index].error.map(redactor.error)
            record.timeline[index].attributes = redactor.attributes(timeline[index].attributes).0
        }
        record.exchanges = exchanges.redacted(by: redactor)
        record.family?.above = family?.above.redacted(by: redactor) ?? []
        record.family?.below = family?.below.redacted(by: redactor) ?? []
        return record
    }
}

extension TransactionSummary: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var summary = self
        summary.useCaseName = redactor.text(useCaseName)
        summary.error = error.map(redactor.error)
        summary.attributes = redactor.attributes(attributes).0
        return summary
    }
}

extension ExchangeRecord: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var record = self
        record.exchange = exchange.redacted(by: redactor)
        record.source = source.redacted(by: redactor)
        record.useCaseName = useCaseName.redacted(by: redactor)
        return record
    }
}

extension ExchangeBodies: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        ExchangeBodies(request: request.redacted(by: redactor), response: response.redacted(by: redactor))
    }
}

extension ExchangeBody: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var body = self
        body.contentType = contentType.redacted(by: redactor)
        guard contentType != KeptMessage.contentType else {
            // Each message is redacted by its own type, not as a string in a record.
            body.bytes = KeptMessage.messages(in: self).flatMap { message in
                var message = message
                message.bytes = redactor.body(
                    message.bytes, contentType: message.isText ? "text/plain" : "application/octet-stream",
                    keepsBinary: true)
                return message.record
            }
            return body
        }
        body.bytes = redactor.body(bytes, contentType: body.contentType, keepsBinary: true)
        return body
    }
}

extension TransactionRecord.Source: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        Self(
            id: id, app: redactor.text(app), appVersion: redactor.text(appVersion), device: redactor.text(device),
            os: redactor.text(os),
            osVersion: redactor.text(osVersion), endedBy: endedBy)
    }
}

extension TransactionRecord.Exchange: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var exchange = self
        exchange.method = redactor.text(method)
        exchange.url = redactor.wholeURL(url)
        exchange.requestHeaderFields = redactor.headerFields(requestHeaderFields)
        exchange.responseHeaderFields = redactor.headerFields(responseHeaderFields)
        exchange.error = error.map(redactor.error)
        exchange.transfer = redactor.transfer(transfer)
        return exchange
    }
}

extension SourceRecord: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var record = self
        record.app = redactor.text(app)
        record.appVersion = redactor.text(appVersion)
        record.device = redactor.text(device)
        record.os = redactor.text(os)
        record.osVersion = redactor.text(osVersion)
        record.attributes = redactor.attributes(attributes).0
        return record
    }
}

extension DeliveryState: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var state = self
        if var own {
            own.settled = own.settled.redacted(by: redactor)
            for index in own.totals.indices { own.totals[index].app = redactor.text(own.totals[index].app) }
            state.own = own
        }
        for index in state.quarantine.indices {
            state.quarantine[index].app = redactor.text(quarantine[index].app)
            state.quarantine[index].reason = redactor.text(quarantine[index].reason)
            state.quarantine[index].sample = quarantine[index].sample.redacted(by: redactor)
        }
        for index in state.legacyQuarantine.indices {
            let entry = legacyQuarantine[index]
            state.legacyQuarantine[index].reason = redactor.text(entry.reason)
            state.legacyQuarantine[index].json = String(
                decoding: redactor.body(Array(entry.json.utf8), contentType: "application/json"), as: UTF8.self)
        }
        return state
    }
}

extension NameConflict: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var conflict = self
        conflict.names = names.map { use in
            var use = use
            use.name = redactor.text(use.name)
            use.app = redactor.text(use.app)
            use.versions = use.versions.redacted(by: redactor)
            return use
        }
        return conflict
    }
}

extension RecordPage: Redactable where Row: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var page = self
        page.rows = rows.redacted(by: redactor)
        page.whyEmpty = whyEmpty.redacted(by: redactor)
        page.note = note.redacted(by: redactor)
        return page
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
