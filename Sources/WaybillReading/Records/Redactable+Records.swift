package import WaybillCore
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
