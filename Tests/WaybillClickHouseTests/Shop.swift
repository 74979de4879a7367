#if ClickHouse
import Foundation
import TestSupport
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillClickHouse

extension ClickHouseStore {
    /// Adds sets that were received at the same time, in seconds since 1970.
    func add(_ sets: [TransactionSet], at seconds: Double = 1_800_000_000) async throws {
        for set in sets { _ = try await add(ReceivedSet(set, received: Date(timeIntervalSince1970: seconds))) }
    }
}

/// The sets of a client and a server whose clocks differ.
struct Shop {
    private var random: RandomNumbers
    private var client: Recorder
    private var server: Recorder
    private(set) var transactions: [GUID] = []
    var factCount: Int { client.facts.count + server.facts.count }

    init(seed: Int) {
        random = RandomNumbers(seed: seed)
        (client, server) = (Recorder("shop", random.guid()), Recorder("server", random.guid()))
    }

    mutating func pass(_ time: Duration) { client.now += time.microseconds }

    mutating func buy(below parent: GUID? = nil) {
        let id = random.guid()
        client.now += Int64.random(in: 0...3_000_000, using: &random)
        let part = client.add(
            .opened(Fact.Opened(transaction: id, useCase: 1, parent: parent)))
        transactions.append(id)
        if random.oneIn(3) { client.add(.exchangeOpened(Self.request), part: 0) }
        let exchange = client.add(.exchangeOpened(Self.request), part: part)
        server.now = client.now + 5_000_000 + Int64.random(in: 1_000...90_000, using: &random)
        let serverPart = server.add(
            .opened(
                Fact.Opened(
                    transaction: id, useCase: 1, isJoined: true,
                    cause: FactID(source: client.source.id, sequence: exchange))))
        server.add(.event(Fact.Event(code: 1)), part: serverPart)
        server.now += Int64.random(in: 1_000...50_000, using: &random)
        server.add(.closed(Fact.Closed(outcome: .succeeded)), part: serverPart)
        client.now = server.now - 5_000_000 + Int64.random(in: 1_000...90_000, using: &random)
        client.add(
            .exchangeClosed(
                Fact.ExchangeClosed(
                    exchange: exchange, state: .completed, status: 200, firstByteAtMicroseconds: client.now)),
            part: part)
        client.add(.closed(Fact.Closed(outcome: random.oneIn(3) ? .failed : .succeeded)), part: part)
    }

    private static let request = Fact.ExchangeOpened(
        method: "POST", scheme: "https", host: "shop.example.com", path: "/orders")

    /// Returns two sets. Some facts arrive before the openings of their parts.
    mutating func sets() -> [TransactionSet] {
        let late = Set((client.facts + server.facts).indices.filter { _ in random.oneIn(3) })
        return [true, false].map { isFirst in
            TransactionSet(
                id: random.guid(),
                sources: [client, server].map { recorder in
                    recorder.share(recorder.facts.filter { late.contains(Int($0.sequence)) != isFirst })
                })
        }
    }
}

/// The facts that one source records.
struct Recorder {
    let source: SourceIdentity
    var now: Int64 = 0
    private(set) var facts: [Fact] = []

    init(_ app: String, version: String = "1", _ id: GUID, of installation: GUID? = nil) {
        source = SourceIdentity(
            id: id, installation: installation, app: app, appVersion: version, device: "x86_64", os: "Linux",
            osVersion: "6.1")
    }

    @discardableResult mutating func add(_ content: Fact.Content, part: Int64? = nil) -> Int64 {
        now += 100
        let sequence = Int64(facts.count) + 1
        facts.append(Fact(sequence: sequence, part: part ?? sequence, atMicroseconds: now, content: content))
        return sequence
    }

    func share(_ some: [Fact]) -> TransactionSet.Share {
        TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_800_000_000_000_000)],
            ledger: Ledger(recorded: Int64(facts.count), pending: Int64(some.count)), facts: some,
            sourceProof: IdentityProof("the secret of source \(source.id)"))
    }
}
#endif
