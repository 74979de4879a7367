#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillReading

/// `waybill verify`: whether a store or a set is sound.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a store (integrity, balance, gaps), or a file that holds a set.",
        discussion: """
            A store is read whole: its file is checked, every source's facts are counted again and compared with its ledger, and gaps are \
            told. Of a collector, ledgers and gaps are checked. Of a set, every record is read; what is wrong is told with a JSON pointer \
            to where it stands. Exits with 1 where something is wrong; a gap alone is not, as what is missing may yet come.

            EXAMPLES
              waybill verify ./collected
              waybill verify set.waybill-set.json --json
            """)

    @OptionGroup var place: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let result = try await verification()
        if json {
            try Terminal.write(json: result)
        } else {
            Terminal.write(VerificationText(result).lines(.standardOutput()))
        }
        if !result.isSound { throw ExitCode.failure }
    }

    private func verification() async throws -> Verification {
        switch place.store {
        case .place(let file) where file.pathExtension.lowercased() == "json" && !file.isFolder:
            do throws(WaybillError) {
                return Verification(set: try file.setBytes())
            } catch {
                throw WaybillError(error.code, "\(file.relativePath): \(error.message)")
            }
        case .place, .collector, .database: return Verification(try await place.opened(isTold: false).verify())
        }
    }
}
#endif
