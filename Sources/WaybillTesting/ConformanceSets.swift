import Waybill
import WaybillCore

struct ConformanceSets {
    let small = Self.set(Self.facts(3))
    let again: TransactionSet
    let empty: TransactionSet
    let odd = Self.set(Self.facts(Self.texts.count, attributes: { ["text": .string(Self.texts[$0])] }))
    let large = Self.set(
        Self.facts(2_000, attributes: { ["padding": .string(String(repeating: "\($0) ", count: 40))] }))
    let several = (1...8).map { Self.set(Self.facts($0)) }
    let cancelled = Self.set(Self.facts(2))
    let late = Self.set(Self.facts(1))

    init() {
        again = TransactionSet(id: GUID(), sources: small.sources)
        var share = small.sources[0]
        (share.facts, share.hasEnded) = ([], true)
        empty = TransactionSet(id: GUID(), sources: [share])
    }

    private static let texts = [
        "", "\u{0}", "\r\n\r\n", "\"quoted\" \\ /", "</script>", "--boundary", "grüße 你好 🏳️‍🌈", "\u{202E}turned",
        "\u{FEFF}", "{\"set\":null}",
    ]

    private static func facts(_ count: Int, attributes: (Int) -> Attributes = { _ in [:] }) -> [Fact] {
        (0..<count).map { index in
            let content: Fact.Content =
                index == 0
                ? .opened(Fact.Opened(transaction: GUID(), useCase: 0, attributes: attributes(0)))
                : .event(Fact.Event(code: index % 10, attributes: attributes(index)))
            return Fact(sequence: Int64(index + 1), part: 1, atMicroseconds: Int64(index * 250), content: content)
        }
    }

    private static func set(_ facts: [Fact]) -> TransactionSet {
        let share = TransactionSet.Share(
            source: SourceIdentity(id: GUID(), app: "conformance"),
            clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_767_225_600_000_000)],
            ledger: Ledger(recorded: Int64(facts.count), pending: Int64(facts.count)), facts: facts)
        return TransactionSet(id: GUID(), sources: [share])
    }
}
