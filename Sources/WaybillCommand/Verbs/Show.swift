#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show one transaction with its sources and timeline, or one network exchange.",
        discussion: """
            The picture has a line for each part, with its events, and a line for each request. The server's work is below the request that caused it.

            The timeline has a lane for each source. The source that began the transaction is leftmost. AT is the time since the beginning, and SINCE the time \
            since the previous line.

            The clocks of two machines differ, so times are aligned to the clock of the source that began the transaction. CLOCK is the offset of each \
            source, its uncertainty, and the number of exchanges that it was estimated from. ~ marks where a part may have begun. --clocks raw shows the \
            recorded times. JSON has the recorded times, and the offsets under `clocks`.

            The ID of an exchange has a colon, as in `waybill list --network`. You can shorten the part before the colon. The command shows bodies if the store \
            has them.

            --follow prints new lines until you interrupt it, for example for an app that runs on this machine. With --json, it prints a line for each change.

            EXAMPLES
              waybill show ./collected K7QD-3M2X
              waybill show ./collected K7QD-3M2X --follow
              waybill show http://127.0.0.1:8477 01890a5d-ac96-774b-bcce-b302099a8057 --json
              waybill show ./collected K7QD-3M2X:17
            """)

    @OptionGroup var place: StoreOptions

    @Argument(
        help: ArgumentHelp(
            "The ID or support code of a transaction, or the ID of an exchange.", valueName: "id"))
    var key: String

    @Option(help: "Which times are shown: aligned or raw. (default: aligned)")
    var clocks: ShownClocks?

    @Flag(help: "Print new entries until interrupted.")
    var follow = false

    @Flag(help: "Print JSON, as a collector answers it; with --follow a line for each change.")
    var json = false

    @OptionGroup var text: TextOptions

    func validate() throws {
        guard !follow || !key.contains(":") else {
            throw ValidationError("--follow is for a transaction; an exchange has an end of its own.")
        }
        guard clocks == nil || !json && !key.contains(":") else {
            throw ValidationError(
                "--clocks is for the picture of a transaction: JSON has the raw times and what to add to them.")
        }
    }

    func run() async throws {
        if follow {
            var following = FollowingOne(place: place, key: key, clocks: clocks ?? .aligned, isJSON: json)
            return try await following.run()
        }
        if key.contains(":") { return try await showExchange() }
        let record = try await place.opened().transaction(key)
        if json { return try Terminal.write(json: record) }
        let transaction = TransactionText(Redactor.command.redacted(record), clocks: clocks ?? .aligned)
        try text.write(transaction.lines(.standardOutput(), width: Terminal.width() ?? Terminal.usualWidth))
    }

    private func showExchange() async throws {
        let store = try await place.opened()
        let record = try await store.exchange(key)
        let bodies = try await store.bodies(of: record.id)
        if json {
            var writer = ExchangeWriter(as: .json)
            return try StandardOutput.write(writer.next(record, bodies: bodies) + "\n".utf8)
        }
        let redactor = Redactor.command
        try text.write(
            ExchangeText(redactor.redacted(record), bodies: redactor.redacted(bodies)).lines(.standardOutput()))
    }
}

extension ShownClocks: ExpressibleByArgument {}

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a store (integrity, balance, gaps), or the file of a set.",
        discussion: """
            For a store, this checks the file, counts the facts of each source again, compares them with the ledger, and reports gaps. For a collector's URL, it \
            checks ledgers and gaps. For a set, it reads each record and names the location of each defect by a JSON pointer. Exits with 1 if it finds a defect. A \
            gap isn't a defect, because the missing facts may still arrive.

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
            try Terminal.write(result.lines(.standardOutput()))
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
