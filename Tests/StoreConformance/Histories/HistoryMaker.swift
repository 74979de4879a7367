package import TestSupport
package import WaybillCore

/// The actions of a source from its start to its end: the truth that stores are compared with.
package struct SourceHistory: Sendable {
    package var source: SourceIdentity
    package var clocks: [ClockAnchor]
    package var names: [RecordedName]
    package var facts: [Fact]
    package var hasEnded: Bool
    /// How it ended, if that is known.
    package var endedBy: SourceEnd?
    package var refused: Int64
    /// Facts that were given up and never sent.
    package var dropped: [DroppedRange] = []

    package init(
        source: SourceIdentity, clocks: [ClockAnchor], names: [RecordedName], facts: [Fact], hasEnded: Bool,
        refused: Int64
    ) {
        (self.source, self.clocks, self.names) = (source, clocks, names)
        (self.facts, self.hasEnded, self.refused) = (facts, hasEnded, refused)
    }

    package var sentFacts: [Fact] {
        facts.filter { fact in !dropped.contains { ($0.first...$0.last).contains(fact.sequence) } }
    }
}

/// Makes random histories: transactions begun here and joined there, parts closed, left open or used after they were
/// closed, exchanges in and outside of them.
package struct HistoryMaker {
    /// Not random: a seed must make the same histories as before this counter existed.
    private var attributeCount: Int64 = 0

    /// The time of the sources' clocks at their start, give or take 50 ms, in microseconds since 1970. Their facts
    /// arrive at about the same time.
    package static let wall: Int64 = 1_700_000_000_000_000

    package var random: RandomNumbers
    /// Whether some of the received transactions were sampled.
    package var isSampling = false
    private let transactions: [GUID]
    private var begun: Set<GUID> = []

    package init(seed: Int) {
        random = RandomNumbers(seed: seed)
        var ids: [GUID] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) { ids.append(random.guid()) }
        transactions = ids
    }

    package mutating func histories() -> [SourceHistory] {
        (0..<Int.random(in: 1...4, using: &random)).map { number in history(of: number) }
    }

    private mutating func history(of number: Int) -> SourceHistory {
        let source = SourceIdentity(
            id: random.guid(), installation: random.oneIn(2) ? random.guid() : nil, app: "app \(number % 2)",
            appVersion: "1.\(number)",
            device: "device", os: "Linux", osVersion: "6", attributes: random.oneIn(2) ? ["environment": "test"] : [:])
        var recording = Recording()
        for _ in 0..<Int.random(in: 0...40, using: &random) { record(&recording) }
        var clocks = [
            ClockAnchor(
                atMicroseconds: 0,
                offsetMicroseconds: Self.wall + Int64.random(in: 0...50_000, using: &random))
        ]
        while random.oneIn(2), let last = clocks.last {
            clocks.append(
                ClockAnchor(
                    atMicroseconds: last.atMicroseconds + Int64.random(in: 1...20_000, using: &random),
                    offsetMicroseconds: last.offsetMicroseconds + Int64.random(in: -9_000...9_000, using: &random)))
        }
        var history = SourceHistory(
            source: source, clocks: clocks,
            names: [
                RecordedName(useCase: 3, name: "login"), RecordedName(useCase: 3, event: 1, name: "event of \(number)"),
            ],
            facts: recording.facts, hasEnded: random.oneIn(2), refused: Int64.random(in: 0...3, using: &random))
        if history.hasEnded { history.endedBy = Self.ends.randomElement(using: &random) ?? nil }
        return history
    }

    private static let ends: [SourceEnd?] = [nil, .exit, .signal("SIGSEGV"), .reboot, .system, .other("later")]

    private struct Recording {
        var facts: [Fact] = []
        var at: Int64 = 0
        var parts: [Int64] = []
        var openParts: [Int64] = []
        var openExchanges: [(part: Int64, sequence: Int64)] = []

        mutating func add(_ content: Fact.Content, part: Int64?) {
            facts.append(
                Fact(sequence: next, part: part ?? next, atMicroseconds: max(0, at), content: content))
        }

        /// The sequence of the next fact.
        var next: Int64 { Int64(facts.count + 1) }
    }

    /// Some sampled transactions are chosen, and some are not.
    private mutating func sampling() -> Fact.Sampling? {
        guard isSampling, random.oneIn(2) else { return nil }
        return Fact.Sampling(
            perMillion: [100, 70_000, 100_000, 300_000, 999_999].randomElement(using: &random) ?? 1,
            isChosen: !random.oneIn(4), slowMicroseconds: random.oneIn(2) ? 2_000 : nil)
    }

    private mutating func record(_ recording: inout Recording) {
        // Threads may read the time in one order and take their sequence in another.
        recording.at += Int64.random(in: -5...3_000, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
            let transaction = transactions.randomElement(using: &random) ?? GUID()
            // Maybe no source ever begins it.
            let isJoined = random.oneIn(8) || (!begun.insert(transaction).inserted && !random.oneIn(10))
            // Any parent is possible, including loops and unknown transactions.
            let parent = isJoined || !random.oneIn(3) ? nil : transactions.randomElement(using: &random)
            let parentPart = parent == nil || random.oneIn(2) ? nil : recording.parts.randomElement(using: &random)
            recording.parts.append(recording.next)
            recording.openParts.append(recording.next)
            recording.add(
                .opened(
                    Fact.Opened(
                        transaction: transaction, useCase: 3, isJoined: isJoined, timeoutMicroseconds: 1_000_000,
                        cause: isJoined && random.oneIn(2) ? FactID(source: random.guid(), sequence: 7) : nil,
                        parent: parent, parentPart: parentPart,
                        attributes: attributes(), sampling: sampling())),
                part: nil)
        case 2 where !recording.openParts.isEmpty:
            let part = recording.openParts.remove(at: Int.random(in: recording.openParts.indices, using: &random))
            let outcome =
                [TransactionOutcome.succeeded, .failed, .cancelled, .abandoned].randomElement(using: &random) ?? .failed
            recording.add(.closed(Fact.Closed(outcome: outcome, error: error(), attributes: attributes())), part: part)
        case 3, 4:
            let part = random.oneIn(3) ? 0 : recording.parts.randomElement(using: &random) ?? 0
            recording.openExchanges.append((part, recording.next))
            recording.add(
                .exchangeOpened(
                    Fact.ExchangeOpened(
                        role: random.oneIn(2) ? .client : .server, method: "POST",
                        scheme: random.oneIn(2) ? "https" : nil,
                        host: random.oneIn(2) ? "api.example.com" : nil, port: random.oneIn(3) ? 8080 : nil,
                        path: "/login",
                        query: random.oneIn(3) ? "a=%22" : nil,
                        headerFields: random.oneIn(2) ? [HeaderField(name: "Accept", value: "\"*/*\"")] : [])),
                part: part)
        case 5, 6:
            guard !recording.openExchanges.isEmpty else { return }
            let exchange = recording.openExchanges.remove(
                at: Int.random(in: recording.openExchanges.indices, using: &random))
            recording.add(
                .exchangeClosed(
                    Fact.ExchangeClosed(
                        exchange: exchange.sequence, state: random.oneIn(2) ? .completed : .failed,
                        status: random.oneIn(2) ? 200 : nil,
                        firstByteAtMicroseconds: random.oneIn(2) ? max(0, recording.at - 1) : nil,
                        sentByteCount: random.oneIn(2) ? 10 : nil,
                        receivedByteCount: random.oneIn(2) ? 0 : nil, error: error(),
                        transfer: transfer(until: recording.at))),
                part: exchange.part)
        default:
            guard let part = recording.parts.randomElement(using: &random) else { return }
            if random.oneIn(6) {
                let set = attributes()
                // As recorders write it: in order, and without names that get a value.
                let removed = ["count", "gone", "text"].filter { set[$0] == nil && random.oneIn(2) }
                guard !set.isEmpty || !removed.isEmpty else { return }
                recording.add(.attributesSet(Fact.AttributesSet(attributes: set, removed: removed)), part: part)
                return
            }
            recording.add(
                .event(
                    Fact.Event(code: Int.random(in: 0...3, using: &random), error: error(), attributes: attributes())),
                part: part)
        }
    }

    private mutating func transfer(until at: Int64) -> Fact.Transfer {
        guard random.oneIn(2) else { return Fact.Transfer() }
        return Fact.Transfer(
            httpVersion: random.oneIn(2) ? "1.1" : nil, receivedWireByteCount: random.oneIn(2) ? 41 : nil,
            sentAtMicroseconds: random.oneIn(2) ? at : nil,
            phases: Fact.Phases(
                lookupMicroseconds: random.oneIn(2) ? 1 : nil, connectMicroseconds: random.oneIn(2) ? 0 : nil,
                secureMicroseconds: random.oneIn(2) ? 70_000 : nil),
            isConnectionReused: random.oneIn(2) ? random.oneIn(2) : nil,
            redirects: random.oneIn(2)
                ? [302, 307].map { Fact.Redirect(status: $0, url: "https://example.com/ü\($0)", atMicroseconds: at) }
                : [],
            isMocked: random.oneIn(2), rule: random.oneIn(2) ? "slow \"login\"" : nil,
            webSocket: random.oneIn(3) ? webSocket(at: at) : nil)
    }

    private mutating func webSocket(at: Int64) -> Fact.WebSocket {
        var socket = Fact.WebSocket(
            pingCount: random.oneIn(2) ? 1 : 0, closeCode: random.oneIn(3) ? nil : random.oneIn(2) ? 1000 : 4001,
            closeReason: random.oneIn(2) ? "später \"ab\"" : nil)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            socket.add(
                Fact.WebSocket.Message(
                    atMicroseconds: at, isSent: random.oneIn(2), isText: random.oneIn(2),
                    byteCount: Int64.random(in: 0...300, using: &random)))
        }
        return socket
    }

    private mutating func error() -> RecordedError? {
        guard random.oneIn(4) else { return nil }
        return RecordedError(
            domain: random.oneIn(2) ? "" : "NSURLErrorDomain", code: -1001, name: random.oneIn(3) ? "timedOut" : nil,
            underlying: random.oneIn(3) ? [.init(domain: "Shop.Socket", code: 7, name: "gone"), .init(code: 61)] : [],
            text: random.oneIn(2) ? "Zeit läuft\n\"ab\"" : nil)
    }

    private mutating func attributes() -> Attributes {
        guard random.oneIn(3) else { return [:] }
        attributeCount += 1
        return [
            "text": "a\"\\ü", "count": -1, "whole": .double(2), "part": 0.25, "yes": true,
            "user": .integer(attributeCount % 3),
        ]
    }
}
