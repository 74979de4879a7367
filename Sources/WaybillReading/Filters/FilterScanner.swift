import WaybillCore

/// Takes the text of a ``FilterExpression`` apart into terms.
///
/// By Unicode scalars: a quote and a combining mark behind it are one character, and the quote is a quote still.
struct FilterScanner {
    private let text: [Unicode.Scalar]
    private let subject: FilterExpression.Subject
    private var index = 0

    init(_ text: String, about subject: FilterExpression.Subject) {
        self.text = Array(text.unicodeScalars)
        self.subject = subject
    }

    private static let relations: [Unicode.Scalar: FilterExpression.Relation] = [
        ":": .equal, "<": .less, ">": .greater,
    ]

    /// The next term and where it stands; nil at the end.
    mutating func next() throws(FilterMistake) -> (FilterExpression.Term, FilterExpression.Place)? {
        while index < text.count, text[index].properties.isWhitespace { index += 1 }
        guard index < text.count else { return nil }
        let start = index
        let isNegated = text[index] == "-"
        if isNegated { index += 1 }
        var (term, valueStart) = try term()
        term.isNegated = isNegated
        guard index == text.count || text[index].properties.isWhitespace else {
            throw FilterMistake("A space is missing here, behind the quotes.", at: index)
        }
        return (term, FilterExpression.Place(start: start, count: index - start, valueStart: valueStart))
    }

    private mutating func term() throws(FilterMistake) -> (FilterExpression.Term, valueStart: Int) {
        let start = index
        guard index < text.count, !text[index].properties.isWhitespace else {
            throw FilterMistake("Nothing follows the “-”; put it into quotes to look for it.", at: start - 1)
        }
        if text[index] == "\"" {
            let word = try quotedValue()
            return (FilterExpression.Term(nil, .equal, word), start + 1)
        }
        while index < text.count, !text[index].properties.isWhitespace, Self.relations[text[index]] == nil {
            if text[index] == "\"" {
                throw FilterMistake("Quotes stand around all of a word, or of a value behind “:”.", at: index)
            }
            index += 1
        }
        let word = string(start..<index)
        guard index < text.count, let relation = Self.relations[text[index]] else {
            return (FilterExpression.Term(nil, .equal, word), start)
        }
        let key = try key(word, at: start)
        index += 1
        guard index < text.count, !text[index].properties.isWhitespace else {
            throw FilterMistake("Nothing follows the “\(relation.rawValue)”.", at: index - 1)
        }
        let isQuoted = text[index] == "\""
        let valueStart = isQuoted ? index + 1 : index
        return (FilterExpression.Term(key, relation, isQuoted ? try quotedValue() : try plainValue()), valueStart)
    }

    private func key(_ word: String, at start: Int) throws(FilterMistake) -> FilterExpression.Key {
        let keys = FilterExpression.Key.allCases.filter { $0.goes(with: subject) }
        if let key = FilterExpression.Key(rawValue: word) {
            guard !keys.contains(key) else { return key }
            throw FilterMistake(Self.mistake(for: key), at: start, count: word.count)
        }
        let names = keys.map(\.rawValue)
        // An attribute as it is shown, whose value has a colon.
        let nearest =
            word.contains("=") ? "\(FilterExpression.Key.attribute.rawValue):\(word)" : word.nearest(among: names)
        let hint = nearest.map { "did you mean “\($0)”?" } ?? "there are \(names.joined(separator: ", "))."
        throw FilterMistake(
            "There is no key “\(word)”; \(hint) Put into quotes what is to be looked for with its colon.", at: start,
            count: word.unicodeScalars.count, suggestion: nearest)
    }

    /// What is wrong with a key of the other subject.
    private static func mistake(for key: FilterExpression.Key) -> String {
        switch key {
        case .sort: "Network exchanges come newest first; sort goes with transactions."
        case .beginner:
            "Network exchanges are listed whoever began their transaction; beginner goes with transactions."
        case .exchange:
            "An exchange is told by its own state: say state:failed. The key “exchange” goes with transactions."
        case .state:
            "The key “state” goes with network exchanges; of a transaction say outcome:failed, or exchange:failed."
        case .host, .path, .method, .size, .close, .useCase, .outcome, .event, .error, .attribute, .status, .app,
            .version,
            .device, .os,
            .osVersion, .ended, .sampled, .oneIn,
            .took, .since, .until, .parent, .root, .child:
            "The key “\(key.rawValue)” goes with network exchanges, and this is about transactions."
        }
    }

    private mutating func plainValue() throws(FilterMistake) -> String {
        let start = index
        while index < text.count, !text[index].properties.isWhitespace {
            if text[index] == "\"" {
                throw FilterMistake("Quotes stand around all of a word, or of a value behind “:”.", at: index)
            }
            index += 1
        }
        return string(start..<index)
    }

    /// From the first quote to behind the second.
    private mutating func quotedValue() throws(FilterMistake) -> String {
        let start = index
        var value = String.UnicodeScalarView()
        index += 1
        while index < text.count, text[index] != "\"" {
            if text[index] == "\\" {
                index += 1
                guard index < text.count, text[index] == "\"" || text[index] == "\\" else {
                    throw FilterMistake("In quotes a “\\” stands before a quote or another “\\”.", at: index - 1)
                }
            }
            value.append(text[index])
            index += 1
        }
        guard index < text.count else { throw FilterMistake("These quotes are not closed.", at: start) }
        guard !value.isEmpty else { throw FilterMistake("There is nothing in these quotes.", at: start, count: 2) }
        index += 1
        return String(value)
    }

    private func string(_ range: Range<Int>) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text[range])
        return String(scalars)
    }
}

extension FilterScanner {
    /// Whether a value can stand without quotes.
    static func isWritable(_ value: String, isWord: Bool) -> Bool {
        let scalars = value.unicodeScalars
        guard !scalars.isEmpty, !scalars.contains(where: { $0.properties.isWhitespace || $0 == "\"" }) else {
            return false
        }
        return !isWord || (scalars.first != "-" && !scalars.contains { relations[$0] != nil })
    }

    static func quoted(_ value: String) -> String { "\"\(value.escaping(["\"", "\\"]))\"" }
}

extension String {
    /// With a backslash before each of some scalars.
    func escaping(_ special: Set<Unicode.Scalar>) -> String {
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars {
            if special.contains(scalar) { scalars.append("\\") }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
