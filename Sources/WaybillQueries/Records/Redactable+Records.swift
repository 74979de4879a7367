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
            // One by one: each is looked at as what it is, and not as a string in a record.
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

/// Names, reasons and samples.
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

/// Rows, and what is said about them.
extension RecordPage: Redactable where Row: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var page = self
        page.rows = rows.redacted(by: redactor)
        page.whyEmpty = whyEmpty.redacted(by: redactor)
        page.note = note.redacted(by: redactor)
        return page
    }
}

// Records keep whole microseconds, as rows and JSON have them; these are the same as dates and durations.

extension TransactionSummary {
    /// When it began.
    public var begun: Date { Date(microseconds: begunMicroseconds) }
    /// From opening to closing; nil while there is no closing.
    public var duration: Duration? { durationMicroseconds.map { .microseconds($0) } }
    /// The sampling rate of its use case, from 0 to 1; `nil` if every transaction is delivered.
    public var samplingRate: Double? { sampling.map { Double($0.perMillion) / 1_000_000 } }

    /// Makes a summary.
    package init(
        id: GUID, useCase: Int, useCaseName: String, outcome: TransactionOutcome, begun: Date, duration: Duration?,
        error: RecordedError? = nil, attributes: Attributes = [:], sourceCount: Int, eventCount: Int,
        exchangeCount: Int,
        isWaitingForBeginner: Bool = false, endedBy: SourceEnd? = nil,
        parent: GUID? = nil, parentPart: FactID? = nil, children: Children? = nil, sampling: Fact.Sampling? = nil
    ) {
        self.init(
            id: id, useCase: useCase, useCaseName: useCaseName, outcome: outcome, begunMicroseconds: begun.microseconds,
            durationMicroseconds: duration?.microseconds, error: error, attributes: attributes,
            sourceCount: sourceCount,
            eventCount: eventCount, exchangeCount: exchangeCount, isWaitingForBeginner: isWaitingForBeginner,
            endedBy: endedBy, parent: parent, parentPart: parentPart, children: children, sampling: sampling)
    }
}

extension TransactionRecord.Part {
    /// When it was begun or joined.
    public var opened: Date { Date(microseconds: openedMicroseconds) }
    /// When it was closed; nil where it was not.
    public var closed: Date? { closedMicroseconds.map { Date(microseconds: $0) } }
    /// Microseconds from its opening to its closing, by its source's own clock; `nil` where it was not closed.
    package var durationMicroseconds: Int64? { closedMicroseconds?.subtracting(openedMicroseconds) }
}

extension TransactionRecord.Entry {
    /// When it happened, by its source's clock anchors.
    public var time: Date { Date(microseconds: timeMicroseconds) }
}

extension TransactionRecord.Exchange {
    /// When it was opened.
    public var opened: Date { Date(microseconds: openedMicroseconds) }
    /// When the request's last byte was handed over; nil where it was not measured.
    public var sent: Date? { transfer.sentAtMicroseconds.map { Date(microseconds: $0) } }
    /// When the head of the response came; nil where it was not measured.
    public var firstByte: Date? { firstByteMicroseconds.map { Date(microseconds: $0) } }
    /// When it was closed; nil while it is in progress.
    public var closed: Date? { closedMicroseconds.map { Date(microseconds: $0) } }
    /// The version of HTTP, e.g. `1.1` or `2`; `nil` if the platform does not report it.
    public var httpVersion: String? { transfer.httpVersion }
    /// Bytes of the response's body before decompression; `nil` if unknown.
    public var receivedWireByteCount: Int64? { transfer.receivedWireByteCount }
    /// Whether it used an existing connection; `nil` if the platform does not report it.
    public var isConnectionReused: Bool? { transfer.isConnectionReused }
    /// How long the steps before the request took; `nil` for a step that was skipped or not measured.
    public var phases: (lookup: Duration?, connect: Duration?, tls: Duration?) {
        let phases = transfer.phases
        return (
            phases.lookupMicroseconds.map { .microseconds($0) }, phases.connectMicroseconds.map { .microseconds($0) },
            phases.secureMicroseconds.map { .microseconds($0) }
        )
    }
    /// The redirects that were followed, in order: the status and the redacted URL of each.
    public var redirects: [(status: Int, url: String)] { transfer.redirects.map { ($0.status, $0.url) } }
    /// Whether a rule answered it, or failed it, and no server was asked.
    public var isMocked: Bool { transfer.isMocked }
    /// The name of the rule that answered, failed or slowed it down; `nil` if none did.
    public var rule: String? { transfer.rule }
    /// The messages of a WebSocket and its close code (RFC 6455, section 7.4); `nil` for other exchanges.
    public var webSocket: (sentCount: Int64, receivedCount: Int64, closeCode: Int?)? {
        transfer.webSocket.map { ($0.sentMessageCount, $0.receivedMessageCount, $0.closeCode) }
    }
    /// Microseconds from its opening to its closing, by its source's own clock; `nil` while it is in progress.
    package var durationMicroseconds: Int64? { closedMicroseconds?.subtracting(openedMicroseconds) }
}

extension SourceRecord {
    /// When it started; nil where no clock anchor is known.
    public var started: Date? { startedMicroseconds.map { Date(microseconds: $0) } }
    /// When a set of it last arrived; nil for a source that recorded into this very store.
    public var heard: Date? { heardMicroseconds.map { Date(microseconds: $0) } }
}

extension ClockAlignment.Offset {
    /// What to add to its times: negative where its clock is ahead.
    public var duration: Duration { .microseconds(microseconds) }
    /// By how much that may be too much or too little.
    public var uncertainty: Duration { .microseconds(uncertaintyMicroseconds) }
}

extension DeliveryState.QuarantineGroup {
    /// When the first was rejected.
    public var firstRejected: Date { Date(microseconds: firstMicroseconds) }
    /// When the last was rejected.
    public var lastRejected: Date { Date(microseconds: lastMicroseconds) }
}

extension DeliveryState.Hour {
    /// When it begins.
    public var begin: Date { Date(microseconds: beginMicroseconds) }
}
