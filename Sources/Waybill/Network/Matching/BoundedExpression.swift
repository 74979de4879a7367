import Foundation

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
