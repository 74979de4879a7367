extension SecretScanner {
    // MARK: Blocks

    /// Whether a value continues in the lines below, as in YAML: this line has none of it, or only its opening.
    func opensBlock(_ value: Range<Int>, from start: Int) -> Bool {
        guard openEnd == nil else { return false }
        let first = startOfValue(from: start)
        guard first < bytes.count, !isEndOfLine(bytes[first]) else { return true }
        if bytes[first] == UInt8(ascii: "|") || bytes[first] == UInt8(ascii: ">") {
            return isBlockMark(bytes[first...].prefix(16).prefix { !isEndOfLine($0) })
        }
        guard !value.isEmpty, value.upperBound == bytes.count || isEndOfLine(bytes[value.upperBound]) else {
            return false
        }
        return bytes[value.upperBound - 1].isOne(of: "[{(")
    }

    private func isEndOfLine(_ byte: UInt8) -> Bool { byte.isOne(of: "\r\n") }

    private func isBlockMark(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, first == UInt8(ascii: "|") || first == UInt8(ascii: ">") else { return false }
        return text.dropFirst().allSatisfy { $0.isDigit || $0.isOne(of: "+- \t") }
    }

    func column(of name: Range<Int>) -> Int {
        let start = bytes[..<name.lowerBound].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return bytes[start...].prefix { $0.isOne(of: " \t-") }.count
    }

    mutating func block(at index: Int) -> Range<Int>? {
        guard let column else { return nil }
        self.column = nil
        var first: Int?
        var last = index
        var start = index + 1
        while start < bytes.count {
            let next = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            let line = bytes[start..<next]
            guard Self.isInBlock(line, of: column) else { break }
            if first == nil { first = line.firstIndex { !$0.isOne(of: " \t\r") } }
            last = next
            start = next + 1
        }
        if start >= bytes.count { openEnd = .indentation(column, isSaid: first != nil) }
        guard let first else { return nil }
        return first..<(start >= bytes.count ? bytes.count : last)
    }

    /// Whether a line belongs to the value of a name at a column: blank, indented deeper, or an item at that column.
    static func isInBlock(_ line: ArraySlice<UInt8>, of column: Int) -> Bool {
        let text = line.drop { $0.isOne(of: " \t") }
        guard let first = text.first, first != UInt8(ascii: "\r"), first != UInt8(ascii: "\n") else { return true }
        let indentation = text.startIndex - line.startIndex
        if indentation > column { return true }
        return indentation == column && first == UInt8(ascii: "-")
            && (text.count == 1 || text[text.startIndex + 1] == UInt8(ascii: " "))
    }

    // MARK: Values

    func startOfValue(from start: Int) -> Int {
        bytes[start...].firstIndex { !$0.isOne(of: " \t") } ?? bytes.count
    }

    /// Returns the value from `start` on, after white space. If its end is unclear, a longer range is safer.
    mutating func value(from start: Int, isHeaderLike: Bool) -> Range<Int> {
        let first = startOfValue(from: start)
        if bytes[first...].starts(with: Redactor.placeholder.utf8) {
            return first..<first + Redactor.placeholder.utf8.count
        }
        if let quoted = quotedValue(from: first) { return quoted }
        guard first < bytes.count else { return first..<first }
        if isHeaderLike {
            let last = end(from: first, before: "\r\n")
            return first..<(isBlockMark(bytes[first..<last]) ? first : last)
        }
        // The end of an array or object is unknown, so all of the rest counts.
        if bytes[first] == UInt8(ascii: "{") || bytes[first] == UInt8(ascii: "[") {
            openEnd = .everything
            return first..<bytes.count
        }
        var last = end(from: first, before: " \t\r\n&,;)]}\"'<>#")
        if bytes[first..<last].elementsEqual("bearer".utf8, by: { $0.lowercased == $1 })
            || bytes[first..<last].elementsEqual("basic".utf8, by: { $0.lowercased == $1 })
        {
            while last < bytes.count, bytes[last] == UInt8(ascii: " ") { last += 1 }
            last = end(from: last, before: " \t\r\n&,;)]}\"'<>#")
        }
        return first..<last
    }

    private mutating func quotedValue(from start: Int) -> Range<Int>? {
        let escapes = bytes[start...].prefix { $0 == UInt8(ascii: "\\") }.count
        guard let mark = bytes[(start + escapes)...].first, mark.isOne(of: "\"'") else { return nil }
        let first = start + escapes + 1
        guard let end = Self.endOfQuotation(bytes[first...], mark, escapes: escapes) else {
            openEnd = .quotationMark(mark, escapes: escapes)
            return first..<bytes.count
        }
        return first..<end
    }

    /// Returns the end of a quotation whose mark has `escapes` backslashes before it.
    static func endOfQuotation(_ bytes: ArraySlice<UInt8>, _ mark: UInt8, escapes: Int) -> Int? {
        var backslashes = 0
        for index in bytes.indices {
            if bytes[index] == mark, backslashes <= escapes || escapes == 0 && backslashes.isMultiple(of: 2) {
                return escapes == 0 ? index : index - backslashes
            }
            backslashes = bytes[index] == UInt8(ascii: "\\") ? backslashes + 1 : 0
        }
        return nil
    }

    func end(from start: Int, before delimiters: StaticString) -> Int {
        bytes[start...].firstIndex { $0.isOne(of: delimiters) } ?? bytes.count
    }
}
