import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The state of facts in delivery.
@Suite(.timeLimit(.minutes(5))) struct DeliveryStateTests {
    private let store: Store
    private let place: ResolvedLocation
    private let app = FactWriter()

    init() throws { (store, place) = try Store.inMemory() }

    private func state(now: Int64 = FactWriter.wall) throws -> DeliveryState {
        try StoreReader(place).delivery(now: now, hours: 3)
    }

    private func write(_ events: Int) {
        let part = app.open(GUID())
        for _ in 0..<events { app.event(1, part: part) }
        app.close(part, .succeeded)
    }

    @Test func aStoreThatRecordsTellsWhatIsPendingAndWhatWasDeliveredLast() throws {
        #expect(try state().own == nil, "Nothing was recorded here.")
        write(1)
        write(1)
        try app.record(into: store)
        let before = try #require(try state().own)
        #expect(
            before.pendingCount == 6 && before.deliveredCount == 0 && before.settled == nil && before.sending == nil)
        let set = try #require(try store.lease(LeaseLimit(factCount: 3)))
        let under = try #require(try state().own)
        #expect(under.sending?.set == set.id && under.sending?.factCount == 3 && under.pendingCount == 6)
        #expect(try store.settle(set.id, rejections: [], at: 0))
        let after = try #require(try state().own)
        #expect(after.pendingCount == 3 && after.deliveredCount == 3 && after.sending == nil)
        #expect(
            after.settled?.id
                == app.facts.first.flatMap {
                    if case .opened(let opened) = $0.content { opened.transaction } else { nil }
                })
        #expect(try state().hours.isEmpty, "Nothing ever came from others.")
    }

    @Test func quarantineIsToldByReasonWithTheFirstFactOfEach() throws {
        write(4)
        try app.record(into: store)
        let set = try #require(try store.lease())
        let reasons: [Int64: String] = [2: "code unknown", 4: "too large", 5: "code unknown"]
        let rejections = reasons.map {
            Receipt.Rejection(source: app.id, sequence: $0.key, index: Int($0.key - 1), reason: $0.value)
        }
        #expect(try store.settle(set.id, rejections: rejections, at: 77))
        let state = try state()
        #expect(state.quarantinedCount == 3)
        let unknown = try #require(state.quarantine.first { $0.reason == "code unknown" })
        #expect(unknown.source == app.id && unknown.app == "app")
        #expect(unknown.count == 2 && unknown.first == 2 && unknown.last == 5 && unknown.lastMicroseconds == 77)
        #expect(unknown.sample == app.facts[1])
        #expect(state.quarantine.map(\.count).reduce(0, +) == 3)
    }

    @Test func whatCameIsCountedByTheHourWithoutHoles() throws {
        let hour: Int64 = 3_600_000_000
        let begin = FactWriter.wall / hour * hour
        write(1)
        _ = try store.ingest(app.set(1...1), receivedAt: begin - 3 * hour)  // before the requested three hours
        _ = try store.ingest(app.set(2...2), receivedAt: begin - 2 * hour)
        _ = try store.ingest(app.set(2...2), receivedAt: begin - 2 * hour + 1)  // already known
        _ = try store.ingest(app.set(3...3), receivedAt: begin + 5)
        #expect(
            try state(now: begin + 10).hours == [
                DeliveryState.Hour(beginMicroseconds: begin - 2 * hour, setCount: 1, factCount: 1),
                DeliveryState.Hour(beginMicroseconds: begin - hour, setCount: 0, factCount: 0),
                DeliveryState.Hour(beginMicroseconds: begin, setCount: 1, factCount: 1),
            ])
    }

    @Test func aVersionIsKnownSinceItsFirstStart() throws {
        for (version, wall) in [("1", 50), ("2", 90), ("1", 20)] as [(String, Int64)] {
            let writer = FactWriter("shop", version: version, wall: wall)
            writer.open(GUID())
            try store.ingest(writer.set())
        }
        #expect(
            try StoreReader(place).firstStarts()
                == [AppVersion(app: "shop", version: "1"): 20, AppVersion(app: "shop", version: "2"): 90])
    }
}
