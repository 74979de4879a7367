#if Collector
import WaybillCore
import WaybillReport

/// A line for each leg, over all and for each segment.
struct LegsText: AnswerText {
    let query: LegsQuery
    let answer: LegsAnswer
    let subject: String

    var isEmpty: Bool { answer.total.duration.count == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(([answer.total] + answer.segments).map(\.duration), titles: ["P50", "P90", "P99", "MAX"])
        let count = Words.count(answer.total.duration.count, "transaction")
        var lines = [palette.paint(subject, .bold) + ", where the time of \(count) goes\(columns.unit)", ""]
        lines += table(answer.total, columns, width: width).lines(palette)
        for segment in answer.segments {
            let title = "\(query.segmentation?.description ?? "") \(Segmentation.title(of: segment.value))".printable
            lines += ["", palette.paint(title, .bold) + ", \(Words.count(segment.duration.count, "transaction"))"]
            lines += table(segment, columns, width: width).lines(palette)
        }
        return lines + remarks(columns)
    }

    private func table(_ segment: LegsSegment, _ columns: DurationColumns, width: Int) -> TextTable {
        let legs = segment.legs.filter { $0.statistics.count > 0 }
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        var table = TextTable(columns: [("LEG", .left), ("OF ALL TIME", .right), ("COUNT", .right)] + columns.columns)
        table.rows = legs.map { leg in
            [
                Cell(Self.words(leg.leg), .bold), Cell(Words.percent(leg.totalMicroseconds, of: whole)), Cell("\(leg.statistics.count)"),
            ] + columns.cells(leg.statistics)
        }
        table.rows.append(["all of it", "", Cell("\(segment.duration.count)")] + columns.cells(segment.duration))
        table.drop(["MAX"], width: width)
        table.addBars(legs.map(\.totalMicroseconds) + [0], width: width)
        return table
    }

    private static func words(_ leg: Leg) -> String {
        switch leg {
        case .clientBefore: "client, before"
        case .request: "request"
        case .server: "server"
        case .response: "response"
        case .network: "network, either way"
        case .exchange: "network and server"
        case .clientBetween: "client, between"
        case .clientAfter: "client, after"
        }
    }

    private func remarks(_ columns: DurationColumns) -> [String] {
        let total = answer.total
        var remarks: [String] = []
        if total.withoutSplit > 0 {
            remarks.append("Of \(total.withoutSplit) too little is known of the clocks to tell request and response apart.")
        }
        if total.withoutServer > 0 { remarks.append("Of \(total.withoutServer) no server told its part of a request.") }
        let left = [(total.withoutEnd, "not closed"), (total.withoutExchange, "closed without a request")].filter { $0.0 > 0 }
        if !left.isEmpty { remarks.append("Left out: \(left.map { "\($0.0) \($0.1)" }.joined(separator: ", ")).") }
        if let off = total.uncertainty.p90Microseconds {
            remarks.append("The borders of request, server and response may be off by \(Words.duration(off)), of nine in ten.")
        }
        return remarks.isEmpty ? [] : [""] + remarks
    }

    var csv: CSVTable {
        var table = CSVTable(columns: ["segment", "leg", "total_us"] + DurationColumns.csvColumns)
        for (title, segment) in [("all", answer.total)] + answer.segments.map({ (Segmentation.title(of: $0.value), $0) }) {
            table.rows += segment.legs.map { leg in
                [.text(title), .text(leg.leg.rawValue), .integer(leg.totalMicroseconds)] + DurationColumns.csvValues(leg.statistics)
            }
        }
        return table
    }
}
#endif
