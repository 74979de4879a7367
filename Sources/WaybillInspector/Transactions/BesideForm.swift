import WaybillCore
package import WaybillExport
import WaybillReading

/// Where a second transaction to be shown beside a first one comes from: one near it, or one that is named.
struct BesideForm {
    /// Redacted.
    let first: TransactionSummary
    let clocks: ShownClocks
    /// From the page to the inspector's pages: empty, or `../`.
    let root: HTML

    var html: HTML {
        let hidden: HTML = "<input type=hidden name=clocks value=\(clocks.rawValue)>"
        return """
            <form class=beside method=get action="\(root)beside"><span>Side by side with</span>\
            \(link(.before, "the run before"))\(link(.after, "the run after"))\(link(.succeeded, "the last that succeeded"))\
            <input type=hidden name=a value="\(first.id.description)">\(hidden, if: clocks != .aligned)\
            <input name=b required aria-label="Support code or ID of another one" placeholder="or a support code"><button>Show</button></form>
            """
    }

    private func link(_ near: NearTransaction, _ words: String) -> HTML {
        let address = BesideAddress(first: first.id.description, second: near.rawValue, clocks: clocks)
        return "<a href=\"\(root)\(address.path)\">\(words)</a>"
    }
}

/// A transaction that is meant by where it stands among those of the same use case.
package enum NearTransaction: String, Sendable, CaseIterable {
    /// Begun last before it.
    case before
    /// Begun next.
    case after
    /// The newest other one that succeeded.
    case succeeded
}

/// The address of a page that shows two transactions.
package struct BesideAddress {
    /// IDs or support codes, or the name of a ``NearTransaction``.
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
