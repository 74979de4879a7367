import WaybillCore
package import WaybillExport
import WaybillReading

/// Asks for the transaction that one is to be compared with: by where that stands among the others, or by its code.
struct TransactionComparisonForm {
    /// Redacted.
    let first: TransactionSummary
    let clocks: ShownClocks
    /// From the page to the inspector's pages: empty, or `../`.
    let root: HTML

    var html: HTML {
        let hidden: HTML = "<input type=hidden name=clocks value=\(clocks.rawValue)>"
        return """
            <form class=comparison method=get action="\(root)beside"><span>Compare with</span>\
            \(link(.before, "the run before"))\(link(.after, "the run after"))\(link(.succeeded, "the last that succeeded"))\
            <input type=hidden name=a value="\(first.id.description)">\(hidden, if: clocks != .aligned)\
            <input name=b required aria-label="Support code or ID of another one" placeholder="or a support code"><button>Show</button></form>
            """
    }

    private func link(_ other: TransactionComparisonAddress.Other, _ words: String) -> HTML {
        let address = TransactionComparisonAddress(first: first.id.description, second: other.rawValue, clocks: clocks)
        return "<a href=\"\(root)\(address.path)\">\(words)</a>"
    }
}

/// The address of a page that compares two transactions.
package struct TransactionComparisonAddress {
    /// A second one that is meant by where it stands among those of the first one's use case.
    package enum Other: String, Sendable, CaseIterable {
        /// Begun last before it.
        case before
        /// Begun next.
        case after
        /// The newest other one that succeeded.
        case succeeded
    }

    /// IDs or support codes; the second may be the name of an ``Other``.
    var first: String
    var second: String
    var clocks: ShownClocks

    package init(first: String, second: String, clocks: ShownClocks) {
        (self.first, self.second, self.clocks) = (first, second, clocks)
    }

    /// Relative to the inspector's pages: `beside?a=K7QD-3M2X&b=Z2M4-NAR7`.
    package var path: String {
        let clocks = clocks == .aligned ? "" : "&clocks=\(clocks.rawValue)"
        return "beside?a=\(ListAddress.encoded(first))&b=\(ListAddress.encoded(second))\(clocks)"
    }
}
