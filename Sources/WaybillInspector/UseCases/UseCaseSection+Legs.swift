import WaybillAnalysis
import WaybillCore
import WaybillExport

/// Where the time goes: the client, the network, the server.
extension UseCaseSection {
    func legs(_ answer: LegsAnswer) -> HTML {
        let total = answer.total
        let legs = total.legs.filter { $0.statistics.count > 0 }
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        let most = legs.map(\.totalMicroseconds).max() ?? 0
        let rows = legs.map { share -> [HTML] in
            [
                "<svg class=\"sign \(share.leg.rawValue)\" aria-hidden=true><rect /></svg> \(Words.leg(share.leg))",
                ShareBar(share.totalMicroseconds, of: most, tone: share.leg.rawValue).html,
                "\(Words.percent(share.totalMicroseconds, of: whole))",
            ] + times(share.statistics)
        }
        let stack = ShareBar(legs.map { ($0.leg.rawValue, $0.totalMicroseconds) }, of: whole, isTall: true)
        let table = AnswerTable(
            caption: "Legs", columns: ["Leg", .drawn(), "Of all time", "Transactions", "p50", "p90", "p99"], rows: rows,
            sum: ["All of it", "", ""] + times(total.duration))
        return section(
            "Where the time of \(Words.count(total.duration.count, "transaction")) goes", file: "legs.csv",
            "\(stack.html)\(table.html)\(remarks(Words.remarks(total)))")
    }

    private func times(_ statistics: DurationStatistics) -> [HTML] {
        [
            "\(statistics.count)", "\(time(statistics.p50Microseconds))", "\(time(statistics.p90Microseconds))",
            "\(time(statistics.p99Microseconds))",
        ]
    }
}
