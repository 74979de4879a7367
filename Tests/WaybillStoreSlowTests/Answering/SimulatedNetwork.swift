import StoreConformance
import TestSupport
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillStoreTests

/// Clients and servers that share one true time, which none of their clocks shows. Some clocks are fast, some slow. All
/// of them started at different moments, and their wall times are wrong and jump.
struct SimulatedNetwork {
    /// The clock of a source.
    struct Clock {
        /// The true time when it started, in microseconds.
        var start: Int64
        /// How much faster than true time the clock runs.
        var millionths: Int

        func reading(at time: Int64) -> Double { Double(time - start) * (1 + Double(millionths) / 1_000_000) }
    }

    /// A fact that has no sequence yet.
    final class Planned {
        enum Kind {
            case opened(GUID, cause: Planned?), closed, exchangeOpened(ExchangeRole), exchangeClosed(
                ExchangeState, firstByte: Int64?)
        }

        let machine: Int
        let time: Int64
        let kind: Kind
        /// The opening of the fact's part; `nil` if this fact is the opening.
        let part: Planned?
        let exchange: Planned?
        var sequence: Int64 = 0

        init(_ machine: Int, _ time: Int64, _ kind: Kind, part: Planned? = nil, exchange: Planned? = nil) {
            self.machine = machine
            self.time = time
            self.kind = kind
            self.part = part
            self.exchange = exchange
        }
    }

    var random: RandomNumbers
    private(set) var clocks: [Clock] = []
    private var sources: [SourceIdentity] = []
    private var planned: [Planned] = []
    private let clientCount: Int

    init(seed: Int) {
        random = RandomNumbers(seed: seed)
        clientCount = Int.random(in: 1...2, using: &random)
        for number in 0..<clientCount + Int.random(in: 1...2, using: &random) {
            clocks.append(
                Clock(
                    start: -Int64.random(in: 0...5_000_000_000, using: &random),
                    millionths: Int.random(in: -49...49, using: &random)))
            sources.append(
                SourceIdentity(
                    id: random.guid(), app: number < clientCount ? "app" : "server", appVersion: "1.\(number)",
                    device: "device",
                    os: "Linux",
                    osVersion: "6"))
        }
    }

    /// Returns the value to add to one clock's reading to get the other's at a given time, with sub-microsecond
    /// precision.
    func offset(from server: Int, to client: Int, at time: Int64) -> Double {
        clocks[client].reading(at: time) - clocks[server].reading(at: time)
    }

    // MARK: Transactions

    /// Plans a client's transaction with some exchanges at about the given time.
    mutating func runTransaction(around time: Int64) {
        let client = Int.random(in: 0..<clientCount, using: &random)
        let guid = random.guid()
        var time = time
        let part = plan(client, time, .opened(guid, cause: nil))
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            time += Int64.random(in: -200...600, using: &random)
            let end = exchange(of: client, part, guid, at: max(part.time, time), depth: 0)
            // Some exchanges start while the previous one is in progress.
            if !random.oneIn(3) { time = end }
        }
        if !random.oneIn(6) {
            plan(client, max(part.time, time + Int64.random(in: -300...500, using: &random)), .closed, part: part)
        }
    }

    @discardableResult
    private mutating func plan(
        _ machine: Int, _ time: Int64, _ kind: Planned.Kind, part: Planned? = nil, exchange: Planned? = nil
    ) -> Planned {
        planned.append(Planned(machine, time, kind, part: part, exchange: exchange))
        return planned[planned.count - 1]
    }

    /// - Returns: The time when the exchange ended.
    private mutating func exchange(of client: Int, _ part: Planned, _ guid: GUID, at time: Int64, depth: Int) -> Int64 {
        let opened = plan(client, time, .exchangeOpened(.client), part: part)
        var end = time + Int64.random(in: 0...900, using: &random)
        var firstByte: Int64?
        if !random.oneIn(6) {
            let isSentAgain = random.oneIn(12)
            let tellsCause = isSentAgain || !random.oneIn(12)
            let answered = serve(tellsCause ? opened : nil, guid, at: time + delay(), depth: depth)
            let response = answered + delay()
            firstByte = response
            end = response + Int64.random(in: 0...200, using: &random)
            // An intermediary sends the request again, which the client doesn't see.
            if isSentAgain { end = max(end, serve(opened, guid, at: time + delay(), depth: depth) + delay()) }
        }
        if random.oneIn(10) {
            // The client gives up, whatever the server does.
            end = Int64.random(in: time...max(time, end), using: &random)
            plan(client, end, .exchangeClosed(.failed, firstByte: nil), part: part, exchange: opened)
        } else if !random.oneIn(12) {
            plan(
                client, end, .exchangeClosed(.completed, firstByte: random.oneIn(3) ? nil : firstByte), part: part,
                exchange: opened)
        }
        return end
    }

    /// Returns a delay that is mostly short, and different in each direction.
    private mutating func delay() -> Int64 { Int64.random(in: 20...(random.oneIn(3) ? 800 : 150), using: &random) }

    /// - Returns: The time when the server answered.
    private mutating func serve(_ cause: Planned?, _ guid: GUID, at time: Int64, depth: Int) -> Int64 {
        let server = Int.random(in: clientCount..<sources.count, using: &random)
        let part = plan(server, time, .opened(guid, cause: cause))
        let isLogged = random.oneIn(2)
        let opened = isLogged ? plan(server, time, .exchangeOpened(.server), part: part) : nil
        var end = time + Int64.random(in: 0...700, using: &random)
        if depth == 0, random.oneIn(4) { end = max(end, exchange(of: server, part, guid, at: time, depth: 1)) }
        if let opened { plan(server, end, .exchangeClosed(.completed, firstByte: nil), part: part, exchange: opened) }
        // The server's work after its answer doesn't count if the server's exchange is recorded.
        if !random.oneIn(10) {
            plan(server, end + (isLogged ? Int64.random(in: 0...2_000, using: &random) : 0), .closed, part: part)
        }
        return end
    }

    // MARK: Histories

    /// Returns the facts that each source recorded.
    mutating func histories() -> [SourceHistory] {
        var next = Array(repeating: Int64(1), count: sources.count)
        // Facts with equal times keep their planned order.
        let ordered = planned.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(
            \.element)
        for fact in ordered {
            fact.sequence = next[fact.machine]
            next[fact.machine] += 1
        }
        var histories: [SourceHistory] = []
        for (machine, source) in sources.enumerated() {
            let own = ordered.filter { $0.machine == machine }
            var clocks = [
                ClockAnchor(
                    atMicroseconds: 0,
                    offsetMicroseconds: 1_700_000_000_000_000 + Int64.random(in: 0...9_000_000, using: &random))
            ]
            while random.oneIn(2), let last = clocks.last {
                clocks.append(
                    ClockAnchor(
                        atMicroseconds: last.atMicroseconds + Int64.random(in: 1...5_000_000_000, using: &random),
                        offsetMicroseconds: last.offsetMicroseconds
                            + Int64.random(in: -900_000...900_000, using: &random)
                    ))
            }
            histories.append(
                SourceHistory(
                    source: source, clocks: clocks, names: [], facts: own.map(fact), hasEnded: random.oneIn(2),
                    refused: 0))
        }
        return histories
    }

    private func fact(_ planned: Planned) -> Fact {
        func reading(_ time: Int64) -> Int64 { Int64(clocks[planned.machine].reading(at: time).rounded(.down)) }
        let content: Fact.Content =
            switch planned.kind {
            case .opened(let guid, let cause):
                .opened(
                    Fact.Opened(
                        transaction: guid, useCase: 3, isJoined: planned.machine >= clientCount,
                        cause: cause.map { FactID(source: sources[$0.machine].id, sequence: $0.sequence) }))
            case .closed: .closed(Fact.Closed(outcome: .succeeded))
            case .exchangeOpened(let role): .exchangeOpened(Fact.ExchangeOpened(role: role, method: "GET", path: "/"))
            case .exchangeClosed(let state, let firstByte):
                .exchangeClosed(
                    Fact.ExchangeClosed(
                        exchange: planned.exchange?.sequence ?? 0, state: state,
                        firstByteAtMicroseconds: firstByte.map(reading)))
            }
        return Fact(
            sequence: planned.sequence, part: planned.part?.sequence ?? planned.sequence,
            atMicroseconds: reading(planned.time),
            content: content)
    }

    /// Returns the true time when the fact with this sequence was recorded.
    func time(of sequence: Int64, in machine: Int) -> Int64? {
        planned.first { $0.machine == machine && $0.sequence == sequence }?.time
    }
}
