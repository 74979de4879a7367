import WaybillCore
import WaybillStore

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
            <svg class=arrivals role=img aria-label="New facts by hour; the table has the numbers"><rect class=base y=80% width=100% height=1 />\(bars)\(marks)</svg>
            <details class=table><summary>As a table</summary><table class=facts><thead><tr><th>Hour from<th class=n>Sets<th class=n>Facts\
            </tr></thead>\(busy.reversed().map(row))</table></details>
            """
    }

    private func label(_ hour: DeliveryState.Hour) -> (date: String, time: String) {
        let time = WallTime(hour.beginMicroseconds, in: frame.timeZone)
        return (time.date, String(time.time.prefix(5)))
    }

    private var bars: [HTML] {
        let highest = max(1, hours.map(\.factCount).max() ?? 1)
        return hours.enumerated().compactMap { index, hour in
            guard hour.factCount > 0 else { return nil }
            // Room for the marks is left below, and for the eye between.
            let height = max(8, Int(Double(hour.factCount) / Double(highest) * 800))
            let (start, end) = (index * 1000 / hours.count, (index + 1) * 1000 / hours.count)
            let (date, time) = label(hour)
            return """
                <rect x=\(percent: start)% y=\(percent: 800 - height)% width=\(percent: max(1, end - start - 4))% height=\(percent: height)%>\
                <title>\(date) \(time): \(Words.count(hour.factCount, "fact")), \(Words.count(hour.setCount, "set"))</title></rect>
                """
        }
    }

    /// Every twelfth hour, from the first.
    private var marks: [HTML] {
        stride(from: 0, to: hours.count, by: 12).map { index in
            let (date, time) = label(hours[index])
            return "<text x=\(percent: index * 1000 / hours.count)% y=100%>\(String(date.suffix(5))) \(time)</text>"
        }
    }

    private func row(_ hour: DeliveryState.Hour) -> HTML {
        let (date, time) = label(hour)
        return "<tr><td>\(date) \(time)<td class=n>\(hour.setCount)<td class=n>\(hour.factCount)</tr>"
    }
}
