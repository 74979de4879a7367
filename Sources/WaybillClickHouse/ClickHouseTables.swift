#if ClickHouse
import Foundation
import WaybillCore
import WaybillQueries
import WaybillStore

struct ClickHouseTables: Sendable {
    var client: ClickHouseClient
    /// Whether the server's version is 20 or later. Older ones lack some settings.
    let isCurrent: Bool
    /// Whether to count duplicate facts, which only a test does.
    var takesEachRow = false
    var cluster: String? { client.address.cluster }

    struct FactRow {
        var source: GUID
        /// `nil` if there is no transaction, or an unknown one.
        var transaction: GUID?
        var fact: Fact

        var id: FactID { FactID(source: source, sequence: fact.sequence) }
        var part: FactID { FactID(source: source, sequence: fact.part) }
    }

    // MARK: Settings

    var reading: [String: String] {
        client.address.quorum > 1 ? ["select_sequential_consistency": "1"] : [:]
    }

    var inserting: [String: String] {
        var settings: [String: String] = [:]
        if isCurrent { settings["async_insert"] = "0" }
        if cluster != nil {
            settings["insert_distributed_sync"] = "1"
            settings["insert_quorum"] = "\(client.address.quorum)"
            settings["insert_quorum_timeout"] = "20000"
            // Reads must include everything that was acknowledged.
            if isCurrent { settings["insert_quorum_parallel"] = "0" }
        }
        return settings
    }

    // MARK: Reading

    private static let attempts = 10

    /// Repeats `body` while a server lags behind the servers that have acknowledged inserts.
    func untilComplete<Value>(_ body: () async throws -> Value) async throws -> Value {
        for attempt in 0..<Self.attempts {
            do { return try await body() } catch is DatabaseBooks.Incomplete {
                if attempt < Self.attempts - 1 { try await Task.sleep(for: .milliseconds(50 << min(attempt, 5))) }
            }
        }
        throw incomplete
    }

    var tooMuch: WaybillError {
        WaybillError(.refused, "This needs too many facts at once. Ask for less.")
    }

    var incomplete: WaybillError {
        WaybillError(
            .store,
            "A server of \(client.address) lacks facts that were acknowledged. Try again when it has caught up.")
    }

    /// Books of erased installations don't count. The last place that was given counts even if its facts are gone.
    func state() async throws(WaybillError) -> (bookCount: UInt64, lastArrival: Int64, tombstoneCount: UInt64) {
        let states = try await client.rows(
            """
            SELECT countIf(installation NOT IN (SELECT guid FROM erased WHERE with_installation = 0)), \
            greatest(max(arrival), toInt64(ifNull((SELECT max(place) FROM commits), 0))), \
            toUInt64(ifNull((SELECT uniqExact(guid, with_installation) FROM erased), 0)) FROM books WHERE \(Self.isOfASource)
            """, reading
        ) { row in (try row.integer(UInt64.self), try row.integer(Int64.self), try row.integer(UInt64.self)) }
        return states.first ?? (0, 0, 0)
    }

    func tombstones(where condition: String = "1") async throws(WaybillError) -> [Tombstone] {
        try await client.rows(
            """
            SELECT guid, with_installation, min(at_us), max(proof) FROM erased WHERE \(condition) \
            GROUP BY guid, with_installation ORDER BY guid
            """, reading
        ) { row in
            Tombstone(
                id: try row.guid(), isWithInstallation: try row.bool(), at: try row.integer(),
                proofDigest: try row.optionalString())
        }
    }

    func tombstones(of ids: some Collection<GUID>) async throws(WaybillError) -> [Tombstone] {
        var tombstones: [Tombstone] = []
        for some in Array(ids).inChunks(of: Self.idsPerStatement) {
            tombstones += try await self.tombstones(where: "guid IN (\(Self.list(some)))")
        }
        return tombstones
    }

    func names() async throws(WaybillError) -> [NameChange] {
        try await client.rows(
            """
            SELECT use_case, event, app, app_version, name FROM names \
            GROUP BY use_case, event, app, app_version, name HAVING argMax(removed, arrival) = 0
            """, reading
        ) { row in
            NameChange(
                useCase: Int(try row.integer(Int64.self)), event: Int(try row.integer(Int64.self)),
                app: try row.text(), appVersion: try row.text(), name: try row.text(), isRemoved: false)
        }
    }

    /// Returns the secrets that installations showed first; an empty one if they showed none.
    func installations(_ ids: some Collection<GUID>) async throws(WaybillError) -> [GUID: [UInt8]] {
        let proofs = try await rows(
            "SELECT guid, argMin(proof, arrival) FROM installations WHERE guid IN (?) GROUP BY guid", of: ids
        ) { row in (try row.guid(), try row.string()) }
        return Dictionary(proofs) { first, _ in first }
    }

    /// Returns the last place of each process that inserted something behind `place`.
    func lastPlaces(behind place: Int64) async throws(WaybillError) -> [Int64: Int64] {
        let places = try await client.rows(
            "SELECT max(place) FROM commits WHERE place > \(place) GROUP BY place % \(ArrivalPlace.writerCount)",
            reading
        ) { row in try row.integer(Int64.self) }
        return Dictionary(
            places.compactMap { place in ArrivalPlace.writer(of: place).map { ($0, place) } }, uniquingKeysWith: max)
    }

    /// Only removals insert rows without a source.
    static let isOfASource = "source != \(literal(none))"

    /// Reads facts by source and sequence, each once. `condition` is SQL.
    func facts(where condition: String, _ body: (FactRow) throws -> Void) async throws(WaybillError) {
        var last: FactID?
        try await client.forEachRow(
            """
            SELECT tx, source, sequence, fact FROM facts WHERE \(Self.isOfASource) AND (\(condition)) \
            ORDER BY source, sequence
            """,
            reading
        ) { row in
            let (transaction, id, json) = (try row.optionalGUID(), try row.fact(), try row.string())
            guard id != last || takesEachRow else { return }
            last = id
            guard
                let fact = try? SetDecodingFailure.decoding(
                    json, { reader throws(JSONFailure) in try Fact.read(&reader) })
            else { throw WaybillError(.damaged, "The fact \(id) is none that can be read.") }
            try body(FactRow(source: id.source, transaction: transaction, fact: fact))
        }
    }

    func ids(_ sql: String) async throws(WaybillError) -> [GUID] {
        try await client.rows(sql, reading) { row in try row.guid() }
    }

    /// Returns rows about some IDs, which stand for each `?`. A long list takes several statements.
    func rows<Value>(
        _ sql: String, of ids: some Collection<GUID>, _ row: (inout RowBinaryReader) throws -> Value
    ) async throws(WaybillError) -> [Value] {
        var rows: [Value] = []
        for some in Array(ids).inChunks(of: Self.idsPerStatement) {
            rows += try await client.rows(sql.replacing("?", with: Self.list(some)), reading, row)
        }
        return rows
    }

    static func condition(_ source: GUID, _ sequences: SequenceRanges) -> String {
        let ranges = sequences.ranges.map { "sequence BETWEEN \($0.lowerBound) AND \($0.upperBound)" }
        return "source = \(literal(source)) AND (\(ranges.joined(separator: " OR ")))"
    }

    static let idsPerStatement = 500

    static func list(_ ids: some Collection<GUID>) -> String { ids.map(literal).joined(separator: ", ") }

    static func literal(_ id: GUID) -> String { id.withBytes { literal(bytes: $0) } }

    static func literal(_ text: String) -> String { literal(bytes: text.utf8) }

    /// A function for each ID would take servers longer than reading the rows.
    static func literal(bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".unicodeScalars)
        var literal = "'"
        for byte in bytes {
            literal += "\\x"
            literal.unicodeScalars.append(digits[Int(byte >> 4)])
            literal.unicodeScalars.append(digits[Int(byte & 15)])
        }
        return literal + "'"
    }

    // MARK: Writing

    /// Inserts facts, which count only after books name them.
    func insertFacts(of changes: StoreChanges, receivedAt wall: Int64) async throws(WaybillError) {
        var (rows, bySource, children) = (RowBinaryWriter(), RowBinaryWriter(), RowBinaryWriter())
        for books in changes.books {
            for fact in books.share.facts {
                if case .opened(let opened) = fact.content, let parent = opened.parent {
                    children.guid(parent)
                    children.guid(opened.transaction)
                }
                let part = books.transactions[fact.part]
                rows.integer(UInt16(Self.week(of: part?.transaction, at: wall)))
                rows.guid(part?.transaction)
                rows.guid(books.share.source.id)
                rows.integer(fact.sequence)
                rows.integer(fact.part)
                rows.integer(fact.content.number)
                rows.integer(fact.atMicroseconds)
                rows.integer(part.map { Int64($0.useCase) } ?? -1)
                var json = JSONWriter(capacity: 256)
                fact.write(to: &json)
                rows.string(json.bytes)
                bySource.guid(books.share.source.id)
                bySource.integer(fact.sequence)
                bySource.guid(part?.transaction)
                bySource.integer(fact.content.number)
                bySource.integer(fact.atMicroseconds)
            }
        }
        try await insert("facts(week, tx, source, sequence, part, kind, at_us, use_case, fact)", rows)
        try await insert("by_source(source, sequence, tx, kind, at_us)", bySource)
        try await insert("children(parent, child)", children)
        try await insert("begun(begun_us, tx)", of: changes.begun) { rows, begun in
            rows.integer(begun.at)
            rows.guid(begun.transaction)
        }
    }

    func insert(_ tombstones: [Tombstone]) async throws(WaybillError) {
        try await insert("erased(guid, with_installation, at_us, proof)", of: tombstones) { rows, tombstone in
            rows.guid(tombstone.id)
            rows.bool(tombstone.isWithInstallation)
            rows.integer(tombstone.at)
            rows.string(tombstone.proofDigest ?? [])
        }
    }

    func insert(_ names: [NameChange], _ arrival: Int64) async throws(WaybillError) {
        let columns = "names(use_case, event, app, app_version, name, removed, arrival)"
        try await insert(columns, of: names) { rows, name in
            rows.integer(Int64(name.useCase))
            rows.integer(Int64(name.event))
            rows.string(name.app)
            rows.string(name.appVersion)
            rows.string(name.name)
            rows.bool(name.isRemoved)
            rows.integer(arrival)
        }
    }

    func insert(installations: [GUID: [UInt8]], _ arrival: Int64) async throws(WaybillError) {
        try await insert("installations(guid, arrival, proof)", of: installations) { rows, installation in
            rows.guid(installation.key)
            rows.integer(arrival)
            rows.string(installation.value)
        }
    }

    func insert(place: Int64) async throws(WaybillError) {
        try await insert("commits(place)", of: [place]) { rows, place in rows.integer(place) }
    }

    static func rows(_ books: [SourceBooks], _ numbers: ArrivalNumbers) -> RowBinaryWriter {
        var rows = RowBinaryWriter()
        for books in books {
            var share = books.share
            share.facts = []
            // A share has a limited number of ranges. Further rows contain the others.
            var dropped = share.dropped[...]
            var isFirst = true
            repeat {
                share.dropped = Array(dropped.prefix(Limits.envelopeItems))
                dropped = dropped.dropFirst(Limits.envelopeItems)
                let arrivals = isFirst ? books.arrivals : []
                isFirst = false
                rows.guid(share.source.id)
                rows.integer(numbers.next(arrivals.count))
                rows.guid(share.source.installation)
                rows.integer(books.heard)
                rows.string(books.proofDigest ?? [])
                rows.string(books.installationDigest ?? [])
                rows.string(TransactionSet(id: share.source.id, sources: [share]).encoded())
                rows.array(arrivals.flatMap { [$0.first, $0.last, $0.received] })
                rows.array(books.retired.ranges.flatMap { [$0.lowerBound, $0.upperBound] })
            } while !dropped.isEmpty
        }
        return rows
    }

    /// Inserts all books at once. From then on, the facts that they name count.
    func insert(books rows: RowBinaryWriter) async throws(WaybillError) {
        try await insert(
            "books(source, arrival, installation, heard_us, proof, installation_proof, share, arrived, retired)", rows)
    }

    func insert(_ columns: String, _ rows: RowBinaryWriter) async throws(WaybillError) {
        try await client.insert("INSERT INTO \(columns)", rows, inserting)
    }

    func insert<Elements: Sequence>(
        _ columns: String, of elements: Elements, _ write: (inout RowBinaryWriter, Elements.Element) -> Void
    ) async throws(WaybillError) {
        var rows = RowBinaryWriter()
        for element in elements { write(&rows, element) }
        try await insert(columns, rows)
    }

    // MARK: Places

    static let none = GUID(high: 0, low: 0)
    private static let millisecondsPerWeek: Int64 = 604_800_000

    /// The partition of a transaction's facts, or 0 if the ID's time is far from its arrival. Otherwise, invented IDs
    /// would create partitions without limit.
    private static func week(of transaction: GUID?, at wall: Int64) -> Int64 {
        guard let transaction else { return 0 }
        let (week, now) = (transaction.millisecondsSince1970 / millisecondsPerWeek, wall / 1_000 / millisecondsPerWeek)
        return (now - 52...now + 1).contains(week) && (1...65_535).contains(week) ? week : 0
    }
}

extension Fact.Content {
    fileprivate var number: UInt8 {
        switch self {
        case .opened: 1
        case .event: 2
        case .attributesSet: 3
        case .closed: 4
        case .exchangeOpened: 5
        case .exchangeClosed: 6
        case .unknown: 7
        }
    }
}

extension Array {
    func inChunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}
#endif
