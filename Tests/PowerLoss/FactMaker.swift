import TestSupport
import WaybillCore
import WaybillStore
import WaybillTesting

/// Records random facts of one source: transactions begun and closed, events, exchanges.
final class FactMaker {
    let source: GUID
    let writer: SourceWriter
    private let time: ManualTime
    private let startMicroseconds: Int64
    private var random: RandomNumbers
    private var parts: [Int64] = []
    private var exchanges: [(part: Int64, sequence: Int64)] = []

    init(
        _ source: GUID, in place: ResolvedLocation, _ time: ManualTime, _ journalSize: JournalSize,
        _ random: RandomNumbers
    ) {
        self.source = source
        self.time = time
        self.random = random
        startMicroseconds = time.uptimeMicroseconds()
        writer = SourceWriter(
            source: SourceIdentity(id: source, app: "shop", appVersion: "1"), place: place, clock: time,
            capacity: 10_000, timer: time,
            journalSize: journalSize)
    }

    /// Records a random fact and returns it; `nil` if there was no room for it.
    func record() -> Fact? {
        let (content, part) = next()
        let recorded = writer.recorder.record(content, part: part)
        // Reading `problem` waits for the work that this started on the store's thread: the same seed must do the same.
        _ = writer.problem
        guard recorded.sequence > 0 else { return nil }
        var fact = Fact(
            sequence: recorded.sequence, part: part, atMicroseconds: time.uptimeMicroseconds() - startMicroseconds,
            content: content)
        switch content {
        case .opened:
            fact.part = recorded.sequence
            parts.append(recorded.sequence)
        case .exchangeOpened: exchanges.append((part, recorded.sequence))
        default: break
        }
        return fact
    }

    private func next() -> (Fact.Content, part: Int64) {
        guard let index = parts.indices.randomElement(using: &random), !random.oneIn(10) else {
            return (.opened(Fact.Opened(transaction: random.guid(), useCase: 1, attributes: attributes())), 0)
        }
        let part = parts[index]
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            parts.remove(at: index)
            return (.closed(Fact.Closed(outcome: .succeeded, attributes: attributes())), part)
        case 1:
            return (
                .exchangeOpened(Fact.ExchangeOpened(method: "GET", host: "example.com", path: "/")),
                random.oneIn(3) ? 0 : part
            )
        case 2:
            guard let (part, sequence) = exchanges.popLast() else { return (.event(Fact.Event(code: 2)), part) }
            return (.exchangeClosed(Fact.ExchangeClosed(exchange: sequence, state: .completed, status: 200)), part)
        default: return (.event(Fact.Event(code: 3, attributes: attributes())), part)
        }
    }

    private func attributes() -> Attributes {
        guard random.oneIn(3) else { return [:] }
        return [
            "note": .string(String(repeating: "x", count: Int.random(in: 0..<300, using: &random))),
            "number": .integer(7),
        ]
    }
}
