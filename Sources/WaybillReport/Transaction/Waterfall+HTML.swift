/// How a waterfall is drawn: labels as text, so that they wrap and can be searched, and the bars beside or below them as SVG.
///
/// Positions are percentages, so that the picture is as wide as the window; whatever has a size in pixels gets it from the style sheet. The
/// timeline below says the same in words, so the picture is hidden from screen readers.
extension Waterfall {
    var html: HTML {
        """
        <div class=fall><ol>\(bars.map(label))</ol><svg aria-hidden=true>\(ticks.map(tick))\(bars.indices.map(line))</svg></div>

        """
    }

    private func label(of bar: Bar) -> HTML {
        "<li class=\"l\(min(bar.lane, 3)) d\(min(bar.depth, 4))\"><span>\(bar.label)</span><b\(" class=bad", if: bar.hasFailed)>\(bar.note)</b>"
    }

    private func tick(at time: Int) -> HTML {
        let x = place(span.lowerBound + time)
        return "<rect x=\(x)% /><text x=\(x)%>\(Self.round(time))</text>"
    }

    private func line(_ index: Int) -> HTML {
        let bar = bars[index]
        let (height, x) = (1000 / bars.count, place(bar.start))
        let y = index * 1000 / bars.count
        var shapes: HTML = "<rect x=\(x)% width=\(length(bar.start, bar.end))%\(" class=open", if: bar.isOpen) />"
        if let firstByte = bar.firstByte, firstByte < bar.end {
            shapes += "<rect class=body x=\(place(firstByte))% width=\(length(firstByte, bar.end))% />"
        }
        for event in bar.events { shapes += "<circle cx=\(place(event))% />" }
        for error in bar.errors { shapes += cross(at: error) }
        if bar.hasFailed { shapes += cross(at: bar.end) }
        let kind: HTML = bar.kind == .part ? "p" : "x"
        return "<svg class=\"\(kind) l\(min(bar.lane, 3))\" y=\(percent(y))% height=\(percent(height))%>\(shapes)</svg>"
    }

    private func cross(at time: Int) -> HTML { "<svg x=\(place(time))%><path d=\"M-4-4l8 8m0-8l-8 8\"/></svg>" }

    private func place(_ time: Int) -> HTML { length(span.lowerBound, time) }

    private func length(_ start: Int, _ end: Int) -> HTML { percent((end - start) * 1000 / (span.upperBound - span.lowerBound)) }

    /// Tenths of a percent as a percentage: `23.4`, `100`.
    private func percent(_ tenths: Int) -> HTML {
        .raw(tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))")
    }

    /// `20 ms` rather than `20.0 ms`, `2 min` rather than `2 min 0 s`.
    private static func round(_ time: Int) -> String {
        guard time > 0 else { return "0" }
        var words = Words.duration(time).split(separator: " ")
        if words[0].contains(".") {
            while words[0].last == "0" { words[0].removeLast() }
            if words[0].last == "." { words[0].removeLast() }
        }
        if words.count == 4, words[2] == "0" { words.removeLast(2) }
        return words.joined(separator: " ")
    }
}
