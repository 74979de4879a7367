import CSQLite
import Foundation
import TestSupport
import WaybillCore
import WaybillStore

/// A collector's store after a month: many launches of an app in two versions, four servers whose clocks are off, nine in ten transactions logins,
/// half of which reached a server. Made once, by taking sets in, and kept in `.build/bench-store`.
struct AnswerStore {
    let folder: URL

    /// Since 1970: 2026-03-01.
    static let begun = 1_772_323_200_000_000
    /// Everybody has finished by then.
    static let now = begun + 31 * 86_400_000_000
    static let loginNames = [
        "initiated", "nameEntered", "passwordEntered", "requestSent", "responseReceived", "profileShown",
    ]
    static let serverNames = [10: "serverStarted", 11: "serverAccepted", 12: "serverRejected"]
    private static let launchesPerSet = 25
    private static let transactionsPerLaunch = 20

    /// The same facts for DuckDB.
    var parquet: URL { folder.appending(path: "facts.parquet") }

    /// - Parameter millions: Of events.
    init(millions: Int) throws {
        folder = URL(filePath: ".build/bench-store/\(millions)-million")
        guard !FileManager.default.fileExists(atPath: parquet.path(percentEncoded: false)) else { return }
        try? FileManager.default.removeItem(at: folder)
        FileHandle.standardError.write(
            Data("Making a store of \(millions) million events, which is kept in \(folder.relativePath).\n".utf8))
        if millions == 1 { try record() } else { try multiply(AnswerStore(millions: 1), by: millions) }
    }

    private func record() throws {
        try fill(eventCount: 1_000_000)
        let facts = folder.appending(path: "facts.ndjson")
        let file = try PartialFile(facts)
        _ = try StoreReader(.folder(folder)).export(.everything, as: .ndjson, redactor: Redactor()) { try file.write($0) }
        try file.finish()
        _ = try DuckDB.run(
            """
            COPY (SELECT transaction_id, use_case, source, installation, part, is_joined, sequence, kind, time_us, at_us, code, name, outcome, \
            duration_us, error_domain, error_code FROM waybill_ndjson('\(facts.relativePath)')) TO '\(parquet.relativePath)'
            """)
        try FileManager.default.removeItem(at: facts)
    }

    /// The same month again, by others and a few seconds later: rows as taking them in would make them, in a tenth of the time.
    private func multiply(_ store: AnswerStore, by count: Int) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "waybill.sqlite")
        try FileManager.default.copyItem(at: store.folder.appending(path: "waybill.sqlite"), to: file)
        var database: OpaquePointer?
        guard sqlite3_open(file.path(percentEncoded: false), &database) == SQLITE_OK else {
            throw WaybillError(.store, "The store cannot be opened.")
        }
        defer { sqlite3_close(database) }
        let parts =
            "use_case, joined, own_timeout_us, at_us, opened_detail, closed, closed_at_us, error_code, closed_detail, outcome, settled"
        let others = "app, app_version, device, os, os_version, attributes, heard_us, recorded, refused, delivered, ended, news"
        // Of the first month alone, however many were added meanwhile.
        let setup = """
            PRAGMA journal_mode = OFF; PRAGMA cache_size = -200000; \
            CREATE TEMP TABLE first AS SELECT max(id) AS id FROM sources;
            """
        let copies = (1..<count).map { copy in
            let source = "+ \(copy) * (SELECT id FROM first)"
            let isFirst = "<= (SELECT id FROM first)"
            return """
                INSERT INTO sources(id, uuid, installation, \(others)) SELECT id \(source), randomblob(16), installation, \(others) \
                FROM sources WHERE id \(isFirst); \
                INSERT INTO clocks SELECT source \(source), at_us, offset_us + \(copy * Self.lag) FROM clocks WHERE source \(isFirst); \
                INSERT INTO parts(source, sequence, guid, listed_us, beyond, beyond_at_us, \(parts)) SELECT source \(source), sequence, \
                CAST(substr(guid, 1, 15) || x'\(String(format: "%02x", copy))' AS BLOB), listed_us + \(copy * Self.lag), beyond, beyond_at_us, \
                \(parts) FROM parts WHERE source \(isFirst) ORDER BY source, sequence; \
                INSERT INTO events SELECT source \(source), part, after, at_us, code, detail FROM events WHERE source \(isFirst) \
                ORDER BY source, part, after;
                """
        }
        guard sqlite3_exec(database, setup + copies.joined(), nil, nil, nil) == SQLITE_OK else {
            throw WaybillError(.store, "The store was not multiplied: \(String(cString: sqlite3_errmsg(database)))")
        }
        _ = try DuckDB.run(
            """
            COPY (SELECT * REPLACE (md5(transaction_id::VARCHAR || copy)::UUID AS transaction_id, md5(source::VARCHAR || copy)::UUID AS source, \
            time_us + copy * \(Self.lag) AS time_us) FROM '\(store.parquet.relativePath)', range(\(count)) AS copies(copy)) \
            TO '\(parquet.relativePath)'
            """)
    }

    private static let lag = 6_000_000

    private func fill(eventCount: Int) throws {
        let store = try Store(.folder(folder))
        var maker = AnswerSetMaker(seed: 7)
        var receivedAt = Self.begun
        while maker.eventCount < eventCount {
            let share = Double(maker.eventCount) / Double(eventCount)
            receivedAt = Self.begun + Int(share * 30 * 86_400_000_000)
            let set = maker.set(of: Self.launchesPerSet, transactionsEach: Self.transactionsPerLaunch, at: receivedAt)
            _ = try store.ingest(DecodedSet(set: set), receivedAt: receivedAt)
            if maker.setCount % 20 == 0 { try store.checkpoint() }
        }
        try store.checkpoint()
    }
}

/// Makes sets as such an app and its servers send them.
struct AnswerSetMaker {
    private var random: RandomNumbers
    private var servers: [Recording]
    private(set) var eventCount = 0
    private(set) var setCount = 0

    init(seed: Int) {
        random = RandomNumbers(seed: seed)
        servers = []
        for number in 0..<4 {
            servers.append(
                Recording(
                    Source(
                        id: random.guid(), installation: random.guid(), app: "login-server", appVersion: "7.\(number / 2)",
                        device: "x86_64",
                        os: "Linux", osVersion: "6.1"),
                    // Odd, as all clients' clocks are even: no two events of one transaction have the same time.
                    offset: AnswerStore.begun + (number - 2) * 15_000 + 1))
        }
    }

    mutating func set(of launchCount: Int, transactionsEach: Int, at wall: Int) -> TransactionSet {
        setCount += 1
        var shares: [TransactionSet.Share] = []
        for server in servers.indices { servers[server].facts = [] }
        for launch in 0..<launchCount {
            let isNew = random.oneIn(3)
            let source = Source(
                id: random.guid(), installation: installation(), app: "com.example.shop", appVersion: isNew ? "4.3.0" : "4.2.1",
                device: "iPhone17,\(Int.random(in: 1...4, using: &random))", os: "iOS", osVersion: isNew ? "26.1" : "18.5")
            var client = Recording(source, offset: (wall + launch * 1_000_000) / 2 * 2)
            for number in 0..<transactionsEach {
                client.now = number * 60_000_000 + Int.random(in: 0..<10_000_000, using: &random) * 2
                if random.oneIn(10) { search(&client) } else { login(&client) }
            }
            shares.append(client.share(names: Self.clientNames, hasEnded: true))
        }
        for server in servers where !server.facts.isEmpty { shares.append(server.share(names: Self.serverNames, hasEnded: false)) }
        return TransactionSet(id: random.guid(), sources: shares)
    }

    private static let clientNames =
        [RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 1, name: "search")]
        + AnswerStore.loginNames.enumerated().map { RecordedName(useCase: 0, event: $0.offset, name: $0.element) }
        + ["typed", "listed", "opened"].enumerated().map { RecordedName(useCase: 1, event: $0.offset, name: $0.element) }
    private static let serverNames =
        [RecordedName(useCase: 0, name: "login")]
        + AnswerStore.serverNames.sorted { $0.key < $1.key }.map { RecordedName(useCase: 0, event: $0.key, name: $0.value) }

    private var installations: [GUID] = []

    private mutating func installation() -> GUID {
        if installations.count > 10, !random.oneIn(3) { return installations[Int.random(in: 0..<installations.count, using: &random)] }
        installations.append(random.guid())
        return installations[installations.count - 1]
    }

    /// Microseconds, even; most short, some long.
    private mutating func pause(_ usual: Int) -> Int {
        let share = Double.random(in: 0..<1, using: &random)
        return max(2, Int(Double(usual) / (1.02 - share)) / 2 * 2)
    }

    private mutating func event(_ code: Int, after usual: Int, _ recording: inout Recording, part: Int) {
        recording.now += pause(usual)
        recording.add(.event(Fact.Event(code: code)), part: part)
        eventCount += 1
    }

    private mutating func search(_ client: inout Recording) {
        let part = client.open(random.guid(), useCase: 1)
        for code in 0..<Int.random(in: 1...3, using: &random) { event(code, after: 400_000, &client, part: part) }
        client.now += pause(100_000)
        client.add(.closed(Fact.Closed(outcome: .succeeded)), part: part)
    }

    private mutating func login(_ client: inout Recording) {
        let id = random.guid()
        let part = client.open(id, useCase: 0, attributes: ["variant": random.oneIn(2) ? "A" : "B"])
        event(0, after: 20_000, &client, part: part)
        guard !random.oneIn(12) else { return leave(&client, part) }
        event(1, after: 900_000, &client, part: part)
        for _ in 0..<Int.random(in: 1...3, using: &random) { event(2, after: 1_100_000, &client, part: part) }
        guard !random.oneIn(10) else { return leave(&client, part) }
        for _ in 0..<(random.oneIn(8) ? 2 : 1) { event(3, after: 5_000, &client, part: part) }
        var isRejected = false
        if random.oneIn(2) { isRejected = serve(id, &client) }
        client.now += pause(9_000)
        event(4, after: 9_000, &client, part: part)
        guard !isRejected else {
            client.add(
                .closed(Fact.Closed(outcome: .failed, error: RecordedError(domain: "LoginError", code: random.oneIn(3) ? 429 : 401))),
                part: part)
            return
        }
        event(5, after: 30_000, &client, part: part)
        client.now += pause(4_000)
        client.add(.closed(Fact.Closed(outcome: random.oneIn(25) ? .canceled : .succeeded)), part: part)
    }

    /// Given up, or killed.
    private mutating func leave(_ client: inout Recording, _ part: Int) {
        client.now += pause(2_000_000)
        if !random.oneIn(4) { client.add(.closed(Fact.Closed(outcome: .abandoned)), part: part) }
    }

    /// - Returns: Whether the server said no.
    private mutating func serve(_ id: GUID, _ client: inout Recording) -> Bool {
        let isRejected = random.oneIn(5)
        let number = Int.random(in: 0..<4, using: &random)
        var server = servers[number]
        server.now = client.offset + client.now - AnswerStore.begun + pause(8_000)
        let part = server.open(id, useCase: 0, isJoined: true)
        event(10, after: 300, &server, part: part)
        event(isRejected ? 12 : 11, after: 6_000, &server, part: part)
        server.now += pause(300)
        server.add(.closed(Fact.Closed(outcome: .succeeded)), part: part)
        client.now = server.now - client.offset + AnswerStore.begun
        servers[number] = server
        return isRejected
    }
}

/// What one source records.
private struct Recording {
    let source: Source
    let offset: Int
    var now = 0
    var facts: [Fact] = []
    private var sequence = 0

    init(_ source: Source, offset: Int) {
        self.source = source
        self.offset = offset
    }

    mutating func add(_ content: Fact.Content, part: Int?) {
        sequence += 1
        facts.append(Fact(sequence: sequence, part: part ?? sequence, atMicroseconds: now, content: content))
    }

    /// - Returns: The part.
    mutating func open(_ id: GUID, useCase: Int, attributes: Attributes = [:], isJoined: Bool = false) -> Int {
        add(.opened(Fact.Opened(transaction: id, useCase: useCase, isJoined: isJoined, attributes: attributes)), part: nil)
        return sequence
    }

    func share(names: [RecordedName], hasEnded: Bool) -> TransactionSet.Share {
        TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: offset)], hasEnded: hasEnded, names: names,
            ledger: Ledger(recorded: sequence, pending: facts.count), facts: facts)
    }
}
