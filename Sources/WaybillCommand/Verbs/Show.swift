#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show one transaction, who took part and what happened when, or one network exchange.",
        discussion: """
            The picture has a line for each part of a source, with its events, and one for each request, with what the request caused below it, \
            as wide as the terminal, or 80 columns where there is none.

            The timeline has the sources in lanes beside each other: the one that began the transaction leftmost, those that joined it
            further right. AT is the time since the beginning, SINCE the time since the line above.

            The clocks of two machines differ. Times are those of the source that began the transaction, as far as the clocks of the others are known: \
            CLOCK is how far each was ahead of it, how uncertain that is, and by how many exchanges it was found; ~ is where a part may have begun. \
            --clocks raw shows what each source's own clock said. JSON has raw times, and under clocks what to add to them.

            An exchange has a colon in its name, as waybill list --network shows it; a part of what stands before the colon will do. Bodies are \
            shown where the store kept them.

            With --follow the lines of what comes are added, until it is interrupted: of an app that is running now, say, whose store lies here. \
            With --json, too, there is a line of JSON for each change.

            EXAMPLES
              waybill show ./collected K7QD-3M2X
              waybill show ./collected K7QD-3M2X --follow
              waybill show http://127.0.0.1:8477 01890a5d-ac96-774b-bcce-b302099a8057 --json
              waybill show ./collected K7QD-3M2X:17
            """)

    @OptionGroup var place: StoreOptions

    @Argument(
        help: ArgumentHelp(
            "Its ID, or the support code that people read out; of an exchange its code.", valueName: "id"))
    var key: String

    @Option(help: "Which times are shown: aligned or raw. (default: aligned)")
    var clocks: ShownClocks?

    @Flag(help: "Go on with what comes of it, until interrupted.")
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
            var following = FollowingOne(place, key, clocks: clocks ?? .aligned, isJSON: json)
            return try await following.run()
        }
        if key.contains(":") { return try await showExchange() }
        let record = try await place.opened().transaction(key)
        if json { return try Terminal.write(json: record) }
        let transaction = TransactionText(Redactor.command.redacted(record), clocks: clocks ?? .aligned)
        text.write(transaction.lines(.standardOutput(), width: Terminal.width() ?? Terminal.usualWidth))
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
        text.write(ExchangeText(redactor.redacted(record), bodies: redactor.redacted(bodies)).lines(.standardOutput()))
    }
}

extension ShownClocks: ExpressibleByArgument {}

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
