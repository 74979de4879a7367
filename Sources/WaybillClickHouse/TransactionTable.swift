#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

/// The table `transactions` has a row of each transaction. Most questions read these rows instead of the facts.
extension ClickHouseTables {
    private static let columns = """
        tx, version, gone, joined, source, sequence, use_case, at_us, begun_us, closed, closed_at_us, outcome, timeout_us, \
        last_us, has_error, error_code, error, sample_ppm, sample_kept, slow_us, installation, device, os, os_version, \
        ended_by, attribute_names, attribute_values, said, sources, apps, app_versions, clock_sources, clock_at, \
        clock_offsets, part_sources, part_use_cases, event_parts, event_sequences, event_at, event_codes
        """

    /// Inserts rows; `nil` for a transaction without any fact left.
    func insert(_ rows: [(id: GUID, row: TransactionRow?)], version: Int64) async throws(WaybillError) {
        var writer = RowBinaryWriter()
        for (id, row) in rows {
            writer.guid(id)
            writer.integer(version)
            writer.integer(UInt8(row == nil ? 1 : 0))
            writer.transaction(row ?? TransactionRow(id: id, opening: FactID(source: Self.none, sequence: 0)))
        }
        try await insert("transactions(\(Self.columns))", writer)
    }

    /// Returns the newest versions of rows.
    func versions(of transactions: [GUID]) async throws(WaybillError) -> [GUID: Int64] {
        var versions: [GUID: Int64] = [:]
        for some in transactions.inChunks(of: Self.idsPerStatement) {
            try await client.forEachRow(
                "SELECT tx, max(version) FROM transactions WHERE tx IN (\(Self.list(some))) GROUP BY tx", reading
            ) { row in versions[try row.guid()] = try row.integer() }
        }
        return versions
    }

    /// Returns the matching transactions in the order of a condition with `ORDER BY`.
    func transactions(where condition: String) async throws(WaybillError) -> [GUID] {
        try await client.rows("SELECT tx FROM transactions FINAL WHERE gone = 0 AND \(condition)", reading) { row in
            try row.guid()
        }
    }

    /// Passes on the rows that match, in groups.
    func transactions(
        where condition: String, reading contents: RowContents, now: Int64,
        eachGroup body: ([TransactionRow]) async throws -> Void
    ) async throws {
        var (rows, failure) = ([TransactionRow](), (any Error)?.none)
        do {
            try await client.forEachRow(
                "SELECT \(contents.columns(now: now)) FROM transactions FINAL WHERE gone = 0 AND \(condition)", reading
            ) { row in
                rows.append(try row.transaction(contents))
            } eachPiece: {
                guard rows.count >= Self.rowsPerGroup else { return }
                let group = rows
                rows.removeAll(keepingCapacity: true)
                do { try await body(group) } catch {
                    failure = error
                    throw error
                }
            }
        } catch {
            // The client would report another error.
            throw failure ?? error
        }
        if !rows.isEmpty { try await body(rows) }
    }

    private static let rowsPerGroup = 8_192
}

extension RowContents {
    /// SQL for the columns that ``RowBinaryReader/transaction(_:)`` reads.
    fileprivate func columns(now: Int64) -> String {
        var columns = [
            "tx, source, sequence, use_case, at_us, begun_us, closed, closed_at_us",
            "\(ClickHouseTables.outcome(now: now)), sample_ppm, sample_kept, slow_us",
        ]
        if readsErrors { columns.append("has_error, error_code, error") }
        if readsProperties {
            columns.append("installation, device, os, os_version, ended_by, apps[1], app_versions[1]")
        }
        if !attributes.isEmpty {
            let names = "[\(attributes.sorted().map(ClickHouseTables.literal).joined(separator: ", "))]"
            columns.append("arrayFilter(n -> has(\(names), n), attribute_names)")
            columns.append("arrayFilter((v, n) -> has(\(names), n), attribute_values, attribute_names)")
        }
        if codes != [] {
            columns.append("sources, apps, app_versions, clock_sources, clock_at, clock_offsets")
            columns.append("part_sources, part_use_cases")
            columns += ["event_parts", "event_sequences", "event_at", "event_codes"].map { column in
                guard let codes else { return column }
                let list = codes.sorted().map { "toInt64(\($0))" }.joined(separator: ", ")
                return "arrayFilter((x, c) -> has([\(list)], c), \(column), event_codes)"
            }
        }
        return columns.joined(separator: ", ")
    }
}

extension ClickHouseTables {
    /// SQL for rows of `transactions`; `nil` if they lack a property in the filter.
    static func condition(_ filter: TransactionFilter, now: Int64) -> String? {
        var conditions = ["joined IN (\(filter.beginner.joined.map(String.init).joined(separator: ", ")))"]
        guard !filter.isFolded else { return nil }
        for condition in filter.conditions {
            guard let sql = sql(of: condition, now: now) else { return nil }
            conditions.append(sql)
        }
        return conditions.map { "(\($0))" }.joined(separator: " AND ")
    }

    fileprivate static func outcome(now: Int64) -> String {
        let (open, timedOut) = (TransactionOutcome.open.rawValue, TransactionOutcome.timedOut.rawValue)
        return "toUInt8(if(outcome = \(open) AND last_us + timeout_us < \(now), \(timedOut), outcome))"
    }

    private static func sql(of condition: FilterCondition, now: Int64) -> String? {
        func isSame(_ column: String, _ value: String) -> String { "lower(\(column)) = lower(\(literal(value)))" }
        switch condition {
        case .useCase(let code): return "use_case = \(code)"
        case .outcome(let outcomes):
            let codes = outcomes.map { "\($0.rawValue)" }.sorted().joined(separator: ", ")
            return outcomes.isEmpty ? "1" : "\(outcome(now: now)) IN (\(codes))"
        case .sinceMicroseconds(let time): return "begun_us >= \(time)"
        case .untilMicroseconds(let time): return "begun_us < \(time)"
        case .app(let value): return isSame("apps[1]", value)
        case .appVersion(let value): return isSame("app_versions[1]", value)
        case .device(let value): return isSame("device", value)
        case .osVersion(let value): return isSame("os_version", value)
        case .os(let value):
            let system = "lower(concat(os, ' ', os_version, ' '))"
            let beginnings = [" ", "."].map { "position(\(system), lower(\(literal(value + $0)))) = 1" }
            return beginnings.joined(separator: " OR ")
        case .source(let id): return "source = \(literal(id))"
        case .installation(let id): return "installation = \(literal(id))"
        case .ended(let value):
            let isSo =
                switch value {
                case "unknown": "ended_by = ''"
                case "signal": "ended_by LIKE 'SIG%'"
                default: "ended_by = \(literal(value))"
                }
            return "outcome = \(TransactionOutcome.interrupted.rawValue) AND \(isSo)"
        case .sampled(.chosen): return "sample_ppm >= 0 AND NOT sample_kept"
        case .sampled(.unchosen): return "sample_ppm >= 0 AND sample_kept"
        case .sampled(.none): return "sample_ppm < 0"
        case .oneIn(let count): return "substring(tx, 13, 4) < unhex('\(GUID.sampleBound(oneIn: count))')"
        case .tookMoreThan(let duration): return "closed != 0 AND closed_at_us - at_us > \(duration.microseconds)"
        case .tookLessThan(let duration): return "closed != 0 AND closed_at_us - at_us < \(duration.microseconds)"
        case .attribute(let name, let value):
            let said = SaidAttributes.texts(of: name, matching: value).map { "has(said, \(literal($0)))" }
            return said.joined(separator: " OR ")
        case .not(let condition): return sql(of: condition, now: now).map { "NOT (\($0))" }
        case .event, .error, .finishError, .text, .status, .exchange, .state, .host, .path, .method,
            .receivedMoreThan, .receivedLessThan, .closeCode, .parent, .root, .child:
            return nil
        }
    }
}

/// The texts in the column `said`. Equal numbers have the same text.
enum SaidAttributes {
    static func texts(of said: [(name: String, value: AttributeValue)]) -> [String] {
        var texts: Set<String> = []
        for (name, value) in said {
            texts.insert(text(name))
            switch value {
            case .string(let text): texts.insert(self.text(name, "=", text))
            case .bool(let isTrue): texts.insert(text(name, "=", isTrue ? "true" : "false"))
            case .integer(let number): texts.insert(text(name, "#", "\(number)"))
            case .double(let number): texts.insert(text(name, "#", Self.number(number)))
            }
        }
        return texts.sorted()
    }

    static func texts(of name: String, matching value: String?) -> [String] {
        guard let value else { return [text(name)] }
        var texts = [text(name, "=", value)]
        if value.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }), let number = Double(value) {
            texts.append(text(name, "#", Int64(value).map { "\($0)" } ?? Self.number(number)))
        }
        return texts
    }

    private static func text(_ name: String, _ kind: String = "", _ value: String = "") -> String {
        "\(name.utf8.count):\(name)\(kind)\(value)"
    }

    private static func number(_ number: Double) -> String { Int64(exactly: number).map { "\($0)" } ?? "\(number)" }
}

extension RowBinaryWriter {
    fileprivate mutating func transaction(_ row: TransactionRow) {
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
        integer(Int64(row.sampling?.perMillion ?? -1))
        integer(UInt8(row.sampling?.isChosen == false ? 1 : 0))
        integer(row.sampling?.slowMicroseconds ?? -1)
        guid(row.installation ?? ClickHouseTables.none)
        for text in [row.device, row.os, row.osVersion, row.endedBy] { string(text) }
        let attributes = row.attributes.sorted { $0.key < $1.key }
        array(attributes.map(\.key)) { $0.string($1) }
        array(attributes.map(\.value)) { $0.string(Attributes(["": $1]).columnText ?? "") }
        array(SaidAttributes.texts(of: row.said)) { $0.string($1) }
        array(row.sources) { $0.guid($1.id) }
        array(row.sources) { $0.string($1.app) }
        array(row.sources) { $0.string($1.appVersion) }
        let anchors = row.sources.enumerated().flatMap { number, source in source.clock.map { (number, $0) } }
        array(anchors) { $0.integer(Int64($1.0)) }
        array(anchors) { $0.integer($1.1.atMicroseconds) }
        array(anchors) { $0.integer($1.1.offsetMicroseconds) }
        array(row.parts) { $0.integer(Int64($1.source)) }
        array(row.parts) { $0.integer(Int64($1.useCase)) }
        array(row.events) { $0.integer(Int64($1.part)) }
        array(row.events) { $0.integer($1.sequence) }
        array(row.events) { $0.integer($1.at) }
        array(row.events) { $0.integer(Int64($1.code)) }
    }
}

extension RowBinaryReader {
    fileprivate mutating func transaction(_ contents: RowContents) throws -> TransactionRow {
        let id = try guid()
        var row = TransactionRow(id: id, opening: FactID(source: try guid(), sequence: try integer()))
        row.useCase = Int(try integer(Int64.self))
        (row.at, row.begun) = (try integer(), try integer())
        let closing: (Int64, Int64) = (try integer(), try integer())
        row.closing = closing.0 == 0 ? nil : closing
        row.outcome = Int(try integer(UInt8.self))
        // The servers have decided what has timed out.
        row.lastActivity = .max
        let rate: (Int64, UInt8, Int64) = (try integer(), try integer(), try integer())
        if rate.0 >= 0 {
            row.sampling = Fact.Sampling(
                perMillion: Int(rate.0), isChosen: rate.1 == 0, slowMicroseconds: rate.2 < 0 ? nil : rate.2)
        }
        if contents.readsErrors {
            let (hasError, code) = (try integer(UInt8.self) == 1, try integer(Int64.self))
            row.errorCode = hasError ? code : nil
            row.errorDetail = try text()
        }
        if contents.readsProperties {
            let installation = try guid()
            row.installation = installation == ClickHouseTables.none ? nil : installation
            (row.device, row.os, row.osVersion, row.endedBy) = (try text(), try text(), try text(), try text())
            row.sources = [
                TransactionRow.Source(id: row.opening.source, app: try text(), appVersion: try text(), clock: [])
            ]
        }
        if !contents.attributes.isEmpty {
            for (name, value) in zip(try array { try $0.text() }, try array { try $0.text() }) {
                row.attributes[name] = Attributes(columnText: value)[""]
            }
        }
        if contents.codes != [] { try readEvents(&row) }
        return row
    }

    private mutating func readEvents(_ row: inout TransactionRow) throws {
        let (ids, apps, versions) = (
            try array { try $0.guid() }, try array { try $0.text() }, try array { try $0.text() }
        )
        let (owners, times, offsets) = (try array(), try array(), try array())
        let (partSources, useCases) = (try array(), try array())
        let (parts, sequences, at, codes) = (try array(), try array(), try array(), try array())
        let places = (0..<Int64(ids.count), 0..<Int64(partSources.count))
        guard apps.count == ids.count, versions.count == ids.count, useCases.count == partSources.count,
            [times.count, offsets.count].allSatisfy({ $0 == owners.count }),
            [sequences.count, at.count, codes.count].allSatisfy({ $0 == parts.count }),
            (owners + partSources).allSatisfy(places.0.contains), parts.allSatisfy(places.1.contains)
        else { throw WaybillError(.damaged, "The row of the transaction \(row.id) can't be read.") }
        row.sources = ids.indices.map { index in
            TransactionRow.Source(id: ids[index], app: apps[index], appVersion: versions[index], clock: [])
        }
        for (index, owner) in owners.enumerated() {
            row.sources[Int(owner)].clock.append(
                ClockAnchor(atMicroseconds: times[index], offsetMicroseconds: offsets[index]))
        }
        row.parts = zip(partSources, useCases).map { TransactionRow.Part(source: Int($0), useCase: Int($1)) }
        row.events = parts.indices.map { index in
            TransactionRow.Event(
                part: Int(parts[index]), sequence: sequences[index], at: at[index], code: Int(codes[index]))
        }
    }
}
#endif
