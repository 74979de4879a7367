#if Collector
import Foundation
import Waybill
import WaybillCore
import WaybillQueries

/// Records numbered facts in several transactions at once, as one thread of a worker.
///
/// A number is the use case of an opening and the code of an event, so that it can be read in the store's columns; a
/// closing is told by the number of its opening, negative. What `begin` and `finish` do not say, whether their fact was
/// journaled, the next event says: once there is a journal, everything goes there.
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

    /// A few facts in a row.
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
        // Each another one: the store keeps a text that comes again once.
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
