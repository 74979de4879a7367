package import WaybillCore

/// A filter as people write it:
/// `outcome:failed event:requestSent took>2s os:"iOS 18" since:24h -event:paid wrong password`.
///
/// All terms must hold; a `-` before a term negates it. A term is a key, a colon and a
/// value, or a word that is found anywhere. What has spaces, or a word that has a colon, is put into double quotes, in
/// which `\"` and `\\` stand for themselves.
///
/// About transactions:
///
/// | term | holds for transactions |
/// |---|---|
/// | `useCase:login` | of that use case, by its name or its code |
/// | `outcome:failed,timed_out` | with one of these outcomes |
/// | `event:requestSent` | in which any source recorded that event |
/// | `error:401`, `error:rejected`, `error:"LoginError 401"`, `error:*` | with an error of that code, with that in its name, domain or text, with both, with any; or with one of these behind it |
/// | `attribute:variant=B`, `attribute:variant` | that have, or had, that attribute |
/// | `status:401`, `status:4xx`, `status:400-499` | with an exchange that has such a status |
/// | `exchange:failed` | with an exchange in that state |
/// | `app:shop`, `version:1.2`, `device:iPhone17,1`, `osVersion:18.1` | begun by such a source |
/// | `os:iOS`, `os:"iOS 18"` | the same; a version may be the beginning of one |
/// | `ended:signal`, `ended:SIGSEGV`, `ended:exit`, `ended:reboot`, `ended:system`, `ended:unknown` | that were interrupted because their process ended like this |
/// | `took>2s`, `took<500ms` | that took more, or less; units are us, ms, s, m, h |
/// | `oneIn:100` | one in a hundred of them, always the same; an answer counts each a hundred times |
/// | `since:24h`, `until:2026-03-01` | begun at or after that time, or before it |
/// | `password`, `"wrong password"` | with that in the ID, support code, names, attributes (`sku=A1` as they are shown), errors, host or path |
/// | `parent:checkout`, `parent:failed`, `parent:known`, `parent:K7QD-40X2` | begun below a transaction of that use case, with that outcome, of any that is known here, with that ID or support code |
/// | `root:checkout` | the same of the topmost one above it; itself where none is above |
/// | `child:payment`, `child:failed` | below which such a one was begun |
/// | `beginner:unknown`, `beginner:any` | of which only joined parts are known, or those as well; without it, those are left out |
/// | `sort:longest` | all; the order is newest, oldest, longest or shortest |
///
/// About network exchanges, which come newest first:
///
/// | term | holds for exchanges |
/// |---|---|
/// | `host:example.com` | to that host or one below it, `api.example.com` |
/// | `path:/orders` | of that path or one below it, `/orders/17` |
/// | `method:GET,HEAD` | with one of these methods |
/// | `status:401`, `status:4xx`, `status:400-499` | with such a status |
/// | `state:failed,canceled` | in one of these states; see ``ExchangeRecord/State`` |
/// | `error:-1001`, `error:NSURLErrorDomain`, `error:*` | that ended with such an error, or one with such an error behind it |
/// | `took>2s`, `took<500ms` | that took more, or less |
/// | `size>100kB`, `size<1MB` | whose response's body was larger, or smaller; units are B, kB, MB, GB |
/// | `close:1006`, `close:1002-1015` | WebSockets that were closed with such a code |
/// | `app:shop`, `version:1.2`, `device:x`, `os:"iOS 18"`, `osVersion:18.1` | recorded by such a source |
/// | `ended:signal`, `ended:SIGSEGV` and so on | of which no end was recorded, because the process ended like this |
/// | `useCase:login`, `outcome:failed`, `event:paid`, `attribute:variant=B`, `parent:`, `root:`, `child:` | of a transaction of which that holds |
/// | `since:24h`, `until:2026-03-01` | opened at or after that time, or before it |
/// | `password`, `"wrong password"` | with that in the method, URL, header fields, error, kept bodies, or the ID or support code of the transaction |
///
/// Its description is its canonical text: reading that again gives an equal expression.
public struct FilterExpression: Sendable {
    package private(set) var terms: [Term] = []

    /// The subject of a filter.
    public enum Subject: Sendable, CaseIterable {
        /// Runs of use cases.
        case transactions
        /// Network exchanges, also those outside any transaction.
        case exchanges
    }

    /// As many terms a filter may have, and as many values one of them: each is asked of every row that is looked at.
    static let termLimit = 32

    /// Reads a text that is about transactions unless said otherwise.
    ///
    /// Names are not looked up yet.
    ///
    /// - Throws: ``FilterMistake`` if the text is malformed, or has more than 32 terms.
    public init(_ text: String, about subject: Subject = .transactions) throws(FilterMistake) {
        var scanner = FilterScanner(text, about: subject)
        while let term = try scanner.next() {
            guard terms.count < Self.termLimit else { throw Self.tooMany("terms", at: term.start, term.count) }
            terms.append(term)
        }
        switch subject {
        case .transactions: _ = try filter(names: nil, now: 0) as TransactionFilter
        case .exchanges: _ = try filter(names: nil, now: 0) as ExchangeFilter
        }
    }

    /// Creates an expression of one term, which is not read yet; without a key, it is a word to be found.
    package init(_ key: Key?, _ value: String) { terms = [Term(key, value)] }

    /// - Parameter words: The name of the things in excess.
    static func tooMany(_ words: String, at offset: Int, _ count: Int) -> FilterMistake {
        FilterMistake("A filter has at most \(termLimit) \(words). Leave some out.", at: offset, count: count)
    }
}

extension FilterExpression: Hashable, CustomStringConvertible, Codable {
    public static func == (left: FilterExpression, right: FilterExpression) -> Bool {
        left.description == right.description
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(description) }

    public var description: String { terms.map(\.description).joined(separator: " ") }

    /// Reads a text about either subject.
    public init(from decoder: any Decoder) throws {
        self = try decoder.filterText { (text) throws(FilterMistake) in
            if let expression = try? FilterExpression(text, about: .exchanges) { return expression }
            return try FilterExpression(text)
        }
    }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension FilterExpression {
    /// A key, how it relates to a value, and that value as it is written.
    package struct Term: Sendable, CustomStringConvertible {
        var isNegated = false
        /// `nil` for a word to be found.
        let key: Key?
        let relation: Relation
        let value: String
        /// The place of the whole term in the text that was read, in Unicode scalars.
        var (start, count) = (0, 1)
        /// The place of the value, inside of quotes.
        var valueStart = 0

        init(_ key: Key?, _ value: String, _ relation: Relation = .equal, at valueStart: Int = 0) {
            (self.key, self.relation, self.value, self.valueStart) = (key, relation, value, valueStart)
        }

        init(_ key: Key, _ values: [String]) { self.init(key, values.joined(separator: ",")) }

        /// The same turned round.
        var negated: Term {
            var term = self
            term.isNegated.toggle()
            return term
        }

        package var description: String {
            let value = FilterScanner.isWritable(value, isWord: key == nil) ? value : FilterScanner.quoted(value)
            return "\(isNegated ? "-" : "")\(key.map { $0.rawValue + relation.rawValue } ?? "")\(value)"
        }
    }

    enum Relation: String, Sendable { case equal = ":", less = "<", greater = ">" }

    package enum Key: String, Sendable, CaseIterable {
        case useCase, outcome, event, error, attribute, status, exchange, app, version, device, os, osVersion, ended,
            sampled, oneIn, took, since, until, beginner, sort, parent, root, child
        case host, path, method, state, size, close

        /// Whether it is a key of filters about this.
        package func goes(with subject: Subject) -> Bool {
            switch self {
            case .exchange, .beginner, .sort: subject == .transactions
            case .host, .path, .method, .state, .size, .close: subject == .exchanges
            case .useCase, .outcome, .event, .error, .attribute, .status, .app, .version, .device, .os, .osVersion,
                .ended, .sampled, .oneIn, .took, .since, .until, .parent, .root, .child:
                true
            }
        }
    }
}

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

    /// Returns the next term, or `nil` at the end.
    mutating func next() throws(FilterMistake) -> FilterExpression.Term? {
        while index < text.count, text[index].properties.isWhitespace { index += 1 }
        guard index < text.count else { return nil }
        let start = index
        let isNegated = text[index] == "-"
        if isNegated { index += 1 }
        var term = try term()
        guard index == text.count || text[index].properties.isWhitespace else {
            throw FilterMistake("A space is missing here, behind the quotes.", at: index)
        }
        (term.isNegated, term.start, term.count) = (isNegated, start, index - start)
        return term
    }

    private mutating func term() throws(FilterMistake) -> FilterExpression.Term {
        let start = index
        guard index < text.count, !text[index].properties.isWhitespace else {
            throw FilterMistake("Nothing follows the “-”; put it into quotes to look for it.", at: start - 1)
        }
        if text[index] == "\"" {
            return FilterExpression.Term(nil, try quotedValue(), at: start + 1)
        }
        while index < text.count, !text[index].properties.isWhitespace, Self.relations[text[index]] == nil {
            if text[index] == "\"" {
                throw FilterMistake("Quotes stand around all of a word, or of a value behind “:”.", at: index)
            }
            index += 1
        }
        let word = string(start..<index)
        guard index < text.count, let relation = Self.relations[text[index]] else {
            return FilterExpression.Term(nil, word, at: start)
        }
        let key = try key(word, at: start)
        index += 1
        guard index < text.count, !text[index].properties.isWhitespace else {
            throw FilterMistake("Nothing follows the “\(relation.rawValue)”.", at: index - 1)
        }
        let isQuoted = text[index] == "\""
        let valueStart = isQuoted ? index + 1 : index
        return FilterExpression.Term(
            key, isQuoted ? try quotedValue() : try plainValue(), relation, at: valueStart)
    }

    private func key(_ word: String, at start: Int) throws(FilterMistake) -> FilterExpression.Key {
        let keys = FilterExpression.Key.allCases.filter { $0.goes(with: subject) }
        if let key = FilterExpression.Key(rawValue: word) {
            guard !keys.contains(key) else { return key }
            throw FilterMistake(
                Self.mistakes[key]
                    ?? "The key “\(word)” goes with network exchanges, and this is about transactions.",
                at: start, count: word.count)
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

    /// Messages about keys of the other subject.
    private static let mistakes: [FilterExpression.Key: String] = [
        .sort: "Network exchanges come newest first; sort goes with transactions.",
        .beginner: "Network exchanges are listed whoever began their transaction; beginner goes with transactions.",
        .exchange:
            "An exchange is told by its own state: say state:failed. The key “exchange” goes with transactions.",
        .state: "The key “state” goes with network exchanges; of a transaction say outcome:failed, or exchange:failed.",
    ]

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
    /// Whether a value needs no quotes.
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

/// A mistake in a ``FilterExpression``, and its place.
public struct FilterMistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for a person, which says what would be right.
    public var message: String
    /// Where it begins, in Unicode scalars from the start of the text.
    public var offset: Int
    /// How many scalars it concerns, at least 1; it may lie right behind the last one.
    public var count: Int
    /// The closest known word for that place; `nil` if none is close.
    public var suggestion: String?

    /// Makes a mistake.
    public init(_ message: String, at offset: Int, count: Int = 1, suggestion: String? = nil) {
        self.message = message
        self.offset = offset
        self.count = max(1, count)
        self.suggestion = suggestion
    }

    /// Returns the text with the suggestion in place of the mistake, or `nil` without a suggestion.
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
    /// Reads a string as a filter or a part of one; a mistake in it becomes a `DecodingError`.
    func filterText<Value>(_ read: (String) throws(FilterMistake) -> Value) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        do throws(FilterMistake) { return try read(text) } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }
}
