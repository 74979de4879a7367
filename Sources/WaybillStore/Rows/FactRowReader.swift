package import WaybillCore

package enum FactRowReader {
    package static let openedColumns =
        "p.sequence, p.at_us, p.guid, p.use_case, p.joined, p.timeout_us, p.cause_source, p.cause, p.opened_detail, "
        + "p.parent, p.parent_part, "
        + samplingColumns

    package static let openedColumnCount: Int32 = 14

    package static let samplingColumns = "p.sample_ppm, p.sample_kept, p.slow_us"

    /// Returns the sampling in ``samplingColumns``; `nil` means that all transactions are delivered.
    package static func sampling(_ row: Row, from column: Int32) -> Fact.Sampling? {
        row.optionalInt(column).map {
            Fact.Sampling(
                perMillion: $0, isChosen: !row.bool(column + 1), slowMicroseconds: row.optionalInt(column + 2))
        }
    }

    package static func opened(_ row: Row) -> Fact {
        let cause = row.optionalGUID(6).map { FactID(source: $0, sequence: row.int(7)) }
        return Fact(
            sequence: row.int(0), part: row.int(0), atMicroseconds: row.int(1),
            content: .opened(
                Fact.Opened(
                    transaction: row.guid(2), useCase: row.int(3), isJoined: row.bool(4),
                    timeoutMicroseconds: row.int(5), cause: cause, parent: row.optionalGUID(9),
                    parentPart: row.optionalInt(10),
                    attributes: row.isNull(8) ? [:] : DetailColumn(row.optionalText(8)).attributes,
                    sampling: sampling(row, from: 11))))
    }

    package static let closedColumns = "p.closed, p.sequence, p.closed_at_us, p.outcome, p.error_code, p.closed_detail"

    package static func closed(_ row: Row) -> Fact {
        let detail = DetailColumn(row.optionalText(5))
        return Fact(
            sequence: row.int(0), part: row.int(1), atMicroseconds: row.int(2),
            content: .closed(
                Fact.Closed(
                    outcome: TransactionOutcome(rawValue: row.int(3)) ?? .failed,
                    error: detail.error(code: row.optionalInt(4)),
                    attributes: detail.attributes)))
    }

    package static let eventColumns = "e.sequence, e.part, e.at_us, e.code, e.detail"

    /// Returns an event without details; `nil` for any other row.
    static func plainEvent(_ row: Row, of part: Int64) -> PlainEvent? {
        guard row.isNull(4) else { return nil }
        let code: Int = row.int(3)
        guard code >= 0 else { return nil }
        return PlainEvent(sequence: row.int(0), part: part, atMicroseconds: row.int(2), code: code)
    }

    package static func event(_ row: Row) -> Fact {
        // Most events are plain, and this path is faster.
        if let event = plainEvent(row, of: row.int(1)) {
            return Fact(
                sequence: event.sequence, part: event.part, atMicroseconds: event.atMicroseconds,
                content: .event(Fact.Event(code: event.code)))
        }
        let code: Int = row.int(3)
        let content: Fact.Content
        if code == Tables.codeOfUnknown {
            content = .unknown(Fact.Unknown(detail: row.optionalText(4) ?? ""))
        } else {
            let detail = DetailColumn(row.optionalText(4))
            content =
                code == Tables.codeOfAttributesSet
                ? .attributesSet(Fact.AttributesSet(attributes: detail.attributes, removed: detail.removed))
                : .event(
                    Fact.Event(code: code, error: detail.error(code: detail.errorCode), attributes: detail.attributes))
        }
        return Fact(sequence: row.int(0), part: row.int(1), atMicroseconds: row.int(2), content: content)
    }

    package static let exchangeOpenedColumns =
        "l.sequence, l.part, l.at_us, l.role, l.method, l.host, l.path, l.opened_detail"

    package static func exchangeOpened(_ row: Row) -> Fact {
        let detail = DetailColumn(row.optionalText(7))
        return Fact(
            sequence: row.int(0), part: row.int(1), atMicroseconds: row.int(2),
            content: .exchangeOpened(
                Fact.ExchangeOpened(
                    role: ExchangeRole(rawValue: row.int(3)) ?? .client, method: row.text(4), scheme: detail.scheme,
                    host: row.optionalText(5),
                    port: detail.port, path: row.text(6), query: detail.query, headerFields: detail.headerFields)))
    }

    package static let exchangeClosedColumns =
        "l.closed, l.part, l.closed_at_us, l.sequence, l.state, l.status, l.first_byte_us, l.sent_bytes, l.received_bytes, l.error_code, l.closed_detail"

    package static func exchangeClosed(_ row: Row) -> Fact {
        let detail = DetailColumn(row.optionalText(10))
        return Fact(
            sequence: row.int(0), part: row.int(1), atMicroseconds: row.int(2),
            content: .exchangeClosed(
                Fact.ExchangeClosed(
                    exchange: row.int(3), state: ExchangeState(rawValue: row.int(4)) ?? .failed,
                    status: row.optionalInt(5),
                    firstByteAtMicroseconds: row.optionalInt(6), sentByteCount: row.optionalInt(7),
                    receivedByteCount: row.optionalInt(8),
                    headerFields: detail.headerFields, error: detail.error(code: row.optionalInt(9)),
                    transfer: detail.transfer)))
    }
}

extension Fact.Unknown {
    var detail: String {
        var writer = JSONWriter(capacity: kind.utf8.count + members.utf8.count + 32)
        writer.beginObject()
        writer.member("kind", Optional(kind))
        writer.key("members")
        writer.json(members)
        writer.endObject()
        return writer.text
    }

    init(detail: String) {
        var found = Self(kind: "", members: "{}")
        _ = try? SetDecodingFailure.decoding(Array(detail.utf8)) { reader throws(JSONFailure) in
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "kind": found.kind = try reader.text().string
                case "members": found.members = try reader.valueText()
                default: try reader.skipValue()
                }
            }
        }
        self = found
    }
}
