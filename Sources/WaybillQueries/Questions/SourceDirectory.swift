import WaybillCore
import WaybillStore

/// The clocks and event names of all sources, read at once because a store may know many thousands.
final class SourceDirectory {
    struct Entry {
        var id: GUID
        var installation: GUID?
        var app, appVersion, device, os, osVersion: String
        var clock: WallClock
        /// Sources of the same app version share a number, except launches with their own names.
        var naming: Int
    }

    private(set) var entries: [Int64: Entry] = [:]
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
                let naming = number(
                    of: rows[row].sources[index].id, rows[row].sources[index].app,
                    rows[row].sources[index].appVersion, launches)
                made.append((row, index, naming))
            }
        }
    }

    subscript(source: Int64) -> Entry? {
        guard !made.isEmpty else { return entries[source] }
        guard made.indices.contains(Int(source)) else { return nil }
        let (row, index, naming) = made[Int(source)]
        guard rows[row].sources.indices.contains(index) else {
            return Entry(TransactionRow.Source(id: rows[row].opening.source), naming: naming)
        }
        return Entry(rows[row].sources[index], naming: naming)
    }

    func id(of source: Int64) -> GUID? {
        guard !made.isEmpty else { return entries[source]?.id }
        guard made.indices.contains(Int(source)) else { return nil }
        let (row, index, _) = made[Int(source)]
        return rows[row].sources.indices.contains(index) ? rows[row].sources[index].id : rows[row].opening.source
    }

    func installation(of source: Int64) -> GUID? {
        guard !made.isEmpty else { return entries[source]?.installation }
        let (row, index, _) = made[Int(source)]
        return rows[row].sources.indices.contains(index) ? rows[row].sources[index].installation : nil
    }

    func clock(of source: Int64) -> WallClock {
        guard !made.isEmpty else { return entries[source]?.clock ?? WallClock([]) }
        let (row, index, _) = made[Int(source)]
        return WallClock(rows[row].sources.indices.contains(index) ? rows[row].sources[index].clock : [])
    }

    private func number(of id: GUID, _ app: String, _ version: String, _ launches: Set<String>) -> Int {
        if launches.isEmpty {
            for known in latest where known.naming.app == app && known.naming.version == version { return known.number }
        }
        var naming = Naming(app: app, version: version)
        if !launches.isEmpty {
            let launch = SQL.launch(version: version, source: id)
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
        try connection.statement("SELECT id, uuid, app, app_version, device, os, os_version, installation FROM sources")
            .forEachRow { row in
                entries[row.int(0)] = Entry(
                    id: row.guid(1), installation: row.optionalGUID(7), app: row.text(2), appVersion: row.text(3),
                    device: row.text(4),
                    os: row.text(5), osVersion: row.text(6),
                    clock: WallClock(clocks[row.int(0)] ?? []),
                    naming: number(of: row.guid(1), row.text(2), row.text(3), launches))
            }
    }

    /// Creates a copy for another thread and connection. It keeps the known numbers and assigns its own new ones.
    init(_ others: SourceDirectory, by connection: Connection) {
        self.connection = connection
        (entries, made, rows) = (others.entries, others.made, others.rows)
        (names, numbers) = (others.names, others.numbers)
    }

    func wall(_ microseconds: Int64, in source: Int64) -> Int64 {
        self[source]?.clock.wall(microseconds) ?? microseconds
    }

    func codes(of useCase: Int, in source: Int64) throws(WaybillError) -> NameCodes {
        guard let naming = made.isEmpty ? entries[source]?.naming : made[Int(source)].naming else { return NameCodes() }
        let key = TableKey(naming: naming, useCase: useCase)
        if let known = tables[key] { return known }
        guard let entry = self[source] else { return NameCodes() }
        var table = NameCodes()
        let sql = """
            SELECT DISTINCT event, \
            \(SQL.name(useCase: "?1", event: "m.event", app: "?2", version: "?3", launch: "?4", otherwise: "'event ' || m.event")) \
            FROM names m WHERE m.use_case = ?1 AND m.event >= 0
            """
        let rows = try connection.statement(sql).rows(
            useCase, entry.app, entry.appVersion, SQL.launch(version: entry.appVersion, source: entry.id)
        ) { row in
            (row.int(0) as Int, row.text(1))
        }
        for (code, name) in rows { table[code] = number(of: name) }
        tables[key] = table
        return table
    }

    /// Returns the name of a parent's use case.
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

    func codes(named name: String) throws(WaybillError) -> Set<Int> { try connection.codes(named: name) }
}

extension SourceDirectory.Entry {
    fileprivate init(_ source: TransactionRow.Source, naming: Int) {
        self.init(
            id: source.id, installation: source.installation, app: source.app, appVersion: source.appVersion,
            device: source.device, os: source.os, osVersion: source.osVersion, clock: WallClock(source.clock),
            naming: naming)
    }
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
