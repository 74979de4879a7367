#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// Parts, events and exchanges of a row as bytes, and what lists show of it. No condition looks at them. A column for each
/// property would take two to five times as long to read.
extension RowBinaryWriter {
    mutating func timeline(_ row: TransactionRow) {
        // Times of one source need no clock, and its ID is in the row.
        let isAlone = row.sources.count == 1
        array(row.sources) { writer, source in
            if !isAlone { writer.guid(source.id) }
            writer.string(source.app)
            writer.string(source.appVersion)
            guard !isAlone else { return }
            writer.array(source.clock.anchors) { writer, anchor in
                writer.number(anchor.atMicroseconds)
                writer.number(anchor.offsetMicroseconds)
            }
        }
        array(row.parts) { writer, part in
            writer.number(Int64(part.source))
            writer.number(Int64(part.useCase))
        }
        nested { writer in
            var last = TransactionRow.Event(part: 0, sequence: row.opening.sequence, at: row.at, code: 0)
            writer.array(row.events) { writer, event in
                writer.number(Int64(event.part))
                writer.number(event.sequence &- last.sequence)
                writer.number(event.at &- last.at)
                writer.number(Int64(event.code))
                last = event
            }
        }
        for part in row.parts {
            state(part)
            optional(part.cause?.sequence)
            if let cause = part.cause { guid(cause.source) }
        }
    }

    private mutating func state(_ part: TransactionRow.Part) {
        number(part.sequence)
        number(part.at)
        optional(part.closedAt)
        number(Int64(part.outcome))
        number(part.timeout)
        rate(part.sampling)
    }

    private mutating func rate(_ sampling: Fact.Sampling?) {
        optional(sampling.map { Int64($0.perMillion) })
        guard let sampling else { return }
        number(sampling.isChosen ? 1 : 0)
        optional(sampling.slowMicroseconds)
    }

    mutating func listed(_ row: TransactionRow) {
        let source = row.sources.first ?? TransactionRow.Source(id: row.opening.source)
        guid(source.id)
        string(source.app)
        string(source.appVersion)
        for number in [
            source.rank, row.opening.sequence, Int64(row.useCase), row.begun, Int64(row.outcome), row.timeout,
            row.lastActivity, Int64(row.sources.count), Int64(row.events.count), Int64(row.exchanges.count),
            row.isJoined ? 1 : 0,
        ] { self.number(number) }
        optional(row.took)
        string(source.endedBy)
        optional(row.errorCode)
        string(row.errorDetail)
        string(row.listedAttributes.columnText ?? "")
        guid(row.parent)
        optional(row.parentPart)
        rate(row.sampling)
    }

    mutating func exchange(_ exchange: TransactionRow.Exchange, of row: TransactionRow) {
        state(row.parts[exchange.part])
        number(Int64(exchange.part))
        number(exchange.sequence)
        number(exchange.at)
        optional(exchange.closedAt)
        optional(exchange.firstByteAt)
        number(Int64(exchange.role.rawValue))
        number(Int64(exchange.state.code))
        number(exchange.opened)
        optional(exchange.status.map { Int64($0) })
        optional(exchange.sentByteCount)
        optional(exchange.receivedByteCount)
        string(exchange.method)
        string(exchange.host ?? ClickHouseTables.noHost)
        string(exchange.path)
        var detail = DetailColumn(attributes: [:], error: exchange.error)
        detail.errorCode = exchange.error?.code
        string(detail.text ?? "")
    }
}

extension TransactionRow {
    /// The duration in microseconds; `nil` while it is open.
    var took: Int64? { closing.map { $0.at &- at } }
}

extension RowBinaryReader {
    /// - Throws: ``WaybillError``, never ``Ended``, because no more bytes follow.
    mutating func nested<Value>(of transaction: GUID, _ read: (inout RowBinaryReader) throws -> Value) throws -> Value {
        var reader = try nested()
        do { return try read(&reader) } catch is Ended { throw Self.damaged(transaction) }
    }

    private static func damaged(_ transaction: GUID) -> WaybillError {
        WaybillError(.damaged, "The row of the transaction \(transaction) can't be read.")
    }

    /// Reads the sources, the parts, and those of the events that `contents` asks for.
    mutating func timeline(of row: inout TransactionRow, _ contents: RowContents) throws {
        let leading = row.sources.first
        let count = try count()
        let (id, opening) = (row.id, row.opening)
        row.sources = try elements(count) { reader in
            var source = TransactionRow.Source(id: count == 1 ? opening.source : try reader.guid())
            (source.app, source.appVersion) = (try reader.text(), try reader.text())
            if count > 1 {
                source.clock = WallClock(
                    try reader.array { reader in
                        ClockAnchor(atMicroseconds: try reader.number(), offsetMicroseconds: try reader.number())
                    })
            }
            return source
        }
        if var leading, let source = row.sources.first {
            (leading.id, leading.app, leading.appVersion) = (source.id, source.app, source.appVersion)
            leading.clock = source.clock
            row.sources[0] = leading
        }
        row.parts = try array { reader in
            TransactionRow.Part(
                source: try reader.index(below: count, of: id), useCase: Int(try reader.number()))
        }
        var events = try nested()
        if contents.codes != [] { try events.events(of: &row, contents.codes) }
        guard contents.readsExchanges else { return }
        for index in row.parts.indices {
            try state(&row.parts[index])
            guard let cause = try optional() else { continue }
            row.parts[index].cause = FactID(source: try guid(), sequence: cause)
        }
    }

    private mutating func events(of row: inout TransactionRow, _ codes: Set<Int>?) throws {
        let (count, partCount) = (try count(), row.parts.count)
        var (sequence, at) = (row.opening.sequence, row.at)
        for _ in 0..<count {
            let part = try index(below: partCount, of: row.id)
            sequence &+= try number()
            at &+= try number()
            let code = Int(try number())
            guard codes?.contains(code) != false else { continue }
            row.events.append(TransactionRow.Event(part: part, sequence: sequence, at: at, code: code))
        }
    }

    private mutating func state(_ part: inout TransactionRow.Part) throws {
        (part.sequence, part.at, part.closedAt) = (try number(), try number(), try optional())
        (part.outcome, part.timeout) = (Int(try number()), try number())
        part.sampling = try rate()
    }

    private mutating func rate() throws -> Fact.Sampling? {
        guard let rate = try optional() else { return nil }
        let (isChosen, slow) = (try number() == 1, try optional())
        return Fact.Sampling(perMillion: Int(rate), isChosen: isChosen, slowMicroseconds: slow)
    }

    /// Reads a transaction for a list, without its names and children.
    mutating func listed(_ order: TransactionFilter.Order, now: Int64) throws -> ListedRow {
        let id = try guid()
        return try nested(of: id) { try $0.listed(id, order, now: now) }
    }

    private mutating func listed(_ id: GUID, _ order: TransactionFilter.Order, now: Int64) throws -> ListedRow {
        let (source, app, appVersion) = (try guid(), try text(), try text())
        let (rank, sequence, useCase, begun) = (try number(), try number(), try number(), try number())
        var outcome = TransactionOutcome(rawValue: Int(try number())) ?? .open
        let (timeout, last) = (try number(), try number())
        if outcome == .open, last &+ timeout < now { outcome = .timedOut }
        let (sources, events, exchanges) = (try number(), try number(), try number())
        let (isJoined, took, endedBy) = (try number() == 1, try optional(), try text())
        let (code, detail, attributes) = (try optional(), try text(), try text())
        let (parent, part, sampling) = (try optionalGUID(), try optional(), try rate())
        let row = TransactionSummary(
            id: id, useCase: Int(useCase), useCaseName: "", outcome: outcome, begunMicroseconds: begun,
            durationMicroseconds: took,
            error: code.flatMap { DetailColumn(detail.isEmpty ? nil : detail).error(code: $0) },
            attributes: attributes.isEmpty ? [:] : Attributes(columnText: attributes), sourceCount: Int(sources),
            eventCount: Int(events), exchangeCount: Int(exchanges), isWaitingForBeginner: isJoined,
            endedBy: outcome == .interrupted ? SourceEnd(name: endedBy) : nil,
            parent: parent, parentPart: part.map { FactID(source: source, sequence: $0) }, sampling: sampling)
        var place = ListCursor(behind: begun, in: order)
        switch order {
        case .newest, .oldest: break
        case .longest: place.listed = took ?? ListCursor.places.lowerBound
        case .shortest: place.listed = took ?? ListCursor.places.upperBound
        }
        (place.source, place.sequence) = (rank, sequence)
        return ListedRow(place: place, row: row, source: source, app: app, appVersion: appVersion)
    }

    /// Reads an exchange and its part, which is the only one of a row without parts.
    mutating func exchange(of row: inout TransactionRow, _ contents: RowContents) throws {
        var part = TransactionRow.Part(source: 0, useCase: 0)
        try state(&part)
        var number = Int(try self.number())
        if row.parts.isEmpty { (row.parts, number) = ([part], 0) }
        guard row.parts.indices.contains(number) else { throw Self.damaged(row.id) }
        let (sequence, at, closed, first) = (try self.number(), try self.number(), try optional(), try optional())
        let role: ExchangeRole = try self.number() == 0 ? .client : .server
        guard let state = ExchangeRecord.State(code: try self.number()) else { throw Self.damaged(row.id) }
        var exchange = TransactionRow.Exchange(
            part: number, sequence: sequence, at: at, opened: try self.number(), role: role, method: "", host: nil,
            path: "", state: state)
        (exchange.closedAt, exchange.firstByteAt) = (closed, first)
        if contents.readsRequests {
            exchange.status = try optional().map { Int($0) }
            (exchange.sentByteCount, exchange.receivedByteCount) = (try optional(), try optional())
            exchange.method = try text()
            let host = try text()
            exchange.host = host == ClickHouseTables.noHost ? nil : host
            exchange.path = try text()
            let error = try text()
            if !error.isEmpty {
                let detail = DetailColumn(error)
                exchange.error = detail.error(code: detail.errorCode)
            }
        }
        row.exchanges.append(exchange)
    }

    private mutating func index(below count: Int, of transaction: GUID) throws -> Int {
        let index = Int(try number())
        guard (0..<count).contains(index) else { throw Self.damaged(transaction) }
        return index
    }
}
#endif
