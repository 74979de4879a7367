package import WaybillCore

/// What is wrong with a ``FilterExpression``, and where.
public struct FilterMistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for a person, which says what would be right.
    public var message: String
    /// Where it begins, in Unicode scalars from the start of the text.
    public var offset: Int
    /// How many scalars it concerns, at least 1; it may lie right behind the last one.
    public var count: Int
    /// What may have been meant in that place; nil where nothing known is near.
    public var suggestion: String?

    /// Makes a mistake.
    public init(_ message: String, at offset: Int, count: Int = 1, suggestion: String? = nil) {
        self.message = message
        self.offset = offset
        self.count = max(1, count)
        self.suggestion = suggestion
    }

    /// The text with what may have been meant; nil where there is no suggestion.
    ///
    /// - Parameter text: The one that was read.
    public func corrected(_ text: String) -> String? {
        let scalars = Array(text.unicodeScalars)
        guard let suggestion, offset >= 0, offset + count <= scalars.count else { return nil }
        let isQuoted = offset > 0 && scalars[offset - 1] == "\""
        // Inside of quotes, a scalar that is escaped takes two places.
        guard !isQuoted || !scalars[offset..<offset + count].contains("\\") else { return nil }
        let isWritable = FilterScanner.isWritable(suggestion, isWord: false)
        let written =
            isQuoted ? suggestion.escaping(["\"", "\\"]) : isWritable ? suggestion : FilterScanner.quoted(suggestion)
        var corrected = String.UnicodeScalarView(scalars[..<offset])
        corrected.append(contentsOf: written.unicodeScalars)
        corrected.append(contentsOf: scalars[(offset + count)...])
        return String(corrected)
    }

    /// The message.
    public var description: String { message }

    /// Two lines for a terminal: the text, and a mark below the place.
    public func marked(in text: String) -> [String] {
        // A line that breaks, or a tab, would move the mark away from its place.
        let line = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        return [line, String(repeating: " ", count: offset) + String(repeating: "^", count: count)]
    }
}

extension FilterMistake: Redactable {
    /// Without a suggestion that nothing would be found by.
    package func redacted(by redactor: Redactor) -> Self {
        let known = suggestion.flatMap { redactor.text($0) == $0 ? $0 : nil }
        return FilterMistake(redactor.text(message), at: offset, count: count, suggestion: known)
    }
}

extension Decoder {
    /// What is meant by a text in the words of a filter; a mistake in it makes the data corrupted.
    func filterText<Value>(_ read: (String) throws(FilterMistake) -> Value) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        do throws(FilterMistake) { return try read(text) } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }
}
