package import WaybillCore

/// A login as a client and a server record it: two sources, one transaction.
package struct LoginHistory {
    /// 2026-03-01T12:00:00Z.
    package static let begun: Int64 = 1_772_366_400_000_000

    package let transaction = GUID()
    package let client = SourceIdentity(
        id: GUID(), app: "app", appVersion: "1.2", device: "iPhone17,1", os: "iOS", osVersion: "18.1")
    package let server = SourceIdentity(
        id: GUID(), app: "server", appVersion: "4.0", device: "x86_64", os: "Linux", osVersion: "6.1")

    package init() {}

    private var names: [RecordedName] {
        [
            RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "requestSent"),
            RecordedName(useCase: 0, event: 11, name: "serverRejected"),
        ]
    }

    /// Six facts, 15 ms.
    package var clientFacts: [Fact] {
        [
            Fact(
                sequence: 1, part: 1, atMicroseconds: 0,
                content: .opened(Fact.Opened(transaction: transaction, useCase: 0, attributes: ["variant": "B"]))),
            Fact(sequence: 2, part: 1, atMicroseconds: 250, content: .event(Fact.Event(code: 1))),
            Fact(
                sequence: 3, part: 1, atMicroseconds: 1000,
                content: .exchangeOpened(
                    Fact.ExchangeOpened(method: "POST", scheme: "https", host: "api.example.com", path: "/login"))),
            Fact(
                sequence: 4, part: 1, atMicroseconds: 14_000,
                content: .exchangeClosed(
                    Fact.ExchangeClosed(exchange: 3, state: .completed, status: 401, sentByteCount: 42))),
            Fact(sequence: 5, part: 1, atMicroseconds: 14_100, content: .event(Fact.Event(code: 2))),
            Fact(
                sequence: 6, part: 1, atMicroseconds: 15_000,
                content: .closed(Fact.Closed(outcome: .failed, error: RecordedError(domain: "LoginError", code: 3)))),
        ]
    }

    /// Three facts, from 3 to 12 ms.
    package var serverFacts: [Fact] {
        [
            Fact(
                sequence: 1, part: 1, atMicroseconds: 3000,
                content: .opened(
                    Fact.Opened(
                        transaction: transaction, useCase: 0, isJoined: true,
                        cause: FactID(source: client.id, sequence: 3)))),
            Fact(sequence: 2, part: 1, atMicroseconds: 11_000, content: .event(Fact.Event(code: 11))),
            Fact(sequence: 3, part: 1, atMicroseconds: 12_000, content: .closed(Fact.Closed(outcome: .succeeded))),
        ]
    }

    /// Some of the client's facts, in a set of a new ID.
    package func clientSet(_ facts: ClosedRange<Int64> = 1...6) -> TransactionSet {
        set(client, clientFacts.filter { facts.contains($0.sequence) }, recorded: 6)
    }

    /// The server's facts, in a set of a new ID.
    package func serverSet() -> TransactionSet { set(server, serverFacts, recorded: 3) }

    private func set(_ source: SourceIdentity, _ facts: [Fact], recorded: Int64) -> TransactionSet {
        TransactionSet(
            id: GUID(),
            sources: [
                TransactionSet.Share(
                    source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: Self.begun)],
                    names: names,
                    ledger: Ledger(recorded: recorded, pending: recorded), facts: facts,
                    sourceProof: IdentityProof("the secret of source \(source.id)"))
            ])
    }
}
