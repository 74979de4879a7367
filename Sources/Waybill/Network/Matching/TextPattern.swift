public import Foundation
public import WaybillCore

/// A pattern for a text: an exact text, a substring, a glob or a regular expression.
///
/// It is case-sensitive by default. Except for ``exact(_:ignoresCase:)``, it compares the first ``maximumTextByteCount`` bytes,
/// and a comparison that takes more than a few milliseconds counts as no match. In JSON, a string is an exact pattern.
/// The others are objects with `contains`, `glob` or `regex`, such as `{"glob": "/v1/*", "ignores_case": true}`.
public struct TextPattern: Sendable, Equatable {
    /// The kind of comparison.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The whole text, byte for byte.
        case exact
        /// A substring.
        case contains
        /// The whole text, with `*` for any characters, including `/`, and `?` for one character.
        case glob
        /// A regular expression of `NSRegularExpression` (ICU), which matches anywhere unless it has `^` and `$`.
        case regex
    }

    /// The number of bytes of a text that are compared.
    public static let maximumTextByteCount = 65_536
    /// The maximum number of Unicode scalars in a pattern.
    public static let maximumPatternLength = 2048

    /// The kind of comparison.
    public var kind: Kind { compiled.kind }
    /// The pattern as it was written.
    public var text: String { compiled.text }
    /// Whether the comparison ignores case.
    public var ignoresCase: Bool { compiled.ignoresCase }
    /// The reason why the pattern matches nothing, such as an invalid regular expression; `nil` if it is valid.
    public var problem: WaybillError? { compiled.problem }
    // A reference, which is cheap to copy with a rule.
    private let compiled: Compiled

    private enum Comparison: Sendable {
        case wildcards(WildcardPattern)
        case expression(BoundedExpression)
        case nothing
    }

    private final class Compiled: Sendable {
        let kind: Kind
        let text: String
        let ignoresCase: Bool
        let problem: WaybillError?
        let comparison: Comparison
        /// `nil` if this pattern ignores case.
        let ignoringCase: Compiled?

        init(_ kind: Kind, _ text: String, ignoresCase: Bool) {
            self.kind = kind
            self.text = text
            self.ignoresCase = ignoresCase
            ignoringCase = ignoresCase ? nil : Compiled(kind, text, ignoresCase: true)
            let expression = kind == .regex ? BoundedExpression(text, ignoresCase: ignoresCase) : nil
            if text.unicodeScalars.count > TextPattern.maximumPatternLength {
                problem = WaybillError(
                    .setting,
                    "A pattern is longer than \(TextPattern.maximumPatternLength) characters; it matches nothing.")
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
    }

    package init(_ kind: Kind, _ text: String, ignoresCase: Bool) {
        compiled = Compiled(kind, text, ignoresCase: ignoresCase)
    }

    /// Returns a pattern that matches only this text.
    public static func exact(_ text: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.exact, text, ignoresCase: ignoresCase)
    }

    /// Returns a pattern that matches texts with this substring.
    public static func contains(_ text: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.contains, text, ignoresCase: ignoresCase)
    }

    /// Returns a pattern for a whole text, with `*` for any characters, including `/`, and `?` for one character.
    public static func glob(_ text: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.glob, text, ignoresCase: ignoresCase)
    }

    /// Returns a pattern for an `NSRegularExpression`. An invalid one matches nothing and has a ``problem``.
    public static func regex(_ expression: String, ignoresCase: Bool = false) -> TextPattern {
        TextPattern(.regex, expression, ignoresCase: ignoresCase)
    }

    /// Returns whether the pattern matches a text.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    /// Returns whether the pattern matches UTF-8 bytes.
    public func matches(_ text: some DataProtocol) -> Bool {
        let limit = kind == .exact ? text.count : Self.maximumTextByteCount
        return Array(text.prefix(limit)).withUnsafeBufferPointer { matches($0) }
    }

    private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let seen = kind == .exact ? text : UnsafeBufferPointer(rebasing: text.prefix(Self.maximumTextByteCount))
        switch compiled.comparison {
        case .nothing: return false
        case .expression(let expression): return expression.matches(String(decoding: seen, as: UTF8.self))
        case .wildcards(let pattern):
            guard ignoresCase else { return pattern.matches(seen) }
            var folded = String(decoding: seen, as: UTF8.self).lowercased()
            return folded.withUTF8 { pattern.matches($0) }
        }
    }

    private init(_ compiled: Compiled) { self.compiled = compiled }

    var ignoringCase: TextPattern { TextPattern(compiled.ignoringCase ?? compiled) }

    public static func == (one: TextPattern, other: TextPattern) -> Bool {
        one.kind == other.kind && one.text == other.text && one.ignoresCase == other.ignoresCase
    }
}

extension TextPattern: ExpressibleByStringLiteral {
    /// Creates a pattern that matches only this text.
    public init(stringLiteral text: String) { self.init(.exact, text, ignoresCase: false) }
}

extension TextPattern.Kind {
    fileprivate var key: MemberKey { MemberKey(stringValue: rawValue) }
}

extension TextPattern: Codable {
    /// Decodes a pattern: a string for an exact one, or an object with `exact`, `contains`, `glob` or `regex`.
    ///
    /// - Throws: `DecodingError`, also for an unknown member and for a pattern with a ``problem``.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(.exact, text, ignoresCase: false)
            if problem != nil { throw decoder.failure(Self.expectation(of: .exact)) }
            return
        }
        let members = try decoder.members("exact", "contains", "glob", "regex", "ignores_case")
        let found = try Kind.allCases.compactMap { kind in
            try members.value(String.self, kind.key).map { (kind, $0) }
        }
        guard found.count == 1, let (kind, text) = found.first else {
            throw decoder.failure("one of exact, contains, glob and regex was expected")
        }
        self.init(kind, text, ignoresCase: try members.value(Bool.self, "ignores_case") ?? false)
        if problem != nil { throw members.failure(kind.key, Self.expectation(of: kind)) }
    }

    private static func expectation(of kind: Kind) -> String {
        "\(kind == .regex ? "a regular expression" : "a text") of at most \(maximumPatternLength) characters was expected"
    }

    public func encode(to encoder: any Encoder) throws {
        if kind == .exact, !ignoresCase {
            var container = encoder.singleValueContainer()
            return try container.encode(text)
        }
        var members = encoder.container(keyedBy: MemberKey.self)
        try members.encode(text, forKey: kind.key)
        if ignoresCase { try members.encode(true, forKey: "ignores_case") }
    }
}

struct WildcardPattern: Sendable {
    private enum Piece: Sendable, Equatable {
        case byte(UInt8)
        case anyScalar
        case anything
    }

    /// The maximum number of comparisons, about 10 milliseconds. A word in 64 KiB takes about 131,072.
    private static let stepLimit = 2_000_000

    private let pieces: [Piece]

    init(exactly text: String) { pieces = text.utf8.map { .byte($0) } }

    init(anywhere text: String) { pieces = [.anything] + text.utf8.map { .byte($0) } + [.anything] }

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
        // Only the last gap may have to grow: a narrow earlier gap leaves the most text for later ones.
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

/// ICU backtracks: the time of `(a+)+$` doubles with every letter. It reports progress every 10,000 steps, so the
/// number of reports is a limit that does not depend on the machine's load.
struct BoundedExpression: Sendable {
    /// 500,000 steps, about 7 milliseconds. A plain word in 64 KiB takes 6 reports.
    private static let reportLimit = 50

    private let expression: NSRegularExpression

    init?(_ text: String, ignoresCase: Bool) {
        let options: NSRegularExpression.Options = ignoresCase ? [.caseInsensitive] : []
        // First parsed alone, to reject unbalanced parentheses. Anchored after a gap, because ICU's own search also
        // reports at every position, and then reports would not measure the work.
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
