#if Collector
import Foundation
import Waybill
import WaybillCore
import WaybillQueries

/// Records numbered facts in several transactions at once, as one thread of a worker.
///
/// A number is the use case of an opening or the code of an event, so it can be read in the store's columns. A closing
/// has the negative number of its opening. `begin` and `finish` do not report whether their fact was journaled, but the
/// next event does: once a journal exists, it receives every fact.
struct FactWriter {
    private let transactions: TransactionManager
    private var next: Int
    private let step: Int
    var chance: Chance
    private let padding: Int
    private(set) var count = 0
    private var open: [(number: Int, transaction: UseCaseTransaction<Int>)] = []
    /// Openings and closings since the last event that was journaled.
    private var unconfirmed: [Int] = []
    private var isJournaling = false

    init(_ transactions: TransactionManager, next: Int, step: Int, chance: Chance, padding: Int) {
        self.transactions = transactions
        self.next = next
        self.step = step
        self.chance = chance
        self.padding = padding
    }

    private mutating func number() -> Int {
        defer { next += step }
        count += 1
        return next
    }

    /// Records a few facts in a row.
    mutating func writeBurst() {
        for _ in 0..<Int.random(in: 1...20, using: &chance) {
            if open.isEmpty || (open.count < 5 && Int.random(in: 0..<8, using: &chance) == 0) { begin() }
            let index = Int.random(in: 0..<open.count, using: &chance)
            log(in: open[index].transaction)
            if Int.random(in: 0..<12, using: &chance) == 0 { finish(open.remove(at: index)) }
        }
    }

    private mutating func begin() {
        let number = number()
        let transaction = transactions.begin(useCase: number)
        open.append((number, transaction))
        if transaction.part.sequence > 0 { unconfirmed.append(number) }
    }

    private mutating func finish(_ opened: (number: Int, transaction: UseCaseTransaction<Int>)) {
        opened.transaction.finish()
        if opened.transaction.part.sequence > 0 { unconfirmed.append(-opened.number) }
    }

    private mutating func log(in transaction: UseCaseTransaction<Int>) {
        let number = number()
        // Each text is different: the store keeps a repeated text only once.
        let attributes: Attributes =
            padding > 0
            ? ["padding": .string("\(number)".padding(toLength: padding, withPad: "x", startingAt: 0))] : [:]
        let result = transaction.log(number, attributes: attributes)
        if result == .journaled {
            for number in isJournaling ? unconfirmed : [] { Output.line(String(number)) }
            Output.line(String(number))
        }
        isJournaling = result == .journaled
        unconfirmed = []
    }
}
#endif
