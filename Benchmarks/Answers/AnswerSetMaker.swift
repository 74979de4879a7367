import TestSupport
import Waybill
import WaybillCore
import WaybillStore
import WaybillTesting

/// Makes the sets that the app and the servers of an ``AnswerStore`` send.
struct AnswerSetMaker {
    private var random: RandomNumbers
    private var servers: [Recording]
    /// Whether transaction IDs contain the time when the transaction began, like those of apps.
    private let hasTimedIDs: Bool
    private(set) var eventCount = 0
    private(set) var setCount = 0

    init(seed: Int, hasTimedIDs: Bool = false) {
        random = RandomNumbers(seed: seed)
        self.hasTimedIDs = hasTimedIDs
        servers = []
        for number in 0..<4 {
            servers.append(
                Recording(
                    SourceIdentity(
                        id: random.guid(), installation: random.guid(), app: "login-server",
                        appVersion: "7.\(number / 2)",
                        device: "x86_64",
                        os: "Linux", osVersion: "6.1"),
                    // Odd, because all clients' clocks are even: no two events of one transaction have the same time.
                    offset: AnswerStore.begun + Int64(number - 2) * 15_000 + 1))
        }
    }

    mutating func set(of launchCount: Int, transactionsEach: Int, at wall: Int64) -> TransactionSet {
        setCount += 1
        var shares: [TransactionSet.Share] = []
        for server in servers.indices { servers[server].facts = [] }
        for launch in 0..<launchCount {
            let isNew = random.oneIn(3)
            let source = SourceIdentity(
                id: random.guid(), installation: installation(), app: "com.example.shop",
                appVersion: isNew ? "4.3.0" : "4.2.1",
                device: "iPhone17,\(Int.random(in: 1...4, using: &random))", os: "iOS",
                osVersion: isNew ? "26.1" : "18.5")
            var client = Recording(source, offset: (wall + Int64(launch) * 1_000_000) / 2 * 2)
            for number in 0..<transactionsEach {
                client.now = Int64(number) * 60_000_000 + Int64.random(in: 0..<10_000_000, using: &random) * 2
                if random.oneIn(10) { search(&client) } else { login(&client) }
            }
            shares.append(client.share(names: Self.clientNames, hasEnded: true))
        }
        for server in servers where !server.facts.isEmpty {
            shares.append(server.share(names: Self.serverNames, hasEnded: false))
        }
        return TransactionSet(id: random.guid(), sources: shares)
    }

    private static let clientNames =
        [RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 1, name: "search")]
        + AnswerStore.loginNames.enumerated().map { RecordedName(useCase: 0, event: $0.offset, name: $0.element) }
        + ["typed", "listed", "opened"].enumerated().map {
            RecordedName(useCase: 1, event: $0.offset, name: $0.element)
        }
    private static let serverNames =
        [RecordedName(useCase: 0, name: "login")]
        + AnswerStore.serverNames.sorted { $0.key < $1.key }.map {
            RecordedName(useCase: 0, event: $0.key, name: $0.value)
        }

    private var installations: [GUID] = []

    private mutating func installation() -> GUID {
        if installations.count > 10, !random.oneIn(3) {
            return installations[Int.random(in: 0..<installations.count, using: &random)]
        }
        installations.append(random.guid())
        return installations[installations.count - 1]
    }

    /// Returns the ID of a transaction that begins now.
    private mutating func transaction(_ client: Recording) -> GUID {
        let id = random.guid()
        guard hasTimedIDs else { return id }
        // RFC 9562, section 5.7.
        let milliseconds = UInt64(client.offset + client.now) / 1_000
        return GUID(high: milliseconds << 16 | 0x7000 | id.high & 0xFFF, low: id.low & ~0 >> 2 | 1 << 63)
    }

    /// Returns an even number of microseconds, mostly small and sometimes large.
    private mutating func pause(_ usual: Int) -> Int64 {
        let share = Double.random(in: 0..<1, using: &random)
        return max(2, Int64(Double(usual) / (1.02 - share)) / 2 * 2)
    }

    private mutating func event(_ code: Int, after usual: Int, _ recording: inout Recording, part: Int64) {
        recording.now += pause(usual)
        recording.add(.event(Fact.Event(code: code)), part: part)
        eventCount += 1
    }

    private mutating func search(_ client: inout Recording) {
        let part = client.open(transaction(client), useCase: 1)
        for code in 0..<Int.random(in: 1...3, using: &random) { event(code, after: 400_000, &client, part: part) }
        client.now += pause(100_000)
        client.add(.closed(Fact.Closed(outcome: .succeeded)), part: part)
    }

    private mutating func login(_ client: inout Recording) {
        let id = transaction(client)
        let part = client.open(id, useCase: 0, attributes: ["variant": random.oneIn(2) ? "A" : "B"])
        event(0, after: 20_000, &client, part: part)
        guard !random.oneIn(12) else { return leave(&client, part) }
        event(1, after: 900_000, &client, part: part)
        for _ in 0..<Int.random(in: 1...3, using: &random) { event(2, after: 1_100_000, &client, part: part) }
        guard !random.oneIn(10) else { return leave(&client, part) }
        for _ in 0..<(random.oneIn(8) ? 2 : 1) { event(3, after: 5_000, &client, part: part) }
        let exchange = client.add(
            .exchangeOpened(
                Fact.ExchangeOpened(
                    method: "POST", scheme: "https", host: "login.example.com", path: "/v1/login")),
            part: part)
        var isRejected = false
        if random.oneIn(2) { isRejected = serve(id, causedBy: exchange, &client) }
        client.now += pause(9_000)
        let answered = Fact.ExchangeClosed(
            exchange: exchange, state: .completed, status: isRejected ? 401 : 200,
            firstByteAtMicroseconds: client.now)
        client.add(.exchangeClosed(answered), part: part)
        event(4, after: 9_000, &client, part: part)
        guard !isRejected else {
            client.add(
                .closed(
                    Fact.Closed(
                        outcome: .failed, error: RecordedError(domain: "LoginError", code: random.oneIn(3) ? 429 : 401))
                ),
                part: part)
            return
        }
        event(5, after: 30_000, &client, part: part)
        client.now += pause(4_000)
        client.add(.closed(Fact.Closed(outcome: random.oneIn(25) ? .cancelled : .succeeded)), part: part)
    }

    /// Gives up, or is killed and leaves the transaction open.
    private mutating func leave(_ client: inout Recording, _ part: Int64) {
        client.now += pause(2_000_000)
        if !random.oneIn(4) { client.add(.closed(Fact.Closed(outcome: .abandoned)), part: part) }
    }

    /// - Returns: Whether the server rejected the login.
    private mutating func serve(_ id: GUID, causedBy exchange: Int64, _ client: inout Recording) -> Bool {
        let isRejected = random.oneIn(5)
        let number = Int.random(in: 0..<4, using: &random)
        var server = servers[number]
        server.now = client.offset + client.now - AnswerStore.begun + pause(8_000)
        let part = server.open(
            id, useCase: 0, cause: FactID(source: client.source.id, sequence: exchange))
        event(10, after: 300, &server, part: part)
        event(isRejected ? 12 : 11, after: 6_000, &server, part: part)
        server.now += pause(300)
        server.add(.closed(Fact.Closed(outcome: .succeeded)), part: part)
        client.now = server.now - client.offset + AnswerStore.begun
        servers[number] = server
        return isRejected
    }
}

/// The facts that one source records.
private struct Recording {
    let source: SourceIdentity
    let offset: Int64
    var now: Int64 = 0
    var facts: [Fact] = []
    private var sequence: Int64 = 0

    init(_ source: SourceIdentity, offset: Int64) {
        self.source = source
        self.offset = offset
    }

    /// - Returns: The fact's sequence.
    @discardableResult mutating func add(_ content: Fact.Content, part: Int64?) -> Int64 {
        sequence += 1
        facts.append(Fact(sequence: sequence, part: part ?? sequence, atMicroseconds: now, content: content))
        return sequence
    }

    /// - Parameter cause: The cause of a joined part; `nil` for other parts.
    /// - Returns: The sequence of the part.
    mutating func open(_ id: GUID, useCase: Int, attributes: Attributes = [:], cause: FactID? = nil) -> Int64 {
        let opened = Fact.Opened(
            transaction: id, useCase: useCase, isJoined: cause != nil, cause: cause, attributes: attributes)
        return add(.opened(opened), part: nil)
    }

    func share(names: [RecordedName], hasEnded: Bool) -> TransactionSet.Share {
        TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: offset)], hasEnded: hasEnded,
            names: names,
            ledger: Ledger(recorded: sequence, pending: Int64(facts.count)), facts: facts,
            sourceProof: IdentityProof("the secret of source \(source.id)"))
    }
}
