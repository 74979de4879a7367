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

    init(_ kind: Kind, _ text: String, ignoresCase: Bool) {
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
