package import WaybillCore
import WaybillStore

/// Redacts what was stored once more, before it leaves the device: rules may have been added since it was captured, and
/// what a collector received was redacted elsewhere.
extension Redactor {
    /// Every string of a record.
    package func record(_ record: TransactionRecord) -> TransactionRecord {
        var record = record
        record.summary = summary(record.summary)
        record.sources = record.sources.map(source)
        for index in record.parts.indices {
            record.parts[index].error = record.parts[index].error.map(error)
            record.parts[index].attributes = attributes(record.parts[index].attributes).0
        }
        for index in record.timeline.indices {
            record.timeline[index].label = text(record.timeline[index].label)
            record.timeline[index].error = record.timeline[index].error.map(error)
            record.timeline[index].attributes = attributes(record.timeline[index].attributes).0
        }
        record.exchanges = record.exchanges.map(exchange)
        return record
    }

    /// Every string of a line of a list.
    package func summary(_ summary: TransactionSummary) -> TransactionSummary {
        var summary = summary
        summary.useCaseName = text(summary.useCaseName)
        summary.error = summary.error.map(error)
        summary.attributes = attributes(summary.attributes).0
        return summary
    }

    /// Every string of an exchange and of what it belonged to.
    package func record(_ record: ExchangeRecord) -> ExchangeRecord {
        var record = record
        record.exchange = exchange(record.exchange)
        record.source = source(record.source)
        record.useCaseName = record.useCaseName.map(text)
        return record
    }

    /// Bodies.
    package func bodies(_ bodies: ExchangeBodies) -> ExchangeBodies {
        ExchangeBodies(request: bodies.request.map(body), response: bodies.response.map(body))
    }

    private func body(_ body: ExchangeBody) -> ExchangeBody {
        var body = body
        body.contentType = body.contentType.map(text)
        body.bytes = self.body(body.bytes, contentType: body.contentType, keepsBinary: true)
        return body
    }

    package func source(_ source: TransactionRecord.Source) -> TransactionRecord.Source {
        TransactionRecord.Source(
            id: source.id, app: text(source.app), appVersion: text(source.appVersion), device: text(source.device), os: text(source.os),
            osVersion: text(source.osVersion))
    }

    private func exchange(_ exchange: TransactionRecord.Exchange) -> TransactionRecord.Exchange {
        var exchange = exchange
        exchange.method = text(exchange.method)
        exchange.url = wholeURL(exchange.url)
        exchange.requestHeaderFields = headerFields(exchange.requestHeaderFields)
        exchange.responseHeaderFields = headerFields(exchange.responseHeaderFields)
        exchange.error = exchange.error.map(error)
        exchange.transfer = transfer(exchange.transfer)
        return exchange
    }
}
