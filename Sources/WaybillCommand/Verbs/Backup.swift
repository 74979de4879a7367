#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// `waybill backup`: a copy of a collector that runs, or of one store.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store, or a collector's folder, while it is written to.",
        discussion: """
            Of a folder all projects, the tokens' hashes and the cursors of --otlp are copied, into a folder that can be served; of a file, the \
            file. Each store is copied as it was at one moment, checked whole, and synced. The backup appears whole or not at all, and \
            nothing is overwritten. Bodies stay where they are. Exits with 1 where a copy is not sound.

            EXAMPLES
              waybill backup ./collected /backup/2026-11-21
              waybill backup ./collected/shop.sqlite shop-copy.sqlite
            """)

    @Argument(help: "The folder of a collector or of a store, or a store in one file.")
    var store: String

    @Argument(help: "What to make: a folder of a folder, a file of a file.")
    var backup: String

    func run() async throws {
        let (copies, warnings) = try await StoreBackup.run(of: URL(filePath: store), to: URL(filePath: backup))
        for warning in warnings { Terminal.warn(warning) }
        Terminal.write(
            copies.map { "\($0.name): \(Words.count($0.factCount, "fact")), \(Words.count($0.byteCount, "byte"))." })
    }
}
#endif
