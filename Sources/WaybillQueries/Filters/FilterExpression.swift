package import WaybillCore

/// A filter as text:
/// `outcome:failed event:requestSent took>2s os:"iOS 18" since:24h -event:paid wrong password`.
///
/// All terms must hold; a `-` before a term negates it. A term is a key, a colon and a value, or a word to search for.
/// Put values with spaces and words with colons into double quotes, with `\"` and `\\` as escapes.
///
/// For transactions:
///
/// | term | matches transactions |
/// |---|---|
/// | `useCase:login` | of that use case, by name or code |
/// | `outcome:failed,timed_out` | with one of these outcomes |
/// | `event:requestSent` | with that event, from any source |
/// | `has:feedback` | that a user has commented on |
/// | `error:401`, `error:rejected`, `error:"LoginError 401"`, `error:*` | with an error, or underlying error, of that code; with that name, domain or text; with both; with any error |
/// | `finishError:LoginError=rejected`, `finishError:"HTTP=503>NSURLErrorDomain=-1001"` | that closed with exactly this error: a domain, and a name or code; behind `>` its innermost cause |
/// | `attribute:variant=B`, `attribute:variant` | that have, or had, that attribute |
/// | `status:401`, `status:4xx`, `status:400-499` | with an exchange of that status |
/// | `exchange:failed` | with an exchange in that state |
/// | `app:shop`, `version:1.2`, `device:iPhone17,1`, `osVersion:18.1` | begun by such a source |
/// | `os:iOS`, `os:"iOS 18"` | begun on that operating system; the version may be a prefix |
/// | `source:0198c0de-…`, `installation:0198c0de-…` | begun by the source with that ID, or by any source of that installation |
/// | `ended:signal`, `ended:SIGSEGV`, `ended:exit`, `ended:reboot`, `ended:system`, `ended:unknown` | interrupted by that end of their process |
/// | `took>2s`, `took<500ms` | that took longer or shorter; units are us, ms, s, m, h |
/// | `oneIn:100` | one in a hundred, always the same ones; answers count each a hundred times |
/// | `sampled:chosen`, `sampled:unchosen`, `sampled:none` | chosen by their sampling rate; delivered only for their outcome or duration; of a use case without a rate |
/// | `since:24h`, `since:yesterday`, `until:2026-03-01` | begun at or after that time, or before it; `today`, `yesterday` and `"last week"` begin at midnight in UTC |
/// | `password`, `"wrong password"` | with that text in the ID, support code, names, attributes (`sku=A1`), errors, hosts or paths |
/// | `parent:checkout`, `parent:failed`, `parent:known`, `parent:K7QD-40X2` | whose parent has that use case, outcome, ID or support code, or is known |
/// | `root:checkout` | whose topmost known ancestor, or else the transaction itself, matches in the same way |
/// | `child:payment`, `child:failed` | with a child that matches in the same way |
/// | `beginner:unknown`, `beginner:any` | with only joined parts, or with any; by default, transactions with only joined parts are left out |
/// | `sort:longest` | all, in this order: newest, oldest, longest or shortest |
///
/// For network exchanges, which are sorted newest first:
///
/// | term | matches exchanges |
/// |---|---|
/// | `host:example.com` | to that host or a subdomain, `api.example.com` |
/// | `path:/orders` | to that path or one below it, `/orders/17` |
/// | `method:GET,HEAD` | with one of these methods |
/// | `state:failed,cancelled` | in one of these states; see ``ExchangeRecord/State`` |
/// | `size>100kB`, `size<1MB` | with a larger or smaller response body; units are B, kB, MB, GB |
/// | `close:1006`, `close:1002-1015` | that are WebSockets closed with that code |
/// | `status:4xx`, `error:*`, `took>2s`, `since:24h`, `until:2026-03-01` | as for transactions |
/// | `app:`, `version:`, `device:`, `os:`, `osVersion:`, `source:`, `installation:` | recorded by such a source |
/// | `ended:signal`, `ended:SIGSEGV` and so on | that have no end because their process ended like this |
/// | `useCase:login`, `outcome:failed`, `event:paid`, `has:feedback`, `attribute:variant=B`, `parent:`, `root:`, `child:` | of a transaction that matches |
/// | `password`, `"wrong password"` | with that text in the method, URL, header fields, error, kept bodies, or the transaction's ID or support code |
///
/// The description is the canonical text. It reads back as an equal expression.
public struct FilterExpression: Sendable {
    package private(set) var terms: [Term] = []

    /// The subject of a filter.
    public enum Subject: Sendable, CaseIterable {
        /// Transactions.
        case transactions
        /// Network exchanges, also those outside any transaction.
        case exchanges
    }

    /// The most terms of a filter and values of a term, because each is checked for every row.
    static let termLimit = 32

    /// Reads a text, by default about transactions. Names are looked up later.
    ///
    /// - Throws: ``FilterMistake`` if the text is malformed, has more than 32 terms, or a value of more than
    ///   4,096 characters.
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

    package init(_ key: Key?, _ value: String) { terms = [Term(key, value)] }

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
    package struct Term: Sendable, CustomStringConvertible {
        var isNegated = false
        package let key: Key?
        let relation: Relation
        let value: String
        var (start, count) = (0, 1)
        var valueStart = 0

        init(_ key: Key?, _ value: String, _ relation: Relation = .equal, at valueStart: Int = 0) {
            (self.key, self.relation, self.value, self.valueStart) = (key, relation, value, valueStart)
        }

        init(_ key: Key, _ values: [String]) { self.init(key, values.joined(separator: ",")) }

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
        case useCase, outcome, event, has, error, finishError, attribute, status, exchange, app, version, device, os,
            osVersion, source, installation, ended,
            sampled, oneIn, took, since, until, beginner, sort, parent, root, child
        case host, path, method, state, size, close

        package func goes(with subject: Subject) -> Bool {
            switch self {
            case .finishError, .exchange, .beginner, .sort: subject == .transactions
            case .host, .path, .method, .state, .size, .close: subject == .exchanges
            case .useCase, .outcome, .event, .has, .error, .attribute, .status, .app, .version, .device, .os,
                .osVersion,
                .source, .installation, .ended, .sampled, .oneIn, .took, .since, .until, .parent, .root, .child:
                true
            }
        }
    }
}

/// Works on Unicode scalars, because a quote and a combining mark would be one character.
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
        let word = try unquoted(isWord: true)
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
            key, isQuoted ? try quotedValue() : try unquoted(isWord: false), relation, at: valueStart)
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
        // Probably an attribute that contains a colon.
        let nearest =
            word.contains("=") ? "\(FilterExpression.Key.attribute.rawValue):\(word)" : word.nearest(among: names)
        let hint = nearest.map { "did you mean “\($0)”?" } ?? "there are \(names.joined(separator: ", "))."
        throw FilterMistake(
            "There is no key “\(word)”; \(hint) Put into quotes what is to be looked for with its colon.", at: start,
            count: word.unicodeScalars.count, suggestion: nearest)
    }

    private static let mistakes: [FilterExpression.Key: String] = [
        .sort: "Network exchanges come newest first; sort goes with transactions.",
        .beginner: "Network exchanges are listed whoever began their transaction; beginner goes with transactions.",
        .exchange:
            "An exchange is told by its own state: say state:failed. The key “exchange” goes with transactions.",
        .finishError: "Say error:401, or another error of an exchange. The key “finishError” goes with transactions.",
        .state: "The key “state” goes with network exchanges; of a transaction say outcome:failed, or exchange:failed.",
    ]

    /// A word also ends before a relation.
    private mutating func unquoted(isWord: Bool) throws(FilterMistake) -> String {
        let start = index
        while index < text.count, !text[index].properties.isWhitespace,
            !isWord || Self.relations[text[index]] == nil
        {
            if text[index] == "\"" {
                throw FilterMistake("Quotes stand around all of a word, or of a value behind “:”.", at: index)
            }
            index += 1
        }
        return String(String.UnicodeScalarView(text[start..<index]))
    }

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
}

extension FilterScanner {
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
    func escaping(_ special: Set<Unicode.Scalar>) -> String {
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars {
            if special.contains(scalar) { scalars.append("\\") }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}

/// A mistake in a ``FilterExpression``, with its position.
public struct FilterMistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence with the correct form.
    public var message: String
    /// The position in the text, in Unicode scalars.
    public var offset: Int
    /// The number of scalars, at least 1. The range may begin after the last scalar.
    public var count: Int
    /// The closest known word; `nil` if there is no close one.
    public var suggestion: String?

    /// Creates a mistake.
    public init(_ message: String, at offset: Int, count: Int = 1, suggestion: String? = nil) {
        self.message = message
        self.offset = offset
        self.count = max(1, count)
        self.suggestion = suggestion
    }

    /// Returns the text that was read with the suggestion in place of the mistake; `nil` without a suggestion.
    public func corrected(_ text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        guard let suggestion, offset >= 0, offset + count <= scalars.count else { return nil }
        let isQuoted = offset > 0 && scalars[offset - 1] == "\""
        // In quotes, an escaped scalar takes two places.
        guard !isQuoted || !scalars[offset..<offset + count].contains("\\") else { return nil }
        let isWritable = FilterScanner.isWritable(suggestion, isWord: false)
        let written =
            isQuoted ? suggestion.escaping(["\"", "\\"]) : isWritable ? suggestion : FilterScanner.quoted(suggestion)
        scalars.replaceSubrange(offset..<offset + count, with: written.unicodeScalars)
        return String(String.UnicodeScalarView(scalars))
    }

    /// The message.
    public var description: String { message }

    /// Returns two lines for a terminal: the text, and a mark below the position.
    public func marked(in text: String) -> [String] {
        // A line break or a tab would move the mark.
        let line = String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        return [line, String(repeating: " ", count: offset) + String(repeating: "^", count: count)]
    }
}

extension FilterMistake: Redactable {
    /// Drops a suggestion that the redactor changes, because it would match nothing.
    package mutating func redact(by redactor: Redactor) {
        let known = suggestion.flatMap { redactor.text($0) == $0 ? $0 : nil }
        self = FilterMistake(redactor.text(message), at: offset, count: count, suggestion: known)
    }
}

extension Decoder {
    func filterText<Value>(_ read: (String) throws(FilterMistake) -> Value) throws -> Value {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        do throws(FilterMistake) { return try read(text) } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.message)
        }
    }
}
