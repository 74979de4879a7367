/// What is wrong with a ``FilterExpression``, and where.
public struct FilterMistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for a person, which says what would be right.
    public var message: String
    /// Where it begins, in Unicode scalars from the start of the text.
    public var offset: Int
    /// How many scalars it concerns, at least 1; it may lie right behind the last one.
    public var count: Int

    /// Makes a mistake.
    public init(_ message: String, at offset: Int, count: Int = 1) {
        self.message = message
        self.offset = offset
        self.count = max(1, count)
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
