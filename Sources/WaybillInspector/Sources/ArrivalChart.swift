import WaybillCore
import WaybillExport
import WaybillReading

/// What came in hour by hour: bars, and a table of the hours in which something came.
struct ArrivalChart {
    let hours: [DeliveryState.Hour]
    let frame: InspectorFrame

    var html: HTML { "<section class=\"panel wide\"><h2>Received by hour</h2>\(content)</section>\n" }

    private var content: HTML {
        guard !hours.isEmpty else { return "<p class=why>No set has come in yet.</p>" }
        let busy = hours.filter { $0.factCount > 0 }
        let (sets, facts) = (busy.reduce(0) { $0 + $1.setCount }, busy.reduce(0) { $0 + $1.factCount })
        guard !busy.isEmpty else { return "<p class=why>Nothing new came in the last \(hours.count) hours.</p>" }
        return """
            <p>\(Words.count(facts, "new fact")) in \(Words.count(sets, "set")) in the last \(hours.count) hours; at most \
            \(Words.count(busy.map(\.factCount).max() ?? 0, "fact")) in one.</p>
            \(chart)
            <details class=table><summary>As a table</summary><table class=facts><thead><tr><th>Hour from, in \(zone)<th class=n>Sets<th class=n>Facts\
            </tr></thead>\(busy.reversed().map(row))</table></details>
            """
    }

    /// A browser shows other times of the page in its own time zone.
    private var zone: String { WallTime(hours.last?.beginMicroseconds ?? 0, in: frame.timeZone).zone }

    private func label(_ hour: DeliveryState.Hour) -> (date: String, time: String) {
        let time = WallTime(hour.beginMicroseconds, in: frame.timeZone)
        return (time.date, String(time.time.prefix(5)))
    }

    private var chart: HTML {
        let columns = hours.map { hour in
            let (date, time) = label(hour)
            let title =
                "\(date) \(time) \(zone): \(Words.count(hour.factCount, "fact")), \(Words.count(hour.setCount, "set"))"
            return ColumnChart.Column(title: title, parts: [("", hour.factCount)])
        }
        let labels = [hours.startIndex, hours.count / 2, hours.count - 1].map { index in
            let (date, time) = label(hours[index])
            return "\(date.suffix(5)) \(time)"
        }
        return ColumnChart(columns: columns, labels: labels).html
    }

    private func row(_ hour: DeliveryState.Hour) -> HTML {
        let (date, time) = label(hour)
        return "<tr><td>\(date) \(time)<td class=n>\(hour.setCount)<td class=n>\(hour.factCount)</tr>"
    }
}
