import WaybillCore
import WaybillStore

/// The clocks and event names of all sources, read at once because a store may know many thousands.
final class SourceDirectory {
    /// By their IDs in the store. Sources of the same app version share a naming, except launches with their own names.
    private var entries: [Int64: (source: TransactionRow.Source, naming: Int)] = [:]
    /// The sources of rows, by number.
    private var made: [(row: Int, index: Int, naming: Int)] = []
    private var rows: [TransactionRow] = []
    private let connection: Connection
    private var namings: [Naming: Int] = [:]
    /// The last ones, because transactions usually have the same few.
    private var latest: [(naming: Naming, number: Int)] = []
    private var tables: [TableKey: NameCodes] = [:]
    private(set) var names: [String] = []
    private var numbers: [String: Int] = [:]

    private struct Naming: Hashable {
        var app: String
        var version: String
        var launch: String?
    }

    private struct TableKey: Hashable {
        var naming: Int
        var useCase: Int
    }

    convenience init(_ context: AnswerContext) throws(WaybillError) {
        if let rows = context.rows {
            try self.init(rows, context.connection)
        } else {
            try self.init(context.connection)
        }
    }

    /// Numbers the sources of rows in their order.
    private init(_ rows: [TransactionRow], _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        let launches = try connection.launchesWithNames()
        self.rows = rows
        made.reserveCapacity(rows.count)
        for row in rows.indices {
            if rows[row].sources.isEmpty { made.append((row, 0, -1)) }
            for index in rows[row].sources.indices {
                made.append((row, index, number(of: rows[row].sources[index], launches)))
            }
        }
    }

    subscript(source: Int64) -> TransactionRow.Source? { read(source) { $0 } }

    func id(of source: Int64) -> GUID? { read(source) { $0.id } }

    func installation(of source: Int64) -> GUID? { read(source) { $0.installation } ?? nil }

    func clock(of source: Int64) -> WallClock { read(source) { $0.clock } ?? WallClock([]) }

    /// Reads a source in place, because a copy would count a reference for each of its texts.
    @inline(__always)
    private func read<Value>(_ source: Int64, _ body: (TransactionRow.Source) -> Value) -> Value? {
        guard !made.isEmpty else { return entries[source].map { body($0.source) } }
        guard made.indices.contains(Int(source)) else { return nil }
        let (row, index, _) = made[Int(source)]
        guard rows[row].sources.indices.contains(index) else {
            return body(TransactionRow.Source(id: rows[row].opening.source))
        }
        return body(rows[row].sources[index])
    }

    /// Returns the row with the source; `nil` if sources are those of a store.
    func row(of source: Int64) -> TransactionRow? {
        made.indices.contains(Int(source)) ? rows[made[Int(source)].row] : nil
    }

    private func number(of source: TransactionRow.Source, _ launches: Set<String>) -> Int {
        if launches.isEmpty {
            for known in latest where known.naming.app == source.app && known.naming.version == source.appVersion {
                return known.number
            }
        }
        var naming = Naming(app: source.app, version: source.appVersion)
        if !launches.isEmpty {
            let launch = SQL.launch(version: source.appVersion, source: source.id)
            if launches.contains(launch) { naming.launch = launch }
        }
        let number = namings[naming] ?? namings.count
        namings[naming] = number
        latest = latest.suffix(3) + [(naming, number)]
        return number
    }

    init(_ connection: Connection) throws(WaybillError) {
        self.connection = connection
        var clocks: [Int64: [ClockAnchor]] = [:]
        try connection.statement("SELECT source, at_us, offset_us FROM clocks ORDER BY source, at_us").forEachRow {
            row in
            clocks[row.int(0), default: []].append(
                ClockAnchor(atMicroseconds: row.int(1), offsetMicroseconds: row.int(2)))
        }
        let launches = try connection.launchesWithNames()
        try connection.statement(
            "SELECT id, uuid, app, app_version, device, os, os_version, installation, ended_by FROM sources"
        ).forEachRow { row in
            var source = TransactionRow.Source(id: row.guid(1))
            (source.app, source.appVersion, source.device) = (row.text(2), row.text(3), row.text(4))
            (source.os, source.osVersion, source.endedBy) = (row.text(5), row.text(6), row.text(8))
            (source.installation, source.clock) = (row.optionalGUID(7), WallClock(clocks[row.int(0)] ?? []))
            entries[row.int(0)] = (source, number(of: source, launches))
        }
    }

    /// Creates a copy for another thread and connection. It keeps the known numbers and assigns its own new ones.
    init(_ others: SourceDirectory, by connection: Connection) {
        self.connection = connection
        (entries, made, rows) = (others.entries, others.made, others.rows)
        (names, numbers) = (others.names, others.numbers)
    }

    func wall(_ microseconds: Int64, in source: Int64) -> Int64 { clock(of: source).wall(microseconds) }

    func codes(of useCase: Int, in source: Int64) throws(WaybillError) -> NameCodes {
        guard let naming = made.isEmpty ? entries[source]?.naming : made[Int(source)].naming else { return NameCodes() }
        let key = TableKey(naming: naming, useCase: useCase)
        if let known = tables[key] { return known }
        guard let its = self[source] else { return NameCodes() }
        var table = NameCodes()
        let sql = """
            SELECT DISTINCT event, \
            \(SQL.name(useCase: "?1", event: "m.event", app: "?2", version: "?3", launch: "?4", otherwise: "'event ' || m.event")) \
            FROM names m WHERE m.use_case = ?1 AND m.event >= 0
            """
        let rows = try connection.statement(sql).rows(
            useCase, its.app, its.appVersion, SQL.launch(version: its.appVersion, source: its.id)
        ) { row in
            (row.int(0) as Int, row.text(1))
        }
        for (code, name) in rows { table[code] = number(of: name) }
        tables[key] = table
        return table
    }

    func name(_ parent: TransactionRow.Parent) throws(WaybillError) -> String {
        try NameTable(connection).useCase(
            parent.useCase, source: parent.source, app: parent.app, version: parent.appVersion)
    }

    func number(of name: String) -> Int {
        if let number = numbers[name] { return number }
        names.append(name)
        numbers[name] = names.count - 1
        return names.count - 1
    }

    func number(ofUnnamed code: Int) -> Int { number(of: "event \(code)") }
}

extension Connection {
    /// Returns all codes with this name in any version of any app and use case. A code may have other names elsewhere.
    func codes(named name: String) throws(WaybillError) -> Set<Int> {
        var codes = Set(
            try statement("SELECT DISTINCT event FROM names WHERE name = ? AND event >= 0").rows(name) { row in
                row.int(0) as Int
            })
        if let code = FilterCondition.code(ofUnnamed: name) { codes.insert(code) }
        return codes
    }
}

struct NameCodes {
    private var small: [Int32] = []
    private var large: [Int: Int] = [:]
    private static let smallLimit = 1024

    subscript(code: Int) -> Int? {
        get {
            guard code < Self.smallLimit else { return large[code] }
            return code >= 0 && code < small.count && small[code] >= 0 ? Int(small[code]) : nil
        }
        set {
            guard code < Self.smallLimit else {
                large[code] = newValue
                return
            }
            while small.count <= code { small.append(-1) }
            small[code] = Int32(newValue ?? -1)
        }
    }
}
