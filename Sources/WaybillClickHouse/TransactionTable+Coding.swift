#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

extension RowContents {
    /// SQL for the columns that ``RowBinaryReader/transaction(_:)`` reads after `isChosen`.
    func columns(now: Int64) -> String {
        var columns = [
            "tx, sequence, use_case, at_us, begun_us, closed, took_us",
            "\(RowConditions.outcome(now: now)), sample_ppm, sample_kept, slow_us",
        ]
        if readsSources { columns.append("source") }
        if readsErrors { columns.append("has_error, error_code, error") }
        if readsInstallations { columns.append("installations[1]") }
        if readsProperties {
            columns.append("devices[1], oses[1], os_versions[1], ended_by[1], apps[1], app_versions[1]")
        }
        switch attributes {
        case nil: columns.append("attribute_names, attribute_values")
        case let names? where names.isEmpty: break
        case let names?:
            let names = "[\(names.sorted().map(ClickHouseTables.literal).joined(separator: ", "))]"
            columns.append("arrayFilter(n -> has(\(names), n), attribute_names)")
            columns.append("arrayFilter((v, n) -> has(\(names), n), attribute_values, attribute_names)")
        }
        if readsTimelines { columns.append("timeline") }
        if readsExchanges { columns.append("exchanges") }
        if readsParents {
            columns.append("has_parent, parent_outcome, parent_use_case, parent_source, parent_app, parent_app_version")
        }
        return columns.joined(separator: ", ")
    }

    func join(now: Int64) -> String {
        guard readsParents else { return "" }
        return """
             GLOBAL ANY LEFT JOIN (SELECT tx AS parent, toUInt8(1) AS has_parent, \
            \(RowConditions.outcome(now: now)) AS parent_outcome, use_case AS parent_use_case, source AS parent_source, \
            apps[1] AS parent_app, app_versions[1] AS parent_app_version \
            FROM transactions FINAL WHERE \(RowConditions.isKnownParent)) AS parents USING parent
            """
    }

    fileprivate var readsTimelines: Bool { codes != [] || readsExchanges }
}

extension ClickHouseTables {
    /// SQL for groups of transactions, as ``RowBinaryReader/group()`` reads them.
    static func groups(now: Int64, step: Int64) -> String {
        """
        SELECT use_case, \(RowConditions.outcome(now: now)) AS result, intDiv(begun_us, \(step)) - (begun_us % \(step) < 0) AS step, \
        min(begun_us), sample_ppm, sample_kept, slow_us, \
        has_error, error_identity, min(error_code), any(error), \
        toUInt8(multiIf(closed = 0, 0, closed < sequence, 1, 2)) AS state, \
        groupArray(took_us), groupUniqArray(installations[1]) FROM transactions FINAL
        """
    }

    static let groupKeys = "use_case, result, step, sample_ppm, sample_kept, slow_us, has_error, error_identity, state"

    /// SQL for the columns that ``RowBinaryReader/exchange()`` reads.
    static let exchangeColumns = "tx, last_us, sources[\(RowConditions.sourceOfExchange)], each"
    /// Arrays keep their names, and elements are called e.g. `each_states`.
    static let exchangeJoin =
        "ARRAY JOIN "
        + [
            "parts", "sequences", "opened_us", "took_us", "methods", "hosts", "paths", "states", "statuses", "received",
            "close_codes", "texts",
        ].map { "exchange_\($0) AS each_\($0)" }.joined(separator: ", ")
        + ", exchanges AS each, arrayEnumerate(exchange_parts) AS each_numbers"
}

extension RowBinaryWriter {
    mutating func transaction(_ row: TransactionRow) {
        bool(row.isJoined)
        guid(row.opening.source)
        for number in [
            row.opening.sequence, Int64(row.useCase), row.at, row.begun, row.closing?.sequence ?? 0,
            row.took ?? ListCursor.places.lowerBound, row.took ?? ListCursor.places.upperBound,
        ] { integer(number) }
        integer(UInt8(clamping: row.outcome))
        integer(row.timeout)
        integer(row.lastActivity)
        sampling(row.sampling)
        bool(row.errorCode != nil)
        integer(row.errorCode ?? 0)
        string(row.errorDetail)
        string(DetailColumn(row.errorDetail).error(code: row.errorCode)?.identity.identityText ?? "")
        guid(row.parent)
        nested { $0.listed(row) }
        let attributes = row.attributes.sorted { $0.key < $1.key }
        array(attributes.map(\.key)) { $0.string($1) }
        array(attributes.map(\.value)) { $0.string(Attributes(["": $1]).columnText ?? "") }
        array(SaidAttributes.texts(of: row.said)) { $0.string($1) }
        string(row.texts.joined(separator: "\0"))
        sources(row.sources)
        array(row.parts.map { Int64($0.source) })
        array(row.parts.map { Int64($0.useCase) })
        array(row.events.map { Int64($0.part) })
        array(row.events.map { Int64($0.code) })
        let unsuccessful = row.outcome == TransactionOutcome.succeeded.rawValue ? [] : Set(row.events.map(\.code))
        array(unsuccessful.map { RowConditions.number(ofEvent: $0, row.outcome) }.sorted())
        exchanges(row.exchanges)
        nested { $0.timeline(row) }
        array(row.exchanges) { writer, exchange in writer.nested { $0.exchange(exchange, of: row) } }
        array(row.errors.map { Int64(($0.exchange ?? -1) + 1) })
        array(row.errors.map(\.code))
        for text in [\TransactionRow.FoundError.domain, \.name, \.text] {
            array(row.errors) { $0.string($1[keyPath: text]) }
        }
    }

    private mutating func sampling(_ sampling: Fact.Sampling?) {
        integer(Int64(sampling?.perMillion ?? -1))
        integer(Int64(sampling?.isChosen == false ? 1 : 0))
        integer(sampling?.slowMicroseconds ?? -1)
    }

    private mutating func sources(_ sources: [TransactionRow.Source]) {
        array(sources) { $0.guid($1.id) }
        array(sources) { $0.guid($1.installation) }
        for text in [\TransactionRow.Source.app, \.appVersion, \.device, \.os, \.osVersion, \.endedBy] {
            array(sources) { $0.string($1[keyPath: text]) }
        }
        array(sources.map(\.rank))
    }

    private mutating func exchanges(_ exchanges: [TransactionRow.Exchange]) {
        array(exchanges.map { Int64($0.part) })
        array(exchanges.map(\.sequence))
        array(exchanges.map(\.opened))
        array(exchanges.map { exchange in exchange.closedAt.map { $0 &- exchange.at } ?? ClickHouseTables.missing })
        array(exchanges) { $0.string($1.method) }
        array(exchanges) { $0.string($1.host ?? ClickHouseTables.noHost) }
        array(exchanges) { $0.string($1.path) }
        array(exchanges.map { Int64($0.state.code) })
        array(exchanges.map { Int64($0.status ?? -1) })
        array(exchanges.map { $0.receivedByteCount ?? -1 })
        array(exchanges.map { Int64($0.closeCode ?? -1) })
        array(exchanges) { $0.string($1.texts) }
    }
}

extension RowBinaryReader {
    mutating func transaction(_ contents: RowContents) throws -> TransactionRow {
        let (isChosen, id) = (try bool(), try guid())
        var row = TransactionRow(id: id, opening: FactID(source: ClickHouseTables.none, sequence: try integer()))
        row.isChosen = isChosen
        row.useCase = Int(try integer(Int64.self))
        (row.at, row.begun) = (try integer(), try integer())
        let (closed, took): (Int64, Int64) = (try integer(), try integer())
        row.closing = closed == 0 ? nil : (closed, row.at &+ took)
        row.outcome = Int(try integer(UInt8.self))
        // The servers have decided what has timed out.
        row.lastActivity = .max
        row.sampling = try sampling()
        if contents.readsSources { row.opening.source = try guid() }
        if contents.readsErrors {
            let (hasError, code) = (try bool(), try integer(Int64.self))
            row.errorCode = hasError ? code : nil
            row.errorDetail = try text()
        }
        if contents.readsInstallations || contents.readsProperties {
            row.sources = [try leadingSource(id: row.opening.source, contents)]
        }
        if contents.attributes != [] {
            for (name, value) in zip(try array { try $0.text() }, try array { try $0.text() }) {
                row.attributes[name] = Attributes(columnText: value)[""]
            }
        }
        if contents.readsTimelines { try nested(of: id) { try $0.timeline(of: &row, contents) } }
        if contents.readsExchanges {
            for _ in 0..<(try count()) {
                try nested(of: id) { try $0.exchange(of: &row, contents) }
            }
        }
        if contents.readsParents {
            let isKnown = try bool()
            let (outcome, useCase) = (Int(try integer(UInt8.self)), Int(try integer(Int64.self)))
            let parent = TransactionRow.Parent(
                outcome: TransactionOutcome(rawValue: outcome) ?? .open, useCase: useCase, source: try guid(),
                app: try text(), appVersion: try text())
            row.parentRow = isKnown ? parent : nil
        }
        return row
    }

    mutating func group() throws -> TransactionRow {
        let (useCase, outcome) = (try integer(Int64.self), try integer(UInt8.self))
        _ = try integer(Int64.self)
        let begun: Int64 = try integer()
        // A closing before its opening dates nothing.
        var row = TransactionRow(
            id: ClickHouseTables.none, opening: FactID(source: ClickHouseTables.none, sequence: 2))
        (row.useCase, row.outcome, row.begun, row.lastActivity) = (Int(useCase), Int(outcome), begun, .max)
        row.sampling = try sampling()
        let hasError = try bool()
        _ = try string()
        let code: Int64 = try integer()
        row.errorDetail = try text()
        row.errorCode = hasError ? code : nil
        let state = try integer(UInt8.self)
        row.closing = state == 0 ? nil : (Int64(state), 0)
        row.durations = try Array(array())
        row.sources = try array { reader in
            var source = TransactionRow.Source(id: ClickHouseTables.none)
            source.installation = try reader.optionalGUID()
            return source
        }
        return row
    }

    private mutating func sampling() throws -> Fact.Sampling? {
        let rate: (Int64, Int64, Int64) = (try integer(), try integer(), try integer())
        return rate.0 < 0
            ? nil
            : Fact.Sampling(
                perMillion: Int(rate.0), isChosen: rate.1 == 0, slowMicroseconds: rate.2 < 0 ? nil : rate.2)
    }

    private mutating func leadingSource(id: GUID, _ contents: RowContents) throws -> TransactionRow.Source {
        var source = TransactionRow.Source(id: id)
        if contents.readsInstallations { source.installation = try optionalGUID() }
        if contents.readsProperties {
            (source.device, source.os, source.osVersion) = (try text(), try text(), try text())
            (source.endedBy, source.app, source.appVersion) = (try text(), try text(), try text())
        }
        return source
    }

    /// Reads a transaction with one exchange, its part and its source.
    mutating func exchange() throws -> TransactionRow {
        let (id, lastActivity, source) = (try guid(), try integer(Int64.self), try guid())
        var row = TransactionRow(id: id, opening: FactID(source: source, sequence: 0))
        row.lastActivity = lastActivity
        row.sources = [TransactionRow.Source(id: source)]
        var contents = RowContents()
        contents.readsRequests = true
        try nested(of: id) { try $0.exchange(of: &row, contents) }
        return row
    }
}
#endif
