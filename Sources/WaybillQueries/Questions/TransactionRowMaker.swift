package import WaybillCore
import WaybillStore

struct TransactionRowMaker {
    private let connection: Connection
    private let directory: SourceDirectory
    private var sources: [Int64: (attributes: Attributes, hasEnded: Bool, heard: Int64?)] = [:]

    init(_ connection: Connection) throws(WaybillError) {
        self.connection = connection
        directory = try SourceDirectory(connection)
        try connection.statement("SELECT id, attributes, ended, heard_us FROM sources").forEachRow { row in
            sources[row.int(0)] = (Attributes(columnText: row.optionalText(1)), row.bool(2), row.optionalInt(3))
        }
    }

    func rows() throws(WaybillError) -> [TransactionRow] {
        try connection.statement(
            """
            SELECT p.source, p.sequence, p.guid, p.joined, p.listed_us, p.closed, p.error_code, p.closed_detail, \
            \(SQL.lastActivity(guid: "p.guid")), p.parent, p.parent_part FROM parts p WHERE p.listed_us IS NOT NULL
            """
        ).rows { row in leadingPart(row) }.map { (found) throws(WaybillError) in try complete(found.row, found.source) }
    }

    private func leadingPart(_ row: Row) -> (row: TransactionRow, source: Int64) {
        let source: Int64 = row.int(0)
        var made = TransactionRow(
            id: row.guid(2),
            opening: FactID(source: directory[source]?.id ?? row.guid(2), sequence: row.int(1)))
        (made.isJoined, made.begun, made.lastActivity) = (row.bool(3), row.int(4), row.int(8))
        made.closing = row.isNull(5) ? nil : (row.int(5), 0)
        (made.errorCode, made.parent, made.parentPart) = (row.optionalInt(6), row.optionalGUID(9), row.optionalInt(10))
        if made.errorCode != nil {
            var detail = DetailColumn(row.optionalText(7))
            detail.attributes = [:]
            made.errorDetail = detail.text ?? ""
        }
        return (made, source)
    }

    private struct FoundPart {
        var source: Int64
        var part: TransactionRow.Part
        var errorCode: Int64?
        var opened, closed: String?
    }

    private static let parts = """
        SELECT p.source, p.sequence, p.use_case, p.at_us, p.closed_at_us, p.cause_source, p.cause, p.outcome, \
        p.timeout_us, p.error_code, p.opened_detail, p.closed_detail, \(FactRowReader.samplingColumns) \
        FROM parts p JOIN sources s ON s.id = p.source WHERE p.guid = ? \
        ORDER BY p.listed_us IS NULL, s.uuid, p.sequence
        """
    private static let exchanges = """
        SELECT \(TransactionRow.Exchange.columns), closed_detail, opened_detail, method || ' ' || \(ConditionSQL.url) \
        FROM exchanges l WHERE source = ? AND part = ? ORDER BY sequence
        """

    private func complete(_ leading: TransactionRow, _ source: Int64) throws(WaybillError) -> TransactionRow {
        var row = leading
        let parts = try connection.statement(Self.parts).rows(row.id) { row in
            var part = TransactionRow.Part(source: 0, useCase: row.int(2))
            (part.sequence, part.at, part.closedAt) = (row.int(1), row.int(3), row.optionalInt(4))
            if let source = row.optionalGUID(5), !row.isNull(6) {
                part.cause = FactID(source: source, sequence: row.int(6))
            }
            (part.outcome, part.timeout) = (row.int(7), row.int(8))
            part.sampling = FactRowReader.sampling(row, from: 12)
            return FoundPart(
                source: row.int(0), part: part, errorCode: row.optionalInt(9), opened: row.optionalText(10),
                closed: row.optionalText(11))
        }
        var (numbers, times, said, texts) = ([Int64: Int](), [[Int64]](), SaidAttributes(), Set<String>())
        for found in parts {
            var part = found.part
            part.source = numbers[found.source] ?? numbers.count
            if numbers.updateValue(part.source, forKey: found.source) == nil { times.append([]) }
            if row.parts.isEmpty { times[part.source] += [part.at] + (part.closedAt.map { [$0] } ?? []) }
            row.parts.append(part)
            try add(found.opened, to: &texts)
            try add(found.closed, to: &texts)
            let closed = found.closed.map { DetailColumn($0) }
            row.add((closed ?? DetailColumn(nil)).error(code: found.errorCode))
            var (details, changes) = ([DetailColumn](), [DetailColumn]())
            try connection.statement(
                "SELECT sequence, at_us, code, detail FROM events WHERE source = ? AND part = ? ORDER BY after"
            ).forEachRow(found.source, part.sequence) { (event) throws(WaybillError) in
                try add(event.optionalText(3), to: &texts)
                if let detail = event.optionalText(3).map({ DetailColumn($0) }) {
                    details.append(detail)
                    if event.int(2) == Tables.codeOfAttributesSet { changes.append(detail) }
                    row.add(detail.error(code: detail.errorCode))
                }
                let (at, code): (Int64, Int) = (event.int(1), event.int(2))
                // Changes of attributes are rows of the same table, with negative codes.
                guard code >= 0 else { return }
                times[part.source].append(at)
                row.events.append(
                    TransactionRow.Event(part: row.parts.count - 1, sequence: event.int(0), at: at, code: code))
            }
            try connection.statement(Self.exchanges).forEachRow(found.source, part.sequence) {
                (exchange) throws(WaybillError) in
                texts.insert(((exchange.optionalText(4) ?? "") + (exchange.optionalText(5) ?? "")).lowercasedASCII)
                var own = [(exchange.optionalText(15) ?? "").lowercasedASCII]
                own += try add(exchange.optionalText(13), to: &texts)
                own += try add(exchange.optionalText(14), to: &texts)
                guard let at = add(exchange, of: found.source, to: &row) else { return }
                times[part.source].append(at)
                row.exchanges[row.exchanges.count - 1].texts = own.joined(separator: "\0")
            }
            if row.parts.count == 1 { row.listedAttributes = StoreReader.attributes(found.opened, setBy: changes) }
            said.add(([closed] + details.reversed() + [found.opened.map { DetailColumn($0) }]).compactMap(\.self))
            said.add(sources[found.source]?.attributes ?? [:])
        }
        if let part = row.parts.first {
            (row.useCase, row.at, row.outcome, row.timeout) = (part.useCase, part.at, part.outcome, part.timeout)
            row.sampling = part.sampling
            row.closing?.at = part.closedAt ?? part.at
        }
        row.isUnsettled = row.isUnsettled || directory.wall(row.at, in: source) != row.begun
        (row.attributes, row.said, row.texts) = (said.latest, said.all, texts.sorted())
        row.events.sort {
            (row.parts[$0.part].source, $0.at, $0.sequence) < (row.parts[$1.part].source, $1.at, $1.sequence)
        }
        row.sources = numbers.sorted { $0.value < $1.value }.compactMap { id, number -> TransactionRow.Source? in
            guard var source = directory[id] else { return nil }
            source.clock = WallClock(source.clock.anchors(dating: times[number]))
            return source
        }
        return row
    }

    /// Adds what a search for transactions finds in a detail, as ``ConditionSQL`` does; returns that for exchanges.
    @discardableResult
    private func add(_ detail: String?, to texts: inout Set<String>) throws(WaybillError) -> [String] {
        guard let detail else { return [] }
        var ofExchange: [String] = []
        try connection.statement(
            """
            SELECT CAST(j.atom AS TEXT), CASE WHEN j.path = '$.attributes' \
            THEN j.key || '=' || CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE j.atom END END, \
            j.path LIKE '$.websocket.messages%', j.type = 'text' \
            FROM json_tree(CASE WHEN json_valid(?1) THEN ?1 END) j WHERE j.atom IS NOT NULL
            """
        ).forEachRow(detail) { row in
            let text = row.text(0).lowercasedASCII
            if row.bool(3) { ofExchange.append(text) }
            if !row.bool(2) { texts.insert(text) }
            if let said = row.optionalText(1) { texts.insert(said.lowercasedASCII) }
        }
        return ofExchange
    }

    /// Returns the time of an exchange; `nil` if its opening has not arrived.
    private func add(_ exchange: Row, of source: Int64, to row: inout TransactionRow) -> Int64? {
        let closing = DetailColumn(exchange.optionalText(13))
        guard !exchange.isNull(3) else {
            row.add(closing.error(code: exchange.optionalInt(12)))
            return nil
        }
        let made = TransactionRow.Exchange(
            exchange, part: row.parts.count - 1, closing: closing, opened: directory.wall(exchange.int(1), in: source),
            hasSourceEnded: sources[source]?.hasEnded == true)
        if LeadingParts.listed(begun: made.opened, heard: sources[source]?.heard) != made.opened {
            row.isUnsettled = true
        }
        row.exchanges.append(made)
        row.add(made.error, ofExchange: row.exchanges.count - 1)
        return made.at
    }
}

extension TransactionRow.Exchange {
    static let columns = """
        l.sequence, l.at_us, l.role, l.method, l.host, l.path, l.closed_at_us, l.first_byte_us, l.state, l.status, \
        l.sent_bytes, l.received_bytes, l.error_code
        """

    init(_ row: Row, part: Int, closing: DetailColumn, opened: Int64, hasSourceEnded: Bool) {
        self.init(
            part: part, sequence: row.int(0), at: row.int(1), opened: opened,
            role: ExchangeRole(rawValue: row.int(2)) ?? .client, method: row.text(3), host: row.optionalText(4),
            path: row.text(5),
            state: ExchangeRecord.State(
                row.optionalInt(8).flatMap(ExchangeState.init(rawValue:)), isMocked: closing.transfer.isMocked,
                hasSourceEnded: hasSourceEnded))
        (closedAt, firstByteAt) = (row.optionalInt(6), row.optionalInt(7))
        (status, sentByteCount) = (row.optionalInt(9), row.optionalInt(10))
        (receivedByteCount, closeCode) = (row.optionalInt(11), closing.transfer.webSocket?.closeCode)
        error = closing.error(code: row.optionalInt(12))
    }
}

/// The attributes of a transaction, added from the latest detail on: the first that names one decides.
struct SaidAttributes {
    private(set) var latest: Attributes = [:]
    private(set) var all: [(name: String, value: AttributeValue)] = []
    private var names: Set<String> = []

    mutating func add(_ details: [DetailColumn]) {
        for detail in details {
            add(detail.attributes)
            names.formUnion(detail.removed)
        }
    }

    mutating func add(_ said: Attributes) {
        for (name, value) in said {
            all.append((name, value))
            if names.insert(name).inserted { latest[name] = value }
        }
    }
}

extension StoreReader {
    package func transactionRows() throws(WaybillError) -> [TransactionRow] {
        try read { () throws(WaybillError) in try TransactionRowMaker(connection).rows() }
    }
}

extension TransactionRow {
    fileprivate mutating func add(_ error: RecordedError?, ofExchange exchange: Int? = nil) {
        guard let error else { return }
        for (depth, cause) in error.chain.enumerated() {
            errors.append(
                FoundError(
                    exchange: exchange, code: cause.code, domain: cause.domain, name: cause.name ?? "",
                    text: depth == 0 ? error.text ?? "" : ""))
        }
    }
}

extension String {
    /// Only ASCII letters change, as with SQLite's LIKE.
    fileprivate var lowercasedASCII: String {
        String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
