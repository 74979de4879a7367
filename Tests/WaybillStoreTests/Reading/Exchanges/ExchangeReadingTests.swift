import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// Exchanges as lines of a list, and individually.
@Suite(.timeLimit(.minutes(5))) struct ExchangeReadingTests {
    private let store: Store
    private let reader: StoreReader

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    private func page(_ filter: ExchangeFilter = ExchangeFilter(), limit: Int = 100, after cursor: String? = nil) throws
        -> RecordPage<ExchangeRecord>
    {
        try reader.exchanges(matching: filter, limit: limit, after: cursor, now: FactWriter.wall)
    }

    private func all(_ filter: ExchangeFilter = ExchangeFilter()) throws -> [FactID] {
        var ids: [FactID] = []
        try reader.forEachExchange(matching: filter, now: FactWriter.wall) { ids.append($0.id) }
        return ids
    }

    // MARK: Order

    /// Breaks when a page skips or repeats a line, whatever the sources' clocks did: set forward, set back, or never
    /// reported.
    @Test func pagesFollowEachOtherInTheOrderOfOpeningWhateverTheClocksDid() throws {
        var random = RandomNumbers(seed: 5)
        for _ in 0..<30 {
            let writer = FactWriter(
                "app", wall: FactWriter.wall + Int64.random(in: -40...40, using: &random) * 1_000_000)
            if random.oneIn(6) { writer.clocks = [] }
            for at: Int64 in [20, 45] where random.oneIn(2) {
                let shift = Int64.random(in: -50...50, using: &random) * 1_000_000
                writer.clocks.append(
                    ClockAnchor(atMicroseconds: at * 1_000_000, offsetMicroseconds: FactWriter.wall + shift))
            }
            let part = writer.open(GUID(), at: 0)
            for second in 0..<Int.random(in: 0...60, using: &random) {
                writer.openExchange(part: random.oneIn(3) ? 0 : part, at: second - (random.oneIn(5) ? second % 2 : 0))
            }
            try store.ingest(writer.set())
        }
        let oldestFirst = try all()
        #expect(oldestFirst.count > 400)
        for limit in [1, 7, 50] where limit > 1 || oldestFirst.count < 1_500 {
            var seen: [ExchangeRecord] = []
            var cursor: String?
            try eventually("the last page comes") {
                let page = try page(limit: limit, after: cursor)
                #expect(page.rows.count <= limit)
                seen += page.rows
                cursor = page.next
                return cursor == nil
            }
            #expect(seen.map(\.id) == oldestFirst.reversed(), "\(limit) a page")
            #expect(
                zip(seen, seen.dropFirst()).allSatisfy {
                    $0.exchange.openedMicroseconds >= $1.exchange.openedMicroseconds
                })
        }
    }

    /// Breaks when exchanges that arrive between two pages shift the pages.
    @Test func whatArrivesMeanwhileDoesNotShiftThePages() throws {
        let writer = FactWriter()
        for second in 0..<10 { writer.openExchange(part: 0, at: second) }
        try store.ingest(writer.set())
        var seen: [Int64] = []
        var cursor: String?
        try eventually("the last page comes") {
            let page = try page(limit: 3, after: cursor)
            seen += page.rows.map(\.id.sequence)
            cursor = page.next
            let newer = FactWriter()
            newer.openExchange(part: 0, at: 1_000)
            try store.ingest(newer.set())
            return cursor == nil
        }
        #expect(seen == Array((1...10).reversed()))
    }

    @Test func aCursorThatNoListGaveIsRefused() {
        #expect(throws: WaybillError.self) { try page(after: "1.2") }
    }

    /// Breaks when a duration is measured by the wall clock.
    @Test func anExchangeTakesAsLongAsItsSourcesOwnClockSays() throws {
        let writer = FactWriter()
        let exchange = writer.openExchange(part: 0, at: 10)
        let transfer = Fact.Transfer(
            sentAtMicroseconds: 11_000_000,
            redirects: [Fact.Redirect(status: 302, url: "/", atMicroseconds: 12_000_000)])
        writer.closeExchange(
            Fact.ExchangeClosed(
                exchange: exchange, state: .completed, status: 200, firstByteAtMicroseconds: 13_000_000,
                transfer: transfer), part: 0,
            at: 14)
        // The clock was set back by an hour during the exchange.
        writer.clocks.append(
            ClockAnchor(atMicroseconds: 11_500_000, offsetMicroseconds: FactWriter.wall - 3_600_000_000))
        try store.ingest(writer.set())
        let found = try #require(try page().rows.first?.exchange)
        #expect(found.openedMicroseconds == FactWriter.wall + 10_000_000)
        #expect(found.transfer.sentAtMicroseconds == FactWriter.wall + 11_000_000)
        #expect(found.transfer.redirects.first?.atMicroseconds == FactWriter.wall + 12_000_000)
        #expect(found.firstByteMicroseconds == FactWriter.wall + 13_000_000)
        #expect(found.closedMicroseconds == FactWriter.wall + 14_000_000)
    }

    // MARK: Filters

    /// Records one exchange of each state, all of one source but the interrupted one, and returns their IDs.
    private func fill() throws -> [ExchangeRecord.State: FactID] {
        let writer = FactWriter("shop")
        writer.names = [RecordedName(useCase: 3, name: "checkout")]
        let part = writer.open(GUID(high: 7, low: 7), useCase: 3, at: 0)
        func close(
            _ exchange: Int64, _ state: ExchangeState, status: Int? = nil, error: RecordedError? = nil,
            isMocked: Bool = false
        ) {
            writer.closeExchange(
                Fact.ExchangeClosed(
                    exchange: exchange, state: state, status: status, error: error,
                    transfer: Fact.Transfer(isMocked: isMocked)), part: part
            )
        }
        var ids: [ExchangeRecord.State: FactID] = [:]
        func open(_ state: ExchangeRecord.State, _ method: String, _ path: String, part: Int64) -> Int64 {
            let sequence = writer.openExchange(
                Fact.ExchangeOpened(
                    method: method, scheme: "https", host: "api.example.com", port: 8443, path: path,
                    query: "q=\(state.rawValue)",
                    headerFields: [HeaderField(name: "X-Trace", value: "trace-of-\(state.rawValue)")]),
                part: part)
            ids[state] = FactID(source: writer.id, sequence: sequence)
            return sequence
        }
        close(open(.completed, "GET", "/items", part: part), .completed, status: 200)
        close(open(.mocked, "GET", "/items", part: part), .completed, status: 404, isMocked: true)
        close(
            open(.failed, "POST", "/orders", part: part), .failed,
            error: RecordedError(domain: "NSURLErrorDomain", code: -1009))
        close(open(.cancelled, "PUT", "/cart", part: part), .cancelled)
        _ = open(.inProgress, "GET", "/100%_sure", part: 0)
        writer.close(part, .failed)
        try store.ingest(writer.set())
        let dead = FactWriter("dead")
        ids[.interrupted] = FactID(source: dead.id, sequence: dead.openExchange(part: 0, at: 100))
        try store.ingest(dead.set(ended: true))
        return ids
    }

    /// Breaks when a state is not found under its own name, or another state is.
    @Test func everyStateIsFoundUnderItsOwnNameOnly() throws {
        let ids = try fill()
        for state in ExchangeRecord.State.allCases {
            let filter = ExchangeFilter([.state([state])])
            let found = try page(filter).rows
            #expect(found.map(\.id) == [ids[state]] && found.map(\.state) == [state], "\(state)")
            #expect(try all(filter) == found.map(\.id))
        }
        #expect(try page().rows.count == ids.count)
    }

    @Test func everyConditionMustHold() throws {
        let ids = try fill()
        func found(_ change: (inout ExchangeFilter) -> Void) throws -> Set<ExchangeRecord.State> {
            var filter = ExchangeFilter()
            change(&filter)
            let found = Set(try page(filter).rows.map(\.id))
            #expect(Set(try all(filter)) == found)
            return Set(ids.filter { found.contains($0.value) }.keys)
        }
        let inTransaction: Set<ExchangeRecord.State> = [.completed, .mocked, .failed, .cancelled]
        #expect(try found { $0.conditions.append(.useCase(3)) } == inTransaction)
        #expect(try found { $0.conditions.append(.useCase(4)) } == [])
        #expect(try found { $0.conditions.append(.outcome([.failed])) } == inTransaction)
        #expect(try found { $0.conditions.append(.outcome([.succeeded])) } == [])
        #expect(try found { $0.conditions.append(.method(["POST", "PUT"])) } == [.failed, .cancelled])
        #expect(try found { $0.conditions.append(.status(400...499)) } == [.mocked])
        #expect(try found { $0.conditions.append(.text("EXAMPLE.com:8443/orders")) } == [.failed])
        #expect(try found { $0.conditions.append(.text("post https://api.example.com:8443/orders?q=f")) } == [.failed])
        #expect(try found { $0.conditions.append(.text("q=cancelled")) } == [.cancelled])
        #expect(try found { $0.conditions.append(.text("trace-of-completed")) } == [.completed])
        #expect(try found { $0.conditions.append(.text("nsurlerror")) } == [.failed])
        #expect(try found { $0.conditions.append(.text("100%_s")) } == [.inProgress])
        #expect(
            try found { $0.conditions.append(.text(GUID(high: 7, low: 7).supportCode.description)) } == inTransaction)
        #expect(try found { $0.conditions.append(.text("00000000-0000-0007")) } == inTransaction)
        #expect(try found { $0.conditions.append(.sinceMicroseconds(FactWriter.wall + 100_000_000)) } == [.interrupted])
        #expect(try found { $0.conditions.append(.sinceMicroseconds(FactWriter.wall + 100_000_001)) } == [])
        #expect(try found { $0.conditions.append(.untilMicroseconds(FactWriter.wall + 1_000_001)) } == [.completed])
        #expect(try found { $0.conditions.append(.untilMicroseconds(FactWriter.wall + 1_000_000)) } == [])
    }

    // MARK: One

    @Test func anExchangeIsFoundByItsIDWithWhatItBelongsTo() throws {
        let ids = try fill()
        let (first, last) = (try #require(ids[.completed]), try #require(ids[.inProgress]))
        let completed = try #require(try reader.exchange(first))
        #expect(completed.exchange.url == "https://api.example.com:8443/items?q=completed")
        #expect(completed.transaction == GUID(high: 7, low: 7))
        #expect(completed.useCase == 3 && completed.useCaseName == "checkout" && completed.source.app == "shop")
        let outside = try #require(try reader.exchange(last))
        #expect(
            outside.transaction == nil && outside.useCase == nil && outside.useCaseName == nil
                && outside.exchange.state == nil)
        #expect(
            try reader.exchange(FactID(source: completed.id.source, sequence: 1)) == nil,
            "the opening of a part is no exchange")
        #expect(try reader.exchange(FactID(source: GUID(), sequence: completed.id.sequence)) == nil)
    }

    @Test func sourcesAreFoundByTheBeginningOfTheirCode() throws {
        _ = try fill()
        let source = try #require(try page().rows.last?.id.source)
        let code = source.supportCode.description
        for text in [code, code.lowercased(), code.replacing("-", with: ""), String(code.prefix(6))] {
            #expect(try reader.sources(withCode: text) == [source], "\(text)")
        }
        #expect(try reader.sources(withCode: "").isEmpty)
        #expect(try reader.sources(withCode: "\(code)0").isEmpty)
        #expect(try reader.sources(withCode: "U").isEmpty, "no letter of the alphabet")
    }

    // MARK: Cost

    /// Breaks when a page of a store with ten times as much data costs more than twice the work.
    @Test func aPageCostsWhatItShowsHoweverMuchThereIs() throws {
        func stepsOfAPage() throws -> Int {
            _ = try page(limit: 50)
            let before = reader.connection.virtualMachineSteps
            _ = try page(limit: 50)
            return reader.connection.virtualMachineSteps - before
        }
        func fill(_ count: Int) throws {
            for _ in 0..<10 {
                let writer = FactWriter()
                for second in 0..<count { writer.openExchange(part: 0, at: second) }
                try store.ingest(writer.set())
            }
        }
        try fill(100)
        let few = try stepsOfAPage()
        try fill(1_000)
        #expect(try stepsOfAPage() < 2 * few)
    }

    @Test func nothingFoundSaysWhy() throws {
        #expect(try reader.whyEmpty(ExchangeFilter()) == "There is no exchange here.")
        _ = try fill()
        #expect(try reader.whyEmpty(ExchangeFilter()) == "None of the 6 exchanges here passes the filter.")
    }
}
