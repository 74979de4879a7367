import WaybillCore

extension HTML {
    package static func cells(_ cells: [(name: String, value: HTML)]) -> HTML {
        "\(cells.map { "<div><dt>\($0.name)<dd>\($0.value)</div>" as HTML })"
    }

    package static func options(_ values: [(value: String, text: String)], chosen: String?) -> HTML {
        let options = values.map { value, text in
            "<option value=\"\(value)\"\(" selected", if: value == chosen)>\(text)</option>" as HTML
        }
        return "\(options)"
    }

    /// Returns adjacent rectangles of an `svg`, at least `least` thousandths wide.
    package static func segments<Length: FixedWidthInteger>(
        _ parts: [(attributes: HTML, length: Length)], of total: Length, least: Int
    ) -> [HTML] {
        var before: Length = 0
        return parts.map { attributes, length in
            let start = before.thousandths(of: total)
            before += length
            let width = max(least, before.thousandths(of: total) - start)
            return "<rect\(attributes) x=\(percent: min(start, 1000 - least))% width=\(percent: width)% />"
        }
    }
}
