/// A filter as people write it:
/// `outcome:failed event:requestSent took>2s os:"iOS 18" since:24h -event:paid wrong password`.
///
/// Terms stand beside each other, and all must hold; a `-` before a term turns it round. A term is a key, a colon and a
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
    package var terms: [Term]
    /// Where each term stands in the text that was read; what was not read from a text has none.
    private var places: [Place] = []

    /// What a filter lets through or not.
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
    /// - Throws: ``FilterMistake`` for what cannot be read, and for more than 32 terms; names are not looked up yet.
    public init(_ text: String, about subject: Subject = .transactions) throws(FilterMistake) {
        var scanner = FilterScanner(text, about: subject)
        terms = []
        while let (term, place) = try scanner.next() {
            guard terms.count < Self.termLimit else { throw Self.tooMany("terms", at: place.start, place.count) }
            terms.append(term)
            places.append(place)
        }
        switch subject {
        case .transactions: _ = try filter(names: nil, now: 0) as TransactionFilter
        case .exchanges: _ = try filter(names: nil, now: 0) as ExchangeFilter
        }
    }

    package init(terms: [Term]) { self.terms = terms }

    /// - Parameter words: Of what there are too many.
    static func tooMany(_ words: String, at offset: Int, _ count: Int) -> FilterMistake {
        FilterMistake("A filter has at most \(termLimit) \(words). Leave some out.", at: offset, count: count)
    }

    /// Where a term stands in its text.
    struct Place {
        /// Of the whole term.
        var start, count: Int
        /// Of its value, inside of quotes.
        var valueStart: Int
    }

    func place(of index: Int) -> Place {
        guard places.indices.contains(index) else { return Place(start: 0, count: 1, valueStart: 0) }
        return places[index]
    }
}

extension FilterExpression: Hashable, CustomStringConvertible, Codable {
    public static func == (left: FilterExpression, right: FilterExpression) -> Bool { left.terms == right.terms }

    public func hash(into hasher: inout Hasher) { hasher.combine(terms) }

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
    package struct Term: Hashable, Sendable, CustomStringConvertible {
        package var isNegated = false
        /// nil: a word to be found.
        package var key: Key?
        package var relation = Relation.equal
        package var value: String

        package init(_ key: Key?, _ relation: Relation, _ value: String) {
            self.key = key
            self.relation = relation
            self.value = value
        }

        package var description: String {
            let value = FilterScanner.isWritable(value, isWord: key == nil) ? value : FilterScanner.quoted(value)
            return "\(isNegated ? "-" : "")\(key.map { $0.rawValue + relation.rawValue } ?? "")\(value)"
        }
    }

    package enum Relation: String, Sendable { case equal = ":", less = "<", greater = ">" }

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
