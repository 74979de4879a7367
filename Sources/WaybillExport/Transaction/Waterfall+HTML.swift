import WaybillCore
import WaybillQueries

/// Draws labels as text, which wraps and is searchable, and bars as SVG.
extension Waterfall {
    var html: HTML {
        let gaps = gaps
        return "\(figure(gaps))\(gaps.map(words))"
    }

    package func figure(_ gaps: [Gap] = []) -> HTML {
        let shades: HTML = "<g>\(gaps.map(shade))</g>"
        let isLong = unfolded.count > Self.longCount
        let page = address == nil ? Page(rows: bars, range: bars.indices) : page(at: at)
        return """
            <figure><figcaption>\(caption(page))</figcaption>\(overview, if: isLong)\
            <div class=axis>\(errorLink(page))<svg>\(axis)</svg></div>\
            <div class=bars><svg>\(shades, if: !gaps.isEmpty)\(ticks.map(tick))</svg>\(list(page))</div>\
            \(others(page))</figure>

            """
    }

    private func others(_ page: Page) -> HTML {
        guard let address else { return "" }
        let before = page.before.map { " <a rel=prev href=\"\(address($0))\">Earlier rows</a>" as HTML }
        let after = page.after.map { " <a rel=next href=\"\(address($0))\">Later rows</a>" as HTML }
        return "\([before, after].compactMap(\.self))"
    }

    private func caption(_ page: Page) -> HTML {
        let (start, end) = (span.lowerBound.subtracting(origin), span.upperBound.subtracting(origin))
        let scale: HTML = "Scale: \(Words.roundDuration(start)) to \(Words.roundDuration(end))."
        guard page.range.count < bars.count else { return scale }
        let place: HTML = "Rows \(page.range.lowerBound + 1) to \(page.range.upperBound) of \(bars.count)."
        return "\(place)\(others(page)) \(scale)"
    }

    private func errorLink(_ page: Page) -> HTML {
        guard address != nil, let first = errors.first else { return "" }
        return
            "<a class=next href=\"\(place(of: first, page))\">First of \(Words.count(errors.count, "error"))</a>"
    }

    /// A reference within the page if it shows the row, or else to another page.
    private func place(of key: String, _ page: Page) -> String {
        let isHere = page.rows.contains { self.key(of: $0) == key }
        return (isHere ? "" : address?(key) ?? "") + "#\(key)"
    }

    /// The rows, with those of a part inside it, which readers can fold. Untrusted input determines the depth.
    private func list(_ page: Page) -> HTML {
        let errors = address == nil ? [] : errors
        let following = Dictionary(zip(errors, errors.dropFirst())) { first, _ in first }
        var html: HTML = "<ol>"
        var open: [Int] = []
        for (index, bar) in page.rows.enumerated() {
            while let depth = open.last, depth >= bar.depth {
                html += "</ol></details>"
                open.removeLast()
            }
            let next = following[key(of: bar)].map { place(of: $0, page) }
            let isAbove = index + 1 < page.rows.count && page.rows[index + 1].depth > bar.depth
            guard bar.kind == .part, isAbove, open.count < Self.nestedDepth else {
                html += row(bar, next: next)
                continue
            }
            html += "\(item(bar))<details open><summary>\(line(of: bar))</summary><ol>"
            open.append(bar.depth)
        }
        for _ in open { html += "</ol></details>" }
        return "\(html)</ol>"
    }

    private static let nestedDepth = 8

    private func row(_ bar: Bar, next: String? = nil) -> HTML {
        let link: HTML = next.map { " <a class=next href=\"\($0)\">Next error</a>" } ?? ""
        let (item, line) = (item(bar), line(of: bar))
        let content: HTML? =
            switch bar.kind {
            case .run: "<ol>\(bar.members.map { row($0) })</ol>"
            case .exchange: bar.fact.flatMap(details)
            case .part, .child, .event: nil
            }
        if let content {
            return "\(item)<details><summary>\(line)</summary>\("<p>\(link)", if: next != nil)\(content)</details>\n"
        }
        let remark: HTML = "\(remark(on: bar))\(link)"
        return "\(item)<div>\(line)</div>\("<p>\(remark)</p>", if: !remark.bytes.isEmpty)\n"
    }

    private func item(_ bar: Bar) -> HTML {
        let (lane, depth) = (min(bar.lane, 3), min(bar.depth, 4))
        let anchor: HTML = address == nil ? "" : " id=\"\(key(of: bar))\""
        return "<li class=\"\(kind(of: bar))\(" l\(lane)", if: lane > 0)\(" d\(depth)", if: depth > 0)\"\(anchor)>"
    }

    private func kind(of bar: Bar) -> HTML {
        switch bar.kind {
        case .part: "p"
        case .exchange: "x"
        case .child: "p c"
        case .event: "e"
        case .run: bar.members.first?.kind == .event ? "r" : "x r"
        }
    }

    private func line(of bar: Bar) -> HTML {
        let isLinked = address != nil
        let label: HTML =
            isLinked
            ? bar.transaction.map { "<a href=\"\($0.description)\">\(bar.label)</a>" } ?? "\(short(bar))"
            : "\(short(bar))"
        let title: HTML = bar.url.map { " title=\"\($0)\"" } ?? ""
        return """
            <span\(title)>\(label)</span><b\(" class=bad", if: bar.hasFailed)>\(bar.note)</b>\
            <svg class="\(kind(of: bar))">\(shapes(of: bar, isTold: isLinked))</svg>
            """
    }

    /// The method and the last segment of a path. An ID says too little: its row also has the segment before.
    private func short(_ bar: Bar) -> String {
        guard bar.kind == .exchange, let start = bar.label.firstIndex(of: "/") else { return bar.label }
        let segments = bar.label[start...].split(separator: "/")
        let isID = segments.last.map { PathTemplate($0).description.hasPrefix("{") } == true
        let count = isID ? 2 : 1
        guard segments.count > count else { return bar.label }
        return "\(bar.label[..<start])…/\(segments.suffix(count).joined(separator: "/"))"
    }

    private func remark(on bar: Bar) -> HTML {
        guard let entry = bar.entry else { return "" }
        let words = [entry.error.map(Words.error), entry.isLate ? "after the end" : nil].compactMap(\.self)
        let told: HTML = "<span\(" class=bad", if: bar.hasFailed)>\(words.joined(separator: " · "))</span>"
        return "\(told, if: !words.isEmpty)\(entry.attributes.sorted { $0.key < $1.key }.map(attribute))"
    }

    private func attribute(_ name: String, _ value: AttributeValue) -> HTML {
        if let json = PrettyJSON.text(value.description) { return " <u>\(name)=</u><pre>\(json)</pre>" }
        return " <u>\(name)=\(value.description)</u>"
    }

    private func shade(_ gap: Gap) -> HTML { "<rect x=\(place(gap.start))% width=\(length(gap.start, gap.end))% />" }

    private func words(of gap: Gap) -> HTML {
        "<p class=gap>Nothing was recorded for \(Words.duration(gap.end - gap.start)) after \(gap.after), until \(gap.until).\n"
    }

    private func tick(at time: Int64) -> HTML { "<rect x=\(place(origin + time))% />" }

    private var axis: HTML {
        let start = span.lowerBound.subtracting(origin)
        let labels = ([start] + ticks).map {
            "<text x=\(place(origin + $0))%>\(Words.roundDuration($0))</text>" as HTML
        }
        return "\(labels)\(ticks.map(tick))"
    }

    private var overview: HTML {
        let columns = 100
        func column(_ time: Int64) -> Int {
            let inside = min(max(time, whole.lowerBound), whole.upperBound)
            return min(max(0, inside.subtracting(whole.lowerBound).thousandths(of: whole.length)), 999) * columns / 1000
        }
        var (counts, failed) = ([Int](repeating: 0, count: columns), Set<Int>())
        for bar in unfolded where bar.kind != .part {
            let (start, end) = (column(bar.start), column(bar.end))
            for index in start...max(start, end) { counts[index] += 1 }
            if bar.hasFailed { failed.insert(start) }
        }
        let most = max(counts.max() ?? 1, 1)
        let rects = counts.enumerated().filter { $0.element > 0 }.map { index, count in
            "<rect\(" class=bad", if: failed.contains(index)) x=\(index) y=\(20 - max(1, 20 * count / most)) width=1 height=\(max(1, 20 * count / most)) />"
                as HTML
        }
        let shown = span == whole ? [] : [(column(span.lowerBound), column(span.upperBound))]
        let frame = shown.map { "<rect class=shown x=\($0.0) width=\(max(1, $0.1 - $0.0)) height=20 />" as HTML }
        return """
            <svg class=overview viewBox="0 0 \(columns) 20" data-ms=\(whole.length / 1000) preserveAspectRatio=none role=img \
            aria-label="Activity over the whole transaction, at most \(most) at once">\(frame)\(rects)</svg>
            """
    }

    private func shapes(of bar: Bar, isTold: Bool) -> HTML {
        switch bar.kind {
        case .event:
            return bar.hasFailed ? cross(at: bar.start, nil) : mark(Mark(time: bar.start, label: bar.label))
        case .run where bar.members.first?.kind == .event: return dots(bar.events.map(\.time))
        case .run: return "\(bar.members.map(rect))"
        case .part, .exchange, .child: break
        }
        var shapes = rect(bar)
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

    private func rect(_ bar: Bar) -> HTML {
        "<rect\(" class=open", if: bar.isOpen) x=\(place(bar.start))% width=\(length(bar.start, bar.end))% />"
    }

    private func whisker(around time: Int64, _ uncertainty: Int64) -> HTML {
        let (low, high) = (time.subtracting(uncertainty), time.adding(uncertainty))
        let title: HTML = "<title>Its beginning ± \(Words.duration(uncertainty))</title>"
        return """
            <g class=u>\(title)<rect x=\(place(low))% width=\(length(max(low, span.lowerBound), min(high, span.upperBound)))% />\
            <rect x=\(place(low))% /><rect x=\(place(high))% /></g>
            """
    }

    /// With more events, each is hard to point at, and titles would dominate the page's size.
    private static let toldCount = 40

    private func phases(of bar: Bar) -> HTML {
        var start = bar.start
        let rects = (bar.timing?.phases ?? []).map { phase -> HTML in
            defer { start += phase.duration }
            let title: HTML = "<title>\(phase.name) \(Words.duration(phase.duration))</title>"
            return "<rect x=\(place(start))% width=\(length(start, start + phase.duration))%>\(title)</rect>"
        }
        return "<g>\(rects)</g>"
    }

    private func isShown(_ time: Int64) -> Bool { span == whole || span.contains(time) }

    private func mark(_ event: Mark) -> HTML {
        guard isShown(event.time) else { return "" }
        return "<svg x=\(place(event.time))%><circle r=4><title>\(event.label)</title></circle></svg>"
    }

    /// Draws many events as a density strip.
    private func dots(_ times: [Int64]) -> HTML {
        var previous = 0
        let moves = times.filter(isShown).map { time in
            let place = thousandths(span.lowerBound, clamped(time))
            defer { previous = place }
            return "m\(place - previous)-1v1" as HTML
        }
        return "<svg viewBox=\"0 0 1000 1\" preserveAspectRatio=none><path d=\"M0 1\(moves)\"/></svg>"
    }

    private func cross(at time: Int64, _ label: String?) -> HTML {
        guard isShown(time) else { return "" }
        return
            "<svg x=\(place(time))%><path d=\"M-4-4l8 8m0-8l-8 8\">\(label.map { "<title>\($0)</title>" } ?? HTML())</path></svg>"
    }

    private func clamped(_ time: Int64) -> Int64 { min(max(time, span.lowerBound), span.upperBound) }

    /// A clock may be set during an exchange, and a page may show a span in which a bar does not end.
    private func place(_ time: Int64) -> HTML { "\(percent: thousandths(span.lowerBound, clamped(time)))" }

    /// SVG does not draw shapes without width.
    private func length(_ start: Int64, _ end: Int64) -> HTML {
        "\(percent: min(max(1, thousandths(clamped(start), clamped(end))), 1000))"
    }

    private func thousandths(_ start: Int64, _ end: Int64) -> Int {
        end.subtracting(start).thousandths(of: span.length)
    }
}
