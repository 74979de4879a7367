import WaybillCore

/// Elements that pages share.
extension HTML {
    /// The content of a `dl`: a cell for each name and its value.
    package static func cells(_ cells: [(name: String, value: HTML)]) -> HTML {
        "\(cells.map { "<div><dt>\($0.name)<dd>\($0.value)</div>" as HTML })"
    }

    /// The content of a `select`.
    package static func options(_ values: [(value: String, text: String)], chosen: String?) -> HTML {
        let options = values.map { value, text in
            "<option value=\"\(value)\"\(" selected", if: value == chosen)>\(text)</option>" as HTML
        }
        return "\(options)"
    }

    /// The parts of a whole as rectangles side by side, for an `svg`.
    ///
    /// - Parameters:
    ///   - parts: The length of each part, with the attributes of its rectangle.
    ///   - total: The length of the whole.
    ///   - least: The minimum width in thousandths.
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
