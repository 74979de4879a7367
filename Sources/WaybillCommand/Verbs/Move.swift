#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// `waybill move`: copies a store in SQLite into a database.
struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store into a ClickHouse database.",
        discussion: """
            Facts keep when they were received; ledgers, names and what was erased come along. Nothing of the store is changed: take it away \
            when you have seen that all is there. What is there already is left out, so that a copy that broke off goes on when it is made \
            again, and one that is made while a collector still writes to the folder brings what is new when it is made once more.

            Exchanges' bodies stay where they are, as with every collector; so do spans that wait for others, and what old clients sent that \
            could not be read.

            EXAMPLES
              waybill move ./collected clickhouse://127.0.0.1:8123/waybill
            """)

    @Argument(help: "The folder of a store, or a store in one file.")
    var store: String

    @Argument(help: "clickhouse://host:8123/database, with its tables: see `waybill migrate`.")
    var database: String

    func validate() throws {
        guard case .database = StoreArgument(argument: database), case .place = StoreArgument(argument: store) else {
            throw ValidationError("Name a folder, and then a database: clickhouse://host:8123/database.")
        }
    }

    func run() async throws {
        let source = try SQLiteStore(URL(filePath: store), clock: CommandClock.current)
        for warning in await source.warnings() { Terminal.warn(warning) }
        let told = Locked<Int64>(0)
        let count = try await Database(database).take(from: source) { seen, total in
            let percent = total > 0 ? seen * 100 / total : 100
            // A line for each tenth, so that a log has no more.
            guard
                told.withLock({ told in
                    defer { told = max(told, percent / 10) }
                    return percent / 10 > told
                })
            else { return }
            Terminal.warn("\(percent) % of \(Words.count(Int(total), "fact"))")
        }
        Terminal.write(["\(Words.count(Int(count), "fact")) copied."])
    }
}
#endif
