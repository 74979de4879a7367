#if Collector
import ArgumentParser
import WaybillExport

/// How `waybill export --format csv` writes its file.
struct CSVOptions: ParsableArguments {
    @Option(help: "CSV: a row for each of these: facts, transactions.")
    var rows = Rows.facts

    @Option(
        help: "CSV: moments as microseconds since 1970 (us), or as text for a spreadsheet (iso), in UTC.")
    var times = Times.us

    @Flag(help: "CSV: begin with a byte order mark, which Excel needs.")
    var bom = false

    enum Rows: String, CaseIterable, ExpressibleByArgument { case facts, transactions }

    enum Times: String, CaseIterable, ExpressibleByArgument { case us, iso }

    var areUnset: Bool { rows == .facts && style == CSVStyle() }

    var style: CSVStyle {
        var style = CSVStyle()
        (style.hasByteOrderMark, style.hasISOTimes) = (bom, times == .iso)
        return style
    }
}
#endif
