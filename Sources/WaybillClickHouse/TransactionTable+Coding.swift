#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

extension RowContents {
    /// SQL for the columns that ``RowBinaryReader/transaction(_:)`` reads after `isChosen`.
    func columns(now: Int64) -> String {
        var columns = [
            "tx, sequence, use_case, at_us, begun_us, closed, closed_at_us",
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
        if readsParts {
            columns.append("sources, part_sources")
        }
        if codes != [] {
            columns.append("apps, app_versions, part_use_cases, clock_sources, clock_at, clock_offsets")
            columns += ["event_parts", "event_sequences", "event_at", "event_codes"].map { column in
                guard let codes else { return column }
                let isAmong = codes.sorted().map { "c = \($0)" }.joined(separator: " OR ")
                // Servers make equal arrays once.
                return "arrayFilter((x, m) -> m, \(column), arrayMap(c -> (\(isAmong)), event_codes))"
            }
        }
        if readsExchanges {
            columns.append("part_sequences, part_at, part_closed_at, part_cause_sources, part_causes")
            columns.append("exchange_parts, exchange_sequences, exchange_at, exchange_closed_at, exchange_first_byte")
            columns.append("exchange_roles, exchange_states")
        }
        if readsRequests { columns.append("exchange_statuses, exchange_methods, exchange_hosts, exchange_paths") }
        if readsParents {
            columns.append("has_parent, parent_outcome, parent_use_case, parent_source, parent_app, parent_app_version")
        }
        return columns.joined(separator: ", ")
    }

    /// SQL that joins the columns of parents.
    func join(now: Int64) -> String {
        guard readsParents else { return "" }
        return """
             GLOBAL ANY LEFT JOIN (SELECT tx AS parent, toUInt8(1) AS has_parent, \
            \(RowConditions.outcome(now: now)) AS parent_outcome, use_case AS parent_use_case, source AS parent_source, \
            apps[1] AS parent_app, app_versions[1] AS parent_app_version \
            FROM transactions FINAL WHERE \(RowConditions.isKnownParent)) AS parents USING parent
            """
    }

    fileprivate var readsParts: Bool { codes != [] || readsExchanges }
}

extension ClickHouseTables {
    /// SQL for groups of transactions, as ``RowBinaryReader/group()`` reads them.
    static func groups(now: Int64, step: Int64) -> String {
        """
        SELECT use_case, \(RowConditions.outcome(now: now)) AS result, intDiv(begun_us, \(step)) - (begun_us % \(step) < 0) AS step, \
        min(begun_us), sample_ppm, sample_kept, slow_us, \
        has_error, error_identity, min(error_code), any(error), \
        toUInt8(multiIf(closed = 0, 0, closed < sequence, 1, 2)) AS state, \
        groupArray(closed_at_us - at_us), groupUniqArray(installations[1]) FROM transactions FINAL
        """
    }

    static let groupKeys = "use_case, result, step, sample_ppm, sample_kept, slow_us, has_error, error_identity, state"

    /// SQL for the columns that ``RowBinaryReader/exchange()`` reads.
    static let exchangeColumns = """
        tx, last_us, sources[\(RowConditions.sourceOfExchange)], part_sequences[\(part)], part_at[\(part)], \
        part_closed_at[\(part)], part_outcomes[\(part)], part_timeouts[\(part)], part_sample_ppm[\(part)], \
        part_sample_kept[\(part)], part_slow[\(part)], each_sequences, each_at, each_opened_us, \
        each_roles, each_methods, each_hosts, each_paths, each_states, each_closed_at, \
        each_first_byte, each_statuses, each_sent, each_received, each_errors
        """
    /// Arrays keep their names, and elements are called e.g. `each_states`.
    static let exchangeJoin =
        "ARRAY JOIN "
        + [
            "parts", "sequences", "at", "opened_us", "roles", "methods", "hosts", "paths", "closed_at", "first_byte",
            "states", "statuses", "sent", "received", "close_codes", "errors", "texts",
        ].map { "exchange_\($0) AS each_\($0)" }.joined(separator: ", ")
        + ", arrayEnumerate(exchange_parts) AS each_numbers"
    private static let part = "each_parts + 1"
}

extension RowBinaryWriter {
    mutating func transaction(_ row: TransactionRow) {
        integer(UInt8(row.isJoined ? 1 : 0))
        guid(row.opening.source)
        for number in [
            row.opening.sequence, Int64(row.useCase), row.at, row.begun, row.closing?.sequence ?? 0,
            row.closing?.at ?? 0,
        ] { integer(number) }
        integer(UInt8(clamping: row.outcome))
        integer(row.timeout)
        integer(row.lastActivity)
        sampling(row.sampling)
        integer(UInt8(row.errorCode == nil ? 0 : 1))
        integer(row.errorCode ?? 0)
        string(row.errorDetail)
        string(DetailColumn(row.errorDetail).error(code: row.errorCode)?.identity.identityText ?? "")
        guid(row.parent ?? ClickHouseTables.none)
        let attributes = row.attributes.sorted { $0.key < $1.key }
        array(attributes.map(\.key)) { $0.string($1) }
        array(attributes.map(\.value)) { $0.string(Attributes(["": $1]).columnText ?? "") }
        array(SaidAttributes.texts(of: row.said)) { $0.string($1) }
        array(row.texts) { $0.string($1) }
        sources(row.sources)
        parts(row.parts)
        array(row.events.map { Int64($0.part) })
        array(row.events.map(\.sequence))
        array(row.events.map(\.at))
        array(row.events.map { Int64($0.code) })
        exchanges(row.exchanges)
        array(row.errors.map { Int64(($0.exchange ?? -1) + 1) })
        array(row.errors.map(\.code))
        for text in [\TransactionRow.FoundError.domain, \.name, \.text] {
            array(row.errors) { $0.string($1[keyPath: text]) }
        }
        integer(row.factCount)
    }

    private mutating func sampling(_ sampling: Fact.Sampling?) {
        integer(Int64(sampling?.perMillion ?? -1))
        integer(Int64(sampling?.isChosen == false ? 1 : 0))
        integer(sampling?.slowMicroseconds ?? -1)
    }

    private mutating func sources(_ sources: [TransactionRow.Source]) {
        array(sources) { $0.guid($1.id) }
        array(sources) { $0.guid($1.installation ?? ClickHouseTables.none) }
        for text in [\TransactionRow.Source.app, \.appVersion, \.device, \.os, \.osVersion, \.endedBy] {
            array(sources) { $0.string($1[keyPath: text]) }
        }
        array(sources.map(\.rank))
        // Times of one source need no clock.
        let anchors = sources.enumerated().flatMap { number, source in
            sources.count == 1 ? [] : source.clock.map { (number, $0) }
        }
        array(anchors.map { Int64($0.0) })
        array(anchors.map(\.1.atMicroseconds))
        array(anchors.map(\.1.offsetMicroseconds))
    }

    private mutating func parts(_ parts: [TransactionRow.Part]) {
        array(parts.map { Int64($0.source) })
        array(parts.map { Int64($0.useCase) })
        array(parts.map(\.sequence))
        array(parts.map(\.at))
        array(parts.map { $0.closedAt ?? ClickHouseTables.missing })
        array(parts) { $0.guid($1.cause?.source ?? ClickHouseTables.none) }
        array(parts.map { $0.cause?.sequence ?? 0 })
        array(parts.map { Int64($0.outcome) })
        array(parts.map(\.timeout))
        array(parts.map { Int64($0.sampling?.perMillion ?? -1) })
        array(parts.map { $0.sampling?.isChosen == false ? 1 : 0 })
        array(parts.map { $0.sampling?.slowMicroseconds ?? -1 })
    }

    private mutating func exchanges(_ exchanges: [TransactionRow.Exchange]) {
        array(exchanges.map { Int64($0.part) })
        array(exchanges.map(\.sequence))
        array(exchanges.map(\.at))
        array(exchanges.map(\.opened))
        array(exchanges.map { Int64($0.role.rawValue) })
        array(exchanges) { $0.string($1.method) }
        array(exchanges) { $0.string($1.host ?? ClickHouseTables.noHost) }
        array(exchanges) { $0.string($1.path) }
        array(exchanges.map { $0.closedAt ?? ClickHouseTables.missing })
        array(exchanges.map { $0.firstByteAt ?? ClickHouseTables.missing })
        array(exchanges.map { Int64($0.state.code) })
        array(exchanges.map { Int64($0.status ?? -1) })
        array(exchanges.map { $0.sentByteCount ?? -1 })
        array(exchanges.map { $0.receivedByteCount ?? -1 })
        array(exchanges.map { Int64($0.closeCode ?? -1) })
        array(exchanges) { writer, exchange in
            var detail = DetailColumn(attributes: [:], error: exchange.error)
            detail.errorCode = exchange.error?.code
            writer.string(detail.text ?? "")
        }
        array(exchanges) { $0.string($1.texts) }
    }
}

extension RowBinaryReader {
    mutating func transaction(_ contents: RowContents) throws -> TransactionRow {
        let (isChosen, id) = (try integer(UInt8.self) == 1, try guid())
        var row = TransactionRow(id: id, opening: FactID(source: ClickHouseTables.none, sequence: try integer()))
        row.isChosen = isChosen
        row.useCase = Int(try integer(Int64.self))
        (row.at, row.begun) = (try integer(), try integer())
        let closing: (Int64, Int64) = (try integer(), try integer())
        row.closing = closing.0 == 0 ? nil : closing
        row.outcome = Int(try integer(UInt8.self))
        // The servers have decided what has timed out.
        row.lastActivity = .max
        row.sampling = try sampling()
        if contents.readsSources { row.opening.source = try guid() }
        if contents.readsErrors {
            let (hasError, code) = (try integer(UInt8.self) == 1, try integer(Int64.self))
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
        if contents.readsParts { try readParts(&row) }
        if contents.codes != [] {
            try readNames(&row)
            try readEvents(&row)
        }
        if contents.readsExchanges { try readExchanges(&row) }
        if contents.readsRequests {
            try readRequests(&row)
        }
        if contents.readsParents {
            let isKnown = try integer(UInt8.self) == 1
            let (outcome, useCase) = (Int(try integer(UInt8.self)), Int(try integer(Int64.self)))
            let parent = TransactionRow.Parent(
                outcome: TransactionOutcome(rawValue: outcome) ?? .open, useCase: useCase, source: try guid(),
                app: try text(), appVersion: try text())
            row.parentRow = isKnown ? parent : nil
        }
        return row
    }

    /// Reads transactions that differ only in duration and installation.
    mutating func group() throws -> TransactionRow {
        let (useCase, outcome) = (try integer(Int64.self), try integer(UInt8.self))
        _ = try integer(Int64.self)
        let begun: Int64 = try integer()
        // A closing before its opening dates nothing.
        var row = TransactionRow(
            id: ClickHouseTables.none, opening: FactID(source: ClickHouseTables.none, sequence: 2))
        (row.useCase, row.outcome, row.begun, row.lastActivity) = (Int(useCase), Int(outcome), begun, .max)
        row.sampling = try sampling()
        let hasError = try integer(UInt8.self) == 1
        _ = try string()
        let code: Int64 = try integer()
        row.errorDetail = try text()
        row.errorCode = hasError ? code : nil
        let state = try integer(UInt8.self)
        row.closing = state == 0 ? nil : (Int64(state), 0)
        row.durations = try Array(array())
        row.sources = try array { try $0.guid() }.map { installation in
            var source = TransactionRow.Source(id: ClickHouseTables.none)
            source.installation = installation == ClickHouseTables.none ? nil : installation
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

    private mutating func optional() throws -> Int64? {
        let number: Int64 = try integer()
        return number == ClickHouseTables.missing ? nil : number
    }

    private mutating func size() throws -> Int64? {
        let number: Int64 = try integer()
        return number < 0 ? nil : number
    }

    private mutating func leadingSource(id: GUID, _ contents: RowContents) throws -> TransactionRow.Source {
        var source = TransactionRow.Source(id: id)
        if contents.readsInstallations {
            let installation = try guid()
            source.installation = installation == ClickHouseTables.none ? nil : installation
        }
        if contents.readsProperties {
            (source.device, source.os, source.osVersion) = (try text(), try text(), try text())
            (source.endedBy, source.app, source.appVersion) = (try text(), try text(), try text())
        }
        return source
    }

    private mutating func forEach(
        _ indexes: Range<Int>, of row: inout TransactionRow,
        _ read: (inout RowBinaryReader, inout TransactionRow, Int) throws -> Void
    ) throws {
        try row.check(count() == indexes.count)
        for index in indexes { try read(&self, &row, index) }
    }

    private mutating func readParts(_ row: inout TransactionRow) throws {
        let leading = row.sources.first
        row.sources = try array { TransactionRow.Source(id: try $0.guid()) }
        if var leading, let id = row.sources.first?.id {
            leading.id = id
            row.sources[0] = leading
        }
        let sources = try array()
        try row.check(sources, areBelow: row.sources.count)
        row.parts = sources.map { TransactionRow.Part(source: Int($0), useCase: 0) }
    }

    /// Reads what dates and names events.
    private mutating func readNames(_ row: inout TransactionRow) throws {
        try forEach(row.sources.indices, of: &row) { $1.sources[$2].app = try $0.text() }
        try forEach(row.sources.indices, of: &row) { $1.sources[$2].appVersion = try $0.text() }
        try forEach(row.parts.indices, of: &row) { $1.parts[$2].useCase = Int(try $0.integer(Int64.self)) }
        let (owners, times, offsets) = (try array(), try array(), try array())
        try row.check(times.count == owners.count && offsets.count == owners.count)
        try row.check(owners, areBelow: row.sources.count)
        for (index, owner) in owners.enumerated() {
            row.sources[Int(owner)].clock.append(
                ClockAnchor(atMicroseconds: times[index], offsetMicroseconds: offsets[index]))
        }
    }

    private mutating func readEvents(_ row: inout TransactionRow) throws {
        let (parts, sequences, at, codes) = (try array(), try array(), try array(), try array())
        try row.check(sequences.count == parts.count && at.count == parts.count && codes.count == parts.count)
        try row.check(parts, areBelow: row.parts.count)
        row.events = parts.indices.map { index in
            TransactionRow.Event(
                part: Int(parts[index]), sequence: sequences[index], at: at[index], code: Int(codes[index]))
        }
    }

    private mutating func readExchanges(_ row: inout TransactionRow) throws {
        let indexes = row.parts.indices
        try forEach(indexes, of: &row) { $1.parts[$2].sequence = try $0.integer() }
        try forEach(indexes, of: &row) { $1.parts[$2].at = try $0.integer() }
        try forEach(indexes, of: &row) { $1.parts[$2].closedAt = try $0.optional() }
        try forEach(indexes, of: &row) { reader, row, index in
            let source = try reader.guid()
            if source != ClickHouseTables.none { row.parts[index].cause = FactID(source: source, sequence: 0) }
        }
        try forEach(indexes, of: &row) { reader, row, index in
            let sequence: Int64 = try reader.integer()
            row.parts[index].cause?.sequence = sequence
        }
        let (parts, sequences, at) = (try array(), try array(), try array())
        let (closed, first, roles, states) = (try array(), try array(), try array(), try array())
        try row.check([sequences, at, closed, first, roles, states].allSatisfy { $0.count == parts.count })
        try row.check(parts, areBelow: row.parts.count)
        row.exchanges = try parts.indices.map { index in
            var exchange = TransactionRow.Exchange(
                part: Int(parts[index]), sequence: sequences[index], at: at[index], opened: 0,
                role: roles[index] == 0 ? .client : .server, method: "", host: nil, path: "",
                state: try row.state(states[index]))
            exchange.closedAt = closed[index] == ClickHouseTables.missing ? nil : closed[index]
            exchange.firstByteAt = first[index] == ClickHouseTables.missing ? nil : first[index]
            return exchange
        }
    }

    private mutating func readRequests(_ row: inout TransactionRow) throws {
        let indexes = row.exchanges.indices
        try forEach(indexes, of: &row) { $1.exchanges[$2].status = try $0.size().map { Int($0) } }
        try forEach(indexes, of: &row) { $1.exchanges[$2].method = try $0.text() }
        try forEach(indexes, of: &row) { reader, row, index in
            let host = try reader.text()
            row.exchanges[index].host = host == ClickHouseTables.noHost ? nil : host
        }
        try forEach(indexes, of: &row) { $1.exchanges[$2].path = try $0.text() }
    }

    /// Reads a transaction with one exchange, its part and its source.
    mutating func exchange() throws -> TransactionRow {
        let (id, lastActivity, source) = (try guid(), try integer(Int64.self), try guid())
        var row = TransactionRow(id: id, opening: FactID(source: source, sequence: 0))
        row.lastActivity = lastActivity
        row.sources = [TransactionRow.Source(id: source)]
        var part = TransactionRow.Part(source: 0, useCase: 0)
        (part.sequence, part.at, part.closedAt) = (try integer(), try integer(), try optional())
        (part.outcome, part.timeout) = (Int(try integer(Int64.self)), try integer())
        part.sampling = try sampling()
        row.parts = [part]
        let (sequence, at, opened): (Int64, Int64, Int64) = (try integer(), try integer(), try integer())
        let role = try integer(Int64.self)
        let (method, host, path) = (try text(), try text(), try text())
        var exchange = TransactionRow.Exchange(
            part: 0, sequence: sequence, at: at, opened: opened, role: role == 0 ? .client : .server, method: method,
            host: host == ClickHouseTables.noHost ? nil : host, path: path, state: try row.state(try integer()))
        (exchange.closedAt, exchange.firstByteAt) = (try optional(), try optional())
        exchange.status = try size().map { Int($0) }
        (exchange.sentByteCount, exchange.receivedByteCount) = (try size(), try size())
        let error = try text()
        if !error.isEmpty {
            let detail = DetailColumn(error)
            exchange.error = detail.error(code: detail.errorCode)
        }
        row.exchanges = [exchange]
        return row
    }
}

extension TransactionRow {
    private var damaged: WaybillError { WaybillError(.damaged, "The row of the transaction \(id) can't be read.") }

    fileprivate func check(_ isWhole: Bool) throws(WaybillError) {
        guard isWhole else { throw damaged }
    }

    fileprivate func check(_ indexes: RowBinaryReader.Integers, areBelow count: Int) throws(WaybillError) {
        guard indexes.allSatisfy((0..<Int64(count)).contains) else { throw damaged }
    }

    fileprivate func state(_ code: Int64) throws(WaybillError) -> ExchangeRecord.State {
        guard let state = ExchangeRecord.State(code: code) else { throw damaged }
        return state
    }
}
#endif
