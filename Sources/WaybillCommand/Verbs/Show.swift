#if Collector
import ArgumentParser

/// `waybill show`: one transaction, merged from all its sources.
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show one transaction: who took part, and what happened when.",
        discussion: """
            The timeline has the sources in lanes beside each other: the one that began the transaction leftmost, those that joined it
            further right. AT is the time since the beginning, SINCE the time since the line above.

            EXAMPLES
              waybill show ./collected K7QD-3M2X
              waybill show http://127.0.0.1:8477 01890a5d-ac96-774b-bcce-b302099a8057 --json
            """)

    @OptionGroup var place: StoreOptions

    @Argument(help: ArgumentHelp("Its ID, or the support code that people read out.", valueName: "id"))
    var key: String

    @Flag(help: "Print JSON, as a collector answers it.")
    var json = false

    func run() async throws {
        let record = try await place.reader().transaction(key)
        if json { return try Terminal.write(json: record) }
        Terminal.write(TransactionText(record).lines(.standardOutput()))
    }
}
#endif
