import WaybillCore

/// The logins that a client sends, each with eight events and one exchange. One event in eight has attributes, and one
/// login in four failed.
enum SampleSet {
    static func logins(_ count: Int) -> TransactionSet {
        var facts: [Fact] = []
        var time: Int64 = 0
        func add(part: Int64, _ content: Fact.Content) {
            time += 1_731
            facts.append(Fact(sequence: Int64(facts.count + 1), part: part, atMicroseconds: time, content: content))
        }
        for login in 0..<count {
            let failed = login % 4 == 0
            let error = failed ? RecordedError(domain: "NSURLErrorDomain", code: -1001) : nil
            let part = Int64(facts.count + 1)
            add(
                part: part,
                .opened(Fact.Opened(transaction: GUID(), useCase: 0, attributes: ["variant": "B", "attempt": 1])))
            for code in 0..<4 { add(part: part, .event(Fact.Event(code: code))) }
            let exchange = Int64(facts.count + 1)
            add(
                part: part,
                .exchangeOpened(
                    Fact.ExchangeOpened(
                        method: "POST", scheme: "https", host: "api.example.com", path: "/v1/login", query: "page=1",
                        headerFields: [
                            HeaderField(name: "Content-Type", value: "application/json"),
                            HeaderField(name: "Authorization", value: "[redacted]"),
                        ])))
            add(
                part: part,
                .exchangeClosed(
                    Fact.ExchangeClosed(
                        exchange: exchange, state: failed ? .failed : .completed, status: failed ? nil : 200,
                        sentByteCount: 58,
                        receivedByteCount: failed ? nil : 212,
                        headerFields: failed ? [] : [HeaderField(name: "Content-Type", value: "application/json")],
                        error: error)))
            for code in 4..<7 { add(part: part, .event(Fact.Event(code: code))) }
            add(part: part, .event(Fact.Event(code: 7, error: error, attributes: ["screen": "home", "cached": false])))
            add(part: part, .closed(Fact.Closed(outcome: failed ? .failed : .succeeded, error: error)))
        }
        let source = SourceIdentity(
            id: GUID(), installation: GUID(), app: "com.example.shop", appVersion: "4.2.0", device: "iPhone17,1",
            os: "iOS",
            osVersion: "18.5")
        let names = (0..<8).map { (code: Int) in RecordedName(useCase: 0, event: code, name: "event\(code)") }
        let share = TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_760_518_800_000_000)],
            names: names,
            ledger: Ledger(recorded: Int64(facts.count), pending: Int64(facts.count)), facts: facts)
        return TransactionSet(id: GUID(), sources: [share])
    }
}
