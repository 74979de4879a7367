import WaybillCore

/// How a waterfall is drawn: labels as text, so that they wrap and can be searched, and the bars beside or below them as SVG.
///
/// Positions are percentages, so that the picture is as wide as the window; whatever has a size in pixels gets it from the style sheet. The
/// timeline below says the same in words.
extension Waterfall {
    var html: HTML { "<figure><svg>\(ticks.map(tick))</svg><ol>\(bars.map(line))</ol></figure>\n" }

    private func tick(at time: Int) -> HTML {
        let x = place(span.lowerBound + time)
        return "<rect x=\(x)% /><text x=\(x)%>\(Words.roundDuration(time))</text>"
    }

    private func line(of bar: Bar) -> HTML {
        let (lane, depth) = (min(bar.lane, 3), min(bar.depth, 4))
        return """
            <li class="\(bar.kind == .part ? "p" : "x")\(" l\(lane)", if: lane > 0)\(" d\(depth)", if: depth > 0)"><span>\(bar.label)</span>\
            <b\(" class=bad", if: bar.hasFailed)>\(bar.note)</b><svg>\(shapes(of: bar))</svg>
            """
    }

    private func shapes(of bar: Bar) -> HTML {
        var shapes: HTML = "<rect\(" class=open", if: bar.isOpen) x=\(place(bar.start))% width=\(length(bar.start, bar.end))% />"
        if let firstByte = bar.firstByte, firstByte < bar.end {
            shapes += "<rect x=\(place(firstByte))% width=\(length(firstByte, bar.end))% />"
        }
        if !bar.events.isEmpty { shapes += dots(bar.events) }
        for error in bar.errors { shapes += cross(at: error) }
        if bar.hasFailed { shapes += cross(at: bar.end) }
        return shapes
    }

    /// Lines of no length with round ends, in thousandths of the width: a third of what circles would take.
    private func dots(_ times: [Int]) -> HTML {
        var previous = 0
        let moves = times.map { time in
            let place = thousandths(span.lowerBound, time)
            defer { previous = place }
            return "m\(place - previous) 0z" as HTML
        }
        return "<svg viewBox=\"0 0 1000 1\" preserveAspectRatio=none><path d=\"\(moves)\"/></svg>"
    }

    private func cross(at time: Int) -> HTML { "<svg x=\(place(time))%><path d=\"M-4-4l8 8m0-8l-8 8\"/></svg>" }

    /// Inside the picture, also where a clock was set while an exchange was under way.
    private func place(_ time: Int) -> HTML { "\(percent: thousandths(span.lowerBound, min(max(time, span.lowerBound), span.upperBound)))" }

    /// At least a tenth of a percent: SVG does not draw what has no width.
    private func length(_ start: Int, _ end: Int) -> HTML { "\(percent: min(max(1, thousandths(start, end)), 1000))" }

    private func thousandths(_ start: Int, _ end: Int) -> Int { (end - start) * 1000 / (span.upperBound - span.lowerBound) }
}
