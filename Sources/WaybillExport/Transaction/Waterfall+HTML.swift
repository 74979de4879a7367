import WaybillCore

/// Draws labels as text, which wraps and is searchable, and bars as SVG. Positions adapt to the window's width.
extension Waterfall {
    func html(hasAnchors: Bool) -> HTML {
        let gaps = gaps
        return "\(figure(gaps, hasAnchors: hasAnchors))\(gaps.map(words))"
    }

    package func figure(_ gaps: [Gap] = [], hasAnchors: Bool) -> HTML {
        let shades: HTML = "<g>\(gaps.map(shade))</g>"
        return """
            <figure><svg>\(shades, if: !gaps.isEmpty)\(ticks.map(tick))</svg><ol\(" class=long", if: bars.count > Self.longCount)>\
            \(bars.map { line(of: $0, hasAnchors: hasAnchors) })</ol></figure>

            """
    }

    private func shade(_ gap: Gap) -> HTML { "<rect x=\(place(gap.start))% width=\(length(gap.start, gap.end))% />" }

    private func words(of gap: Gap) -> HTML {
        "<p class=gap>Nothing was recorded for \(Words.duration(gap.end - gap.start)) after \(gap.after), until \(gap.until).\n"
    }

    private func tick(at time: Int64) -> HTML {
        let x = place(span.lowerBound + time)
        return "<rect x=\(x)% /><text x=\(x)%>\(Words.roundDuration(time))</text>"
    }

    private func line(of bar: Bar, hasAnchors: Bool) -> HTML {
        let (lane, depth) = (min(bar.lane, 3), min(bar.depth, 4))
        let anchor = bar.exchange.map { "#\(names.anchor(of: $0))" } ?? bar.transaction.map { "\($0)" }
        let link = hasAnchors ? anchor : nil
        let label: HTML = link.map { "<a href=\"\($0)\">\(bar.label)</a>" } ?? "\(bar.label)"
        let kind: HTML =
            switch bar.kind {
            case .part: "p"
            case .exchange: "x"
            case .child: "p c"
            }
        return """
            <li class="\(kind)\(" l\(lane)", if: lane > 0)\(" d\(depth)", if: depth > 0)"><span>\(label)</span>\
            <b\(" class=bad", if: bar.hasFailed)>\(bar.note)</b><svg>\(shapes(of: bar, isTold: hasAnchors))</svg>
            """
    }

    private func shapes(of bar: Bar, isTold: Bool) -> HTML {
        var shapes: HTML =
            "<rect\(" class=open", if: bar.isOpen) x=\(place(bar.start))% width=\(length(bar.start, bar.end))% />"
        if let uncertainty = bar.uncertainty { shapes += whisker(around: bar.start, uncertainty) }
        if (bar.timing?.phases.count ?? 0) > 2 {
            shapes += phases(of: bar)
        } else if let firstByte = bar.firstByte, firstByte < bar.end {
            shapes += "<rect x=\(place(firstByte))% width=\(length(firstByte, bar.end))% />"
        }
        if isTold, bar.events.count <= Self.toldCount {
            for event in bar.events { shapes += mark(event) }
        } else if !bar.events.isEmpty {
            shapes += dots(bar.events.map(\.time))
        }
        for error in bar.errors { shapes += cross(at: error.time, isTold ? error.label : nil) }
        if bar.hasFailed { shapes += cross(at: bar.end, nil) }
        return shapes
    }

    private func whisker(around time: Int64, _ uncertainty: Int64) -> HTML {
        let (low, high) = (time - uncertainty, time + uncertainty)
        let title: HTML = "<title>Its beginning ± \(Words.duration(uncertainty))</title>"
        return """
            <g class=u>\(title)<rect x=\(place(low))% width=\(length(max(low, span.lowerBound), min(high, span.upperBound)))% />\
            <rect x=\(place(low))% /><rect x=\(place(high))% /></g>
            """
    }
    /// Longer lists are drawn only where visible.
    private static let longCount = 100

    /// With more events, each is hard to point at, and titles would dominate the page's size.
    private static let toldCount = 200

    private func phases(of bar: Bar) -> HTML {
        var start = bar.start
        let rects = (bar.timing?.phases ?? []).map { phase -> HTML in
            defer { start += phase.duration }
            let title: HTML = "<title>\(phase.name) \(Words.duration(phase.duration))</title>"
            return "<rect x=\(place(start))% width=\(length(start, start + phase.duration))%>\(title)</rect>"
        }
        return "<g>\(rects)</g>"
    }

    private func mark(_ event: Mark) -> HTML {
        "<svg x=\(place(event.time))%><circle r=4><title>\(event.label)</title></circle></svg>"
    }

    /// Draws events as zero-length lines with round ends, which take a third of the bytes of circles.
    private func dots(_ times: [Int64]) -> HTML {
        var previous = 0
        let moves = times.map { time in
            let place = thousandths(span.lowerBound, time)
            defer { previous = place }
            return "m\(place - previous) 0z" as HTML
        }
        return "<svg viewBox=\"0 0 1000 1\" preserveAspectRatio=none><path d=\"\(moves)\"/></svg>"
    }

    private func cross(at time: Int64, _ label: String?) -> HTML {
        "<svg x=\(place(time))%><path d=\"M-4-4l8 8m0-8l-8 8\">\(label.map { "<title>\($0)</title>" } ?? HTML())</path></svg>"
    }

    /// A clock may be set during an exchange.
    private func place(_ time: Int64) -> HTML {
        "\(percent: thousandths(span.lowerBound, min(max(time, span.lowerBound), span.upperBound)))"
    }

    /// SVG does not draw shapes without width.
    private func length(_ start: Int64, _ end: Int64) -> HTML {
        "\(percent: min(max(1, thousandths(start, end)), 1000))"
    }

    private func thousandths(_ start: Int64, _ end: Int64) -> Int {
        (end - start).thousandths(of: span.upperBound - span.lowerBound)
    }
}
