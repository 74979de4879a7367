import WaybillCore

/// The facts that a busy server records: 50 transactions at a time, and a fact every 200 ms. Most times need six bytes,
/// as they do after half an hour.
struct Interleaved {
    static let microsecondsPerFact: Int64 = 200_000

    private let eventsEach: Int
    private var open: [(part: Int64, eventCount: Int)] = []
    private var turn = 0
    private(set) var eventCount = 0

    init(eventsEach: Int = 20) { self.eventsEach = eventsEach }

    /// Makes the next fact; `record` returns its sequence.
    mutating func next(_ record: (Fact.Content, _ part: Int64) throws -> Int64) rethrows {
        guard open.count == 50 else {
            return open.append((try record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), 0), 0))
        }
        turn = (turn + 1) % 50
        let part = open[turn].part
        if open[turn].eventCount == eventsEach {
            open.remove(at: turn)
            turn = 0
            _ = try record(.closed(Fact.Closed(outcome: .succeeded)), part)
        } else {
            open[turn].eventCount += 1
            eventCount += 1
            _ = try record(.event(Fact.Event(code: open[turn].eventCount)), part)
        }
    }

    /// Returns the next facts after that sequence.
    mutating func batch(of size: Int, after sequence: Int64) -> [Fact] {
        var facts: [Fact] = []
        for number in sequence + 1...sequence + Int64(size) {
            next { content, part in
                let isOpening = if case .opened = content { true } else { false }
                facts.append(
                    Fact(
                        sequence: number, part: isOpening ? number : part,
                        atMicroseconds: number * Self.microsecondsPerFact,
                        content: content))
                return number
            }
        }
        return facts
    }

    static func batches(_ count: Int, of size: Int, eventsEach: Int = 20) -> [[Fact]] {
        var facts = Interleaved(eventsEach: eventsEach)
        return (0..<count).map { facts.batch(of: size, after: Int64($0 * size)) }
    }
}
