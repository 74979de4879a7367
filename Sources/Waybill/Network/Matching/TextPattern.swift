public import Foundation
public import WaybillCore

/// What a text is compared with: the whole of it, a piece, a glob or a regular expression.
///
/// Case counts unless `ignoresCase` says otherwise. Of a long text the first ``longestText`` bytes are looked at, but
/// for ``exact(_:ignoresCase:)``, and the work is bounded: a comparison that is not done after a few milliseconds
/// counts as no match, so that no pattern can hold up the request that it is compared with.
///
/// In JSON a string is an exact pattern; the others are `{"contains": "login"}`, `{"glob": "/v1/*"}`,
/// `{"regex": "^/v[12]/"}`, and `"ignores_case": true` beside it.
public struct TextPattern: Sendable, Hashable {
    /// How a text is compared.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// All of it, byte for byte.
        case exact
        /// A piece of it, anywhere.
        case contains
        /// All of it, where `*` stands for any number of any characters, `/` included, and `?` for one.
        case glob
        /// A piece of it, anywhere, unless `^` and `$` say where: an expression of `NSRegularExpression` (ICU).
        case regex
    }

    /// How many bytes of a text are looked at.
    public static let longestText = 65_536
    /// How many Unicode scalars a pattern may have.
    public static let longestPattern = 2048

    /// How a text is compared.
    public let kind: Kind
    /// What it is compared with, as it was written.
    public let text: String
    /// Whether capital and small letters are alike.
    public let ignoresCase: Bool
    /// Why this pattern matches nothing, e.g. a regular expression that is none; nil where it can.
    public let problem: WaybillError?
    private let comparison: Comparison

    private enum Comparison: Sendable {
        case wildcards(WildcardPattern)
        case expression(BoundedExpression)
        case nothing
    }

    package init(_ kind: Kind, _ text: String, ignoresCase: Bool) {
        self.kind = kind
        self.text = text
        self.ignoresCase = ignoresCase
        let expression = kind == .regex ? BoundedExpression(text, ignoresCase: ignoresCase) : nil
        if text.unicodeScalars.count > Self.longestPattern {
            problem = WaybillError(
                .setting, "A pattern is longer than \(Self.longestPattern) characters; it matches nothing.")
        } else if kind == .regex, expression == nil {
            problem = WaybillError(.setting, "“\(text)” is no regular expression; it matches nothing.")
        } else {
            problem = nil
        }
        guard problem == nil else {
            comparison = .nothing
            return
        }
        let folded = ignoresCase ? text.lowercased() : text
        comparison =
            switch kind {
            case .exact: .wildcards(WildcardPattern(exactly: folded))
            case .contains: .wildcards(WildcardPattern(anywhere: folded))
            case .glob: .wildcards(WildcardPattern(glob: folded))
            case .regex: expression.map { .expression($0) } ?? .nothing
            }
    }

    /// Matches this text and no other.
    public static func exact(_ text: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.exact, text, ignoresCase: ignoresCase)
    }

    /// Matches where the text is a piece of what is looked at.
    public static func contains(_ text: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.contains, text, ignoresCase: ignoresCase)
    }

    /// Matches all of a text, where `*` stands for any number of any characters, `/` included, and `?` for one:
    /// `*.example.com`, `/v1/*`.
    ///
    /// There is no way to write a `*` that stands for itself; ``regex(_:ignoresCase:)`` has one.
    public static func glob(_ text: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.glob, text, ignoresCase: ignoresCase)
    }

    /// Matches where the expression does, anywhere unless `^` and `$` say where.
    ///
    /// An expression of `NSRegularExpression`, whose engine is ICU's. One that cannot be read has a ``problem``, which
    /// shows in the manager's health, and matches nothing.
    public static func regex(_ expression: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.regex, expression, ignoresCase: ignoresCase)
    }

    /// Whether the pattern matches a text.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    /// Whether the pattern matches a text in UTF-8; bytes that are none match no pattern's letters.
    public func matches(_ text: some DataProtocol) -> Bool {
        let limit = kind == .exact ? text.count : Self.longestText
        return Array(text.prefix(limit)).withUnsafeBufferPointer { matches($0) }
    }

    private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let seen = kind == .exact ? text : UnsafeBufferPointer(rebasing: text.prefix(Self.longestText))
        switch comparison {
        case .nothing: return false
        case .expression(let expression): return expression.matches(String(decoding: seen, as: UTF8.self))
        case .wildcards(let pattern):
            guard ignoresCase else { return pattern.matches(seen) }
            var folded = String(decoding: seen, as: UTF8.self).lowercased()
            return folded.withUTF8 { pattern.matches($0) }
        }
    }

    /// The same for texts that have no case.
    var ignoringCase: TextPattern { ignoresCase ? self : TextPattern(kind, text, ignoresCase: true) }

    public static func == (one: TextPattern, other: TextPattern) -> Bool {
        one.kind == other.kind && one.text == other.text && one.ignoresCase == other.ignoresCase
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(text)
        hasher.combine(ignoresCase)
    }
}

extension TextPattern: ExpressibleByStringLiteral {
    /// Matches this text and no other.
    public init(stringLiteral text: String) { self.init(.exact, text, ignoresCase: false) }
}

extension TextPattern: Codable {
    private enum Member: String, CodingKey, CaseIterable {
        case exact, contains, glob, regex
        case ignoresCase = "ignores_case"

        init(_ kind: Kind) {
            self =
                switch kind {
                case .exact: .exact
                case .contains: .contains
                case .glob: .glob
                case .regex: .regex
                }
        }
    }

    /// Reads a pattern: a string, which is an exact one, or an object with one of `exact`, `contains`, `glob` and
    /// `regex`.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known, and for what has a ``problem``.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(.exact, text, ignoresCase: false)
            if problem != nil { throw decoder.failure(Self.expectation(of: .exact)) }
            return
        }
        let members = try decoder.members(Member.self)
        let found = try Kind.allCases.compactMap { kind in
            try members.value(String.self, Member(kind)).map { (kind, $0) }
        }
        guard found.count == 1, let (kind, text) = found.first else {
            throw decoder.failure("one of exact, contains, glob and regex was expected")
        }
        self.init(kind, text, ignoresCase: try members.value(Bool.self, .ignoresCase) ?? false)
        if problem != nil { throw members.failure(Member(kind), Self.expectation(of: kind)) }
    }

    private static func expectation(of kind: Kind) -> String {
        "\(kind == .regex ? "a regular expression" : "a text") of at most \(longestPattern) characters was expected"
    }

    public func encode(to encoder: any Encoder) throws {
        if kind == .exact, !ignoresCase {
            var container = encoder.singleValueContainer()
            return try container.encode(text)
        }
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(text, forKey: Member(kind))
        if ignoresCase { try members.encode(true, forKey: .ignoresCase) }
    }
}

/// A text with gaps, compared in time that is bounded for every text.
struct WildcardPattern: Sendable {
    private enum Piece: Sendable, Equatable {
        case byte(UInt8)
        case anyScalar
        case anything
    }

    /// Comparisons before it gives up, some 10 milliseconds; a word is found in 64 KiB in 131,072 or little more.
    private static let stepLimit = 2_000_000

    private let pieces: [Piece]

    /// Matches the whole text.
    init(exactly text: String) { pieces = text.utf8.map { .byte($0) } }

    /// Matches wherever the text is a piece.
    init(anywhere text: String) { pieces = [.anything] + text.utf8.map { .byte($0) } + [.anything] }

    /// Matches the whole text, with `*` for anything and `?` for one character.
    init(glob: String) {
        pieces = glob.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "*"): .anything
            case UInt8(ascii: "?"): .anyScalar
            default: .byte(byte)
            }
        }
    }

    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var piece = 0
        var index = 0
        // Only the last gap can have to be widened: an earlier one that is as narrow as can be leaves most to those
        // after it.
        var gap: (next: Int, end: Int)?
        for _ in 0..<Self.stepLimit {
            if index == text.count { return pieces[piece...].allSatisfy { $0 == .anything } }
            switch piece < pieces.count ? pieces[piece] : nil {
            case .anything:
                piece += 1
                gap = (piece, index)
                if piece == pieces.count { return true }
            case .anyScalar:
                piece += 1
                index = Self.endOfScalar(at: index, in: text)
            case .byte(text[index]):
                piece += 1
                index += 1
            default:
                guard let narrow = gap else { return false }
                gap = (narrow.next, narrow.end + 1)
                (piece, index) = (narrow.next, narrow.end + 1)
            }
        }
        return false
    }

    private static func endOfScalar(at index: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        var end = index + 1
        while end < text.count, text[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }
}

/// A regular expression whose search stops after a fixed amount of work.
///
/// ICU's engine backtracks: `(a+)+$` takes a time that doubles with every letter. It reports its progress every 10,000
/// steps, so a number of reports is a bound that does not depend on how busy the machine is.
struct BoundedExpression: Sendable {
    /// 500,000 steps, some 7 milliseconds; 64 KiB are searched for a plain word in 6 reports.
    private static let reportLimit = 50

    private let expression: NSRegularExpression

    /// Nil for what is no regular expression.
    init?(_ text: String, ignoresCase: Bool) {
        let options: NSRegularExpression.Options = ignoresCase ? [.caseInsensitive] : []
        // Alone at first, so that no stray parenthesis closes ours. Anchored behind a gap, because ICU's own search
        // also reports at every place where it looks, and then reports would say nothing of the work.
        guard (try? NSRegularExpression(pattern: text, options: options)) != nil,
            let expression = try? NSRegularExpression(pattern: "[\\s\\S]*?(?:\(text))", options: options)
        else { return nil }
        self.expression = expression
    }

    func matches(_ text: String) -> Bool {
        var isFound = false
        var reports = 0
        let whole = NSRange(location: 0, length: text.utf16.count)
        expression.enumerateMatches(in: text, options: [.anchored, .reportProgress], range: whole) { match, _, stop in
            isFound = match != nil
            reports += 1
            if isFound || reports == Self.reportLimit { stop.pointee = true }
        }
        return isFound
    }
}
