import Waybill

// A program without a `main` function, as in the first guide. In top-level code, the compiler prefers a function that
// isn't async over an async one with the same arguments.
enum WordCount: String, UseCase { case wordsCounted }

let transactions = TransactionManager(store: .inMemory)
transactions.perform(WordCount.self) { $0.log(.wordsCounted) }
let report = await transactions.flush(deadline: .seconds(1))
print(report.delivered, report.pending)
