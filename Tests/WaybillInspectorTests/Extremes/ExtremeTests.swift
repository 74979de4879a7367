import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillExport
import WaybillInspector
import WaybillQueries
import WaybillSpans
import WaybillStore
import WaybillTesting

/// Numbers of any size in sets, spans and stores: no page, question, export or verification may end the process,
/// whatever a stranger sends or damages. A crash prints the seed that reproduces it.
@Suite(.timeLimit(.minutes(60))) struct ExtremeTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: seeds(0..<4)) func nothingThatIsReadEndsTheProcess(seed: Int) async throws {
        var round = try ExtremeRound(seed: seed, folder)
        try await round.run()
    }

    /// `make fuzz-extremes SECONDS=60 SEED=n`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["FUZZ_SECONDS"] != nil))
    func nothingThatIsReadForAWhileEndsTheProcess() async throws {
        let environment = ProcessInfo.processInfo.environment
        let end = ContinuousClock.now + .seconds(Int(environment["FUZZ_SECONDS"] ?? "") ?? 60)
        var seed = environment["FUZZ_SEED"].flatMap { Int($0) } ?? Int.random(in: 1_000..<1_000_000_000)
        while ContinuousClock.now < end {
            // Printed first, because the round may crash the process.
            FileHandle.standardError.write(Data("extremes: seed \(seed)\n".utf8))
            var round = try ExtremeRound(seed: seed, folder)
            try await round.run()
            seed += 1
        }
    }
}

/// Reads one store of extreme sets in every way, then again with arbitrary numbers in any cell, then with its spans in
/// another store.
private struct ExtremeRound {
    private let seed: Int
    private let folder: URL
    private var random: RandomNumbers
    private var sets: [TransactionSet]
    private var transactions: [GUID] = []

    init(seed: Int, _ place: TemporaryDirectory) throws {
        self.seed = seed
        folder = place.file("round \(seed)")
        random = RandomNumbers(seed: seed)
        var maker = HistoryMaker(seed: seed)
        maker.isSampling = random.oneIn(2)
        var cutter = SetMaker(random: random)
        sets = cutter.sets(of: maker.histories())
        if random.oneIn(4) { sets.append(chain()) }
        transactions = Set(sets.flatMap(\.sources).flatMap(\.facts).compactMap(\.transaction)).sorted()
    }

    /// Makes sources that ask each other, with clocks set from one limit to the other: their offsets add up.
    private mutating func chain() -> TransactionSet {
        let transaction = random.guid()
        let limit = Limits.largestInteger
        var cause: FactID?
        let shares = (0..<Int.random(in: 2...700, using: &random)).map { _ -> TransactionSet.Share in
            let id = random.guid()
            defer { cause = FactID(source: id, sequence: 2) }
            let facts = [
                Fact(
                    sequence: 1, part: 1, atMicroseconds: 0,
                    content: .opened(
                        Fact.Opened(transaction: transaction, useCase: 3, isJoined: cause != nil, cause: cause))),
                Fact(
                    sequence: 2, part: 1, atMicroseconds: 1_000_000,
                    content: .exchangeOpened(Fact.ExchangeOpened(method: "GET", path: "/"))),
                Fact(
                    sequence: 3, part: 1, atMicroseconds: 2_000_000, content: .closed(Fact.Closed(outcome: .succeeded))),
                Fact(
                    sequence: 4, part: 1, atMicroseconds: 3_000_000,
                    content: .exchangeClosed(Fact.ExchangeClosed(exchange: 2, state: .completed))),
            ]
            return TransactionSet.Share(
                source: SourceIdentity(id: id, app: "app"),
                clocks: [
                    ClockAnchor(atMicroseconds: 0, offsetMicroseconds: -limit),
                    ClockAnchor(atMicroseconds: 1_000_000, offsetMicroseconds: limit),
                ], ledger: Ledger(recorded: 4), facts: facts)
        }
        return TransactionSet(id: random.guid(), sources: shares)
    }

    mutating func run() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try SQLiteStore(making: "waybill", in: folder.appending(path: "sets"))
        var extremes = ExtremeNumbers(
            random: random, numbers: ExtremeNumbers.ofSets, rarity: [3, 8, 20, 60].randomElement(using: &random) ?? 8)
        for set in sets {
            // If no reader accepts the changed set, the original: otherwise the store would stay almost empty.
            let bytes = set.encoded()
            guard
                let read = (try? TransactionSet.decode(extremes.spread(in: bytes)))
                    ?? (try? TransactionSet.decode(bytes))
            else { continue }
            let received = ReceivedSet(set: Redactor().redacted(read), atMicroseconds: 1_760_000_000_000_000)
            _ = try await store.add(received)
        }
        let file = folder.appending(path: "sets/waybill.sqlite")
        try await look(at: file, isDamaged: false)
        try await takeSpans(of: store)
        try damage(file)
        try await look(at: file, isDamaged: true)
    }

    // MARK: Damage

    /// Writes arbitrary numbers into some cells.
    private mutating func damage(_ file: URL) throws {
        let connection = try Connection(file.path(percentEncoded: false), .readWrite, at: "the test's store")
        let columns = try connection.statement(
            """
            SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c \
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type = 'INTEGER'
            """
        ).rows { row in (table: row.text(0), column: row.text(1)) }
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            guard let (table, column) = columns.randomElement(using: &random),
                let number = ExtremeNumbers.ofAnyInteger.randomElement(using: &random)
            else { return }
            // Unique columns, and columns of empty tables, stay as they are.
            try? connection.execute(
                "UPDATE OR IGNORE \(table) SET \(column) = \(number) WHERE abs(random()) % \(Int.random(in: 1...4, using: &random)) = 0"
            )
        }
    }

    /// Sends the spans of a store, with other numbers, into another store.
    private mutating func takeSpans(of store: SQLiteStore) async throws {
        let other = try SQLiteStore(making: "waybill", in: folder.appending(path: "spans"))
        let lines = Locked<[UInt8]>([])
        let output = try ExportOutput { bytes in lines.withLock { $0 += bytes } }
        try? await store.write(.of(ListRequest()), as: .otlp, to: output)
        var extremes = ExtremeNumbers(random: random, numbers: ExtremeNumbers.ofAnyInteger, rarity: 10)
        for line in lines.withLock({ $0 }).split(separator: UInt8(ascii: "\n")).prefix(20) {
            guard let request = try? TraceRequest.decode(json: extremes.spread(in: Array(line)), limit: 10_000) else {
                continue
            }
            _ = try await other.add(request, sentBy: "a token")
        }
        _ = try await other.settleWaitingSpans()
        try await look(at: folder.appending(path: "spans/waybill.sqlite"), isDamaged: false)
    }

    // MARK: Reading

    private func look(at file: URL, isDamaged: Bool) async throws {
        let store = try SQLiteStore(file)
        let inspector = try Inspector(file: file)
        for path in try await paths(store) {
            let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
            let response = await inspector.respond(
                to: InspectorRequest(
                    path: parts[0], query: parts.dropFirst().first ?? "", fields: ["host": "localhost"]))
            #expect((200..<(isDamaged ? 600 : 500)).contains(response.status), "seed \(seed): \(path)")
        }
        for question in try Self.questions { _ = try? await store.answer(question, where: []) }
        let output = try ExportOutput { _ in }
        for format in TextFormat.allCases { try? await store.write(.of(ListRequest()), as: format, to: output) }
        for format in ExchangeFormat.allCases {
            _ = try? await store.export(ListRequest(), as: ExchangeExport(as: format), to: output)
        }
        _ = try? await store.report(ListRequest()).html
        do { _ = try await store.verify() } catch { #expect(isDamaged, "seed \(seed): \(error)") }
        for row in (try? await store.exchanges(ListRequest()).rows.prefix(3)) ?? [] {
            _ = ExchangeText(Redactor().redacted(row), bodies: Redactor().redacted(ExchangeBodies())).lines
        }
    }

    private func paths(_ store: SQLiteStore) async throws -> [String] {
        let exchanges = (try? await store.exchanges(ListRequest()).rows.prefix(3).map(\.id)) ?? []
        let known = transactions.shuffled().prefix(4)
        let files = ["", "?clocks=raw", "/json", "/har", "/html", "/otlp"]
        var paths = Self.pages + known.flatMap { id in files.map { "/transactions/\(id)\($0)" } }
        paths += known.flatMap { a in known.prefix(2).map { b in "/beside?a=\(a)&b=\(b)" } }
        paths += exchanges.map { "/network/\($0)" }
        paths += sets.flatMap(\.sources).prefix(4).map { "/sources/\($0.source.id)" }
        return paths
    }

    private static let pages: [String] = {
        let views = [
            "", "/duration", "/funnel", "/dropoff", "/legs", "/compare?by=app", "/compare?a=48h..24h&b=24h..0h",
            "/why", "/why?filter=took%3E1ms",
        ]
        let uses = views.map { "/use-cases/3\($0)" }
        return [
            "/transactions", "/transactions?q=duration%3A%3E1ms", "/transactions?q=sort%3Alongest",
            "/sessions", "/sessions?filter=sort:longest", "/transactions?since=0&until=253402300799999999",
            "/transactions?since=99999999999w", "/network",
            "/network?q=size%3E1kB", "/network?since=253402300799999999", "/use-cases", "/use-cases.csv", "/errors",
            "/errors.csv?new_since=253402300799999999", "/errors?new_since=99999999999w&sort=new", "/sources",
            "/delivery", "/terms",
        ] + uses
    }()

    private static var questions: [AnyQuestion] {
        get throws {
            let filters = [
                "", #","filter":{"use_case":3}"#,
                #","filter":{"since_us":-9007199254740991,"until_us":9007199254740991}"#,
            ]
            var bodies = ["summary", "duration", "transitions", "legs", "dropoff", "errors", "why"].flatMap { word in
                filters.map { #"{"question":"\#(word)"\#($0)}"# }
            }
            bodies += [
                #"{"question":"summary","step_us":60000000}"#, #"{"question":"network","example_count":5}"#,
                #"{"question":"network","grouping":"host"}"#,
                #"{"question":"duration","filter":{"use_case":3},"from":"^","to":"event 1","segmentation":"app"}"#,
                #"{"question":"funnel","filter":{"use_case":3},"steps":["^","event 1","$"]}"#,
            ]
            // Ignores questions that can't be parsed: each word has at least one that can.
            let questions = bodies.compactMap {
                try? JSONDecoder.waybill().decode(AnyQuestion.self, from: Data($0.utf8))
            }
            let compared = AnyQuestion.compare(
                CompareQuestion(filter: TransactionFilter(), groups: .values(of: .app, "app 0", "app 1")))
            return questions + [compared]
        }
    }
}

extension Fact {
    fileprivate var transaction: GUID? {
        if case .opened(let opened) = content { opened.transaction } else { nil }
    }
}
