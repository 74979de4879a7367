import WaybillCore

/// Where the time goes: the client, the network, the server.
extension UseCaseSection {
    func legs(_ answer: LegsAnswer) -> HTML {
        let total = answer.total
        let legs = total.legs.filter { $0.statistics.count > 0 }
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        let most = legs.map(\.totalMicroseconds).max() ?? 0
        let rows = legs.map { share -> HTML in
            """
            <tr><th scope=row><svg class="sign \(share.leg.rawValue)" aria-hidden=true><rect /></svg> \(Words.leg(share.leg))\
            <td class=drawn>\(ShareBar(share.totalMicroseconds, of: most, tone: share.leg.rawValue).html)\
            <td>\(Words.percent(share.totalMicroseconds, of: whole))\(times(share.statistics))</tr>
            """
        }
        let sum: HTML = "<tr class=sum><th scope=row>All of it<td><td>\(times(total.duration))</tr>"
        let stack = ShareBar(legs.map { ($0.leg.rawValue, $0.totalMicroseconds) }, of: whole, isTall: true)
        let columns: [HTML] = ["Leg", "", "Of all time", "Transactions", "p50", "p90", "p99"]
        return section(
            "Where the time of \(Words.count(total.duration.count, "transaction")) goes", file: "legs.csv",
            "\(stack.html)\(table("Legs", columns, rows + [sum]))\(remarks(Words.remarks(total)))")
    }

    private func times(_ statistics: DurationStatistics) -> HTML {
        """
        <td>\(statistics.count)<td>\(time(statistics.p50Microseconds))<td>\(time(statistics.p90Microseconds))\
        <td>\(time(statistics.p99Microseconds))
        """
    }
}
