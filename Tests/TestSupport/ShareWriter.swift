package import WaybillCore

/// Writes the facts of one source by hand, with times in microseconds since `start`.
package final class ShareWriter {
    package let source: SourceIdentity
    private let start: Int64
    private let names: [RecordedName]
    private var facts: [Fact] = []

    package init(
        _ app: String, _ version: String, device: String, os: String, _ osVersion: String, id: GUID = GUID(),
        start: Int64 = LoginHistory.begun, names: [RecordedName]
    ) {
        source = SourceIdentity(id: id, app: app, appVersion: version, device: device, os: os, osVersion: osVersion)
        (self.start, self.names) = (start, names)
    }

    /// Everything written so far.
    package func share(hasEnded: Bool = false) -> TransactionSet.Share {
        TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: start)],
            hasEnded: hasEnded,
            names: names,
            ledger: Ledger(recorded: Int64(facts.count), pending: Int64(facts.count)), facts: facts,
            sourceProof: IdentityProof("the secret of source \(source.id)"))
    }

    package func open(
        _ useCase: Int, of transaction: GUID, by cause: FactID? = nil, at time: Int64, _ attributes: Attributes = [:],
        timeout: Int64 = Fact.Opened.usualTimeoutMicroseconds
    ) -> Int64 {
        add(
            .opened(
                Fact.Opened(
                    transaction: transaction, useCase: useCase, isJoined: cause != nil, timeoutMicroseconds: timeout,
                    cause: cause, attributes: attributes)),
            part: nil, at: time)
    }

    package func log(
        _ code: Int, in part: Int64, at time: Int64, error: RecordedError? = nil, _ attributes: Attributes = [:]
    ) {
        _ = add(.event(Fact.Event(code: code, error: error, attributes: attributes)), part: part, at: time)
    }

    package func close(
        _ part: Int64, _ outcome: TransactionOutcome = .succeeded, at time: Int64, error: RecordedError? = nil
    ) {
        _ = add(.closed(Fact.Closed(outcome: outcome, error: error)), part: part, at: time)
    }

    package func send(
        _ method: String, _ host: String, _ path: String, query: String? = nil, in part: Int64, at time: Int64
    )
        -> FactID
    {
        let fields = [
            ("Accept", "application/json"), ("Authorization", "[redacted]"), ("Content-Type", "application/json"),
            ("User-Agent", "Shop/4.2.0 (iPhone17,1; iOS 18.5)"),
        ].map { HeaderField(name: $0.0, value: $0.1) }
        let opened = Fact.ExchangeOpened(
            method: method, scheme: "https", host: host, path: path, query: query, headerFields: fields)
        return FactID(source: source.id, sequence: add(.exchangeOpened(opened), part: part, at: time))
    }

    package func receive(
        _ status: Int?, for exchange: FactID, in part: Int64, firstByte: Int64? = nil, at time: Int64,
        bytes: Int64? = 1840,
        error: RecordedError? = nil
    ) {
        let fields =
            status == nil ? [] : [HeaderField(name: "Content-Type", value: "application/json; charset=utf-8")]
        let closed = Fact.ExchangeClosed(
            exchange: exchange.sequence, state: status == nil ? .failed : .completed, status: status,
            firstByteAtMicroseconds: firstByte,
            sentByteCount: 214, receivedByteCount: bytes, headerFields: fields, error: error)
        _ = add(.exchangeClosed(closed), part: part, at: time)
    }

    private func add(_ content: Fact.Content, part: Int64?, at time: Int64) -> Int64 {
        let sequence = Int64(facts.count + 1)
        facts.append(Fact(sequence: sequence, part: part ?? sequence, atMicroseconds: time, content: content))
        return sequence
    }
}
