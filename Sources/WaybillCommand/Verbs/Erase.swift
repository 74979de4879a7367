#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Erase transactions, network exchanges, or all records of an installation.",
        discussion: """
            This removes the rows, and their bytes from the files. A collector rejects erased facts that arrive again. At a collector's URL, only --id and \
            --installation work, with an `admin` token.

            EXAMPLES
              waybill erase ./collected --id K7QD-3M2X
              waybill erase ./collected --before 30d --yes
              waybill erase http://127.0.0.1:8477 --yes --token-file admin.txt \\
                --installation 01890a5d-ac96-774b-bcce-b302099a8057
            """)

    @OptionGroup var place: StoreOptions

    @Flag(help: "Everything.")
    var all = false

    @Flag(help: "The network exchanges and their bodies; events stay.")
    var network = false

    @Option(
        help: ArgumentHelp("This transaction: its ID or support code. Repeat it for several.", valueName: "id"))
    var id: [String] = []

    @Option(help: ArgumentHelp("Transactions that began before this time: \(TimeExpression.forms).", valueName: "time"))
    var before: String?

    @Option(
        help: ArgumentHelp("The records of this installation, and the transactions that it began.", valueName: "guid"))
    var installation: String?

    @Flag(help: "Do not ask.")
    var yes = false

    @Flag(help: "Print JSON, as a collector answers it.")
    var json = false

    func validate() throws {
        let given = [all, network, !id.isEmpty, before != nil, installation != nil].filter(\.self).count
        guard given == 1 else {
            throw ValidationError("Say what to erase, by one of --all, --network, --id, --before and --installation.")
        }
        if let before, TimeExpression.microseconds(before, now: 0) == nil {
            throw ValidationError("“\(before)” is no time: give \(TimeExpression.forms).")
        }
        if case .collector = place.store, all || network || before != nil {
            throw ValidationError(
                "A collector erases by --id or --installation. For --all, --before and --network name its folder.")
        }
        do throws(QueryFailure) { _ = try query } catch { throw ValidationError(error.description) }
    }

    func run() async throws {
        try confirm()
        let store = try await place.opened()
        let erasure = try await store.erase(scope(in: store))
        if json { return try Terminal.write(json: erasure) }
        try Terminal.write([
            "\(Words.count(erasure.transactionCount, "transaction")) erased, \(Words.count(erasure.factCount, "fact"))."
        ])
    }

    /// `nil` for scopes that only a folder has.
    private var query: ErasureQuery? {
        get throws(QueryFailure) {
            if all || network || before != nil { return nil }
            return try ErasureQuery(installation.map { [("installation", $0)] } ?? id.map { ("id", $0) })
        }
    }

    private func confirm() throws {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw WaybillError(.setting, "Nothing was erased: without a terminal to ask at, --yes has to be given.")
        }
        Terminal.ask("This cannot be undone. Erase? Type yes: ")
        guard readLine() == "yes" else { throw WaybillError(.setting, "Nothing was erased.") }
    }

    private func scope(in store: some RecordStore) async throws -> ErasureScope {
        if let query = try query { return try await store.erasureScope(query) }
        if network { return .networkLogs }
        let time = before.flatMap { TimeExpression.microseconds($0, now: CommandClock.current.wallMicroseconds()) }
        return time.map { .begunBefore(Date(microseconds: $0)) } ?? .all
    }
}
#endif
