#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

extension RowContents {
    /// SQL for the columns that ``RowBinaryReader/transaction(_:)`` reads.
    func columns(now: Int64) -> String {
        var columns = [
            "tx, source, sequence, use_case, at_us, begun_us, closed, closed_at_us",
            "\(RowConditions.outcome(now: now)), part_sample_ppm[1], part_sample_kept[1], part_slow[1]",
        ]
        if readsErrors { columns.append("has_error, error_code, error") }
        if readsProperties {
            columns.append(
                "installations[1], devices[1], oses[1], os_versions[1], ended_by[1], apps[1], app_versions[1]")
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
            columns.append("sources, apps, app_versions, clock_sources, clock_at, clock_offsets")
            columns.append("part_sources, part_use_cases")
        }
        if codes != [] {
            columns += ["event_parts", "event_sequences", "event_at", "event_codes"].map { column in
                guard let codes else { return column }
                let list = codes.sorted().map { "toInt64(\($0))" }.joined(separator: ", ")
                return "arrayFilter((x, c) -> has([\(list)], c), \(column), event_codes)"
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
    }

    private mutating func sources(_ sources: [TransactionRow.Source]) {
        array(sources) { $0.guid($1.id) }
        array(sources) { $0.guid($1.installation ?? ClickHouseTables.none) }
        for text in [\TransactionRow.Source.app, \.appVersion, \.device, \.os, \.osVersion, \.endedBy] {
            array(sources) { $0.string($1[keyPath: text]) }
        }
        array(sources.map(\.rank))
        let anchors = sources.enumerated().flatMap { number, source in source.clock.map { (number, $0) } }
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
        let id = try guid()
        var row = TransactionRow(id: id, opening: FactID(source: try guid(), sequence: try integer()))
        row.useCase = Int(try integer(Int64.self))
        (row.at, row.begun) = (try integer(), try integer())
        let closing: (Int64, Int64) = (try integer(), try integer())
        row.closing = closing.0 == 0 ? nil : closing
        row.outcome = Int(try integer(UInt8.self))
        // The servers have decided what has timed out.
        row.lastActivity = .max
        row.sampling = try sampling()
        if contents.readsErrors {
            let (hasError, code) = (try integer(UInt8.self) == 1, try integer(Int64.self))
            row.errorCode = hasError ? code : nil
            row.errorDetail = try text()
        }
        if contents.readsProperties {
            let installation = try guid()
            var source = TransactionRow.Source(id: row.opening.source)
            source.installation = installation == ClickHouseTables.none ? nil : installation
            (source.device, source.os, source.osVersion) = (try text(), try text(), try text())
            (source.endedBy, source.app, source.appVersion) = (try text(), try text(), try text())
            row.sources = [source]
        }
        if contents.attributes != [] {
            for (name, value) in zip(try array { try $0.text() }, try array { try $0.text() }) {
                row.attributes[name] = Attributes(columnText: value)[""]
            }
        }
        if contents.readsParts { try readParts(&row) }
        if contents.codes != [] { try readEvents(&row) }
        if contents.readsExchanges { try readExchanges(&row) }
        if contents.readsRequests {
            let statuses = try array()
            let (methods, hosts) = (try array { try $0.text() }, try array { try $0.text() })
            let paths = try array { try $0.text() }
            try row.check([statuses.count, methods.count, hosts.count, paths.count], row.exchanges.count)
            for index in row.exchanges.indices {
                row.exchanges[index].status = statuses[index] < 0 ? nil : Int(statuses[index])
                (row.exchanges[index].method, row.exchanges[index].path) = (methods[index], paths[index])
                row.exchanges[index].host = hosts[index] == ClickHouseTables.noHost ? nil : hosts[index]
            }
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

    private mutating func readParts(_ row: inout TransactionRow) throws {
        let (ids, apps, versions) = (
            try array { try $0.guid() }, try array { try $0.text() }, try array { try $0.text() }
        )
        let (owners, times, offsets) = (try array(), try array(), try array())
        let (partSources, useCases) = (try array(), try array())
        try row.check([apps.count, versions.count], ids.count)
        try row.check([times.count, offsets.count], owners.count)
        try row.check([useCases.count], partSources.count)
        try row.check(owners + partSources, areBelow: ids.count)
        row.sources = ids.indices.map { index in
            var source = index == 0 ? row.sources.first ?? .init(id: ids[0]) : .init(id: ids[index])
            (source.app, source.appVersion) = (apps[index], versions[index])
            return source
        }
        for (index, owner) in owners.enumerated() {
            row.sources[Int(owner)].clock.append(
                ClockAnchor(atMicroseconds: times[index], offsetMicroseconds: offsets[index]))
        }
        row.parts = zip(partSources, useCases).map { TransactionRow.Part(source: Int($0), useCase: Int($1)) }
    }

    private mutating func readEvents(_ row: inout TransactionRow) throws {
        let (parts, sequences, at, codes) = (try array(), try array(), try array(), try array())
        try row.check([sequences.count, at.count, codes.count], parts.count)
        try row.check(parts, areBelow: row.parts.count)
        row.events = parts.indices.map { index in
            TransactionRow.Event(
                part: Int(parts[index]), sequence: sequences[index], at: at[index], code: Int(codes[index]))
        }
    }

    private mutating func readExchanges(_ row: inout TransactionRow) throws {
        let (partSequences, partAt, partClosed) = (try array(), try array(), try array())
        let (causeSources, causes) = (try array { try $0.guid() }, try array())
        try row.check(
            [partSequences.count, partAt.count, partClosed.count, causeSources.count, causes.count], row.parts.count)
        for index in row.parts.indices {
            (row.parts[index].sequence, row.parts[index].at) = (partSequences[index], partAt[index])
            row.parts[index].closedAt = partClosed[index] == ClickHouseTables.missing ? nil : partClosed[index]
            if causeSources[index] != ClickHouseTables.none {
                row.parts[index].cause = FactID(source: causeSources[index], sequence: causes[index])
            }
        }
        let (parts, sequences, at, closed, first) = (
            try array(), try array(), try array(), try array(), try array()
        )
        let (roles, states) = (try array(), try array())
        try row.check(
            [sequences.count, at.count, closed.count, first.count, roles.count, states.count], parts.count)
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

    fileprivate func check(_ counts: [Int], _ count: Int) throws(WaybillError) {
        guard counts.allSatisfy({ $0 == count }) else { throw damaged }
    }

    fileprivate func check(_ indexes: [Int64], areBelow count: Int) throws(WaybillError) {
        guard indexes.allSatisfy((0..<Int64(count)).contains) else { throw damaged }
    }

    fileprivate func state(_ code: Int64) throws(WaybillError) -> ExchangeRecord.State {
        guard let state = ExchangeRecord.State(code: code) else { throw damaged }
        return state
    }
}
#endif
