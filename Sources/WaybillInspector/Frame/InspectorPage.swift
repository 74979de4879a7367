import Foundation
import WaybillCore
import WaybillExport

/// The document of one page of the inspector: its own stylesheet and script, and nothing from elsewhere.
///
/// All addresses are relative, so that the pages work below any path.
package struct InspectorPage {
    /// Which list a page belongs to.
    enum Tab: String {
        case transactions = "Transactions"
        case network = "Network"
        case useCases = "Use cases"
        case sources = "Sources"
        case controls = "Controls"
        /// The login, an error.
        case none
    }

    var title: String
    var tab: Tab
    /// How many components its path has: 1 for `/transactions`, 2 for `/transactions/{id}`.
    var depth: Int
    var frame: InspectorFrame
    var main: HTML

    /// The header field `Content-Security-Policy` (W3C, level 3) of every page: nothing inline, nothing from elsewhere,
    /// in no other page, in case that something gets past the escaping.
    package static let policy = """
        default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
        frame-ancestors 'none'
        """

    var html: HTML {
        """
        <!DOCTYPE html>
        <html lang=en dir=ltr>
        <head>
        <meta charset=utf-8>
        <meta name=viewport content="width=device-width, initial-scale=1">
        <meta name=color-scheme content="light dark">
        <meta name=robots content=noindex>
        <title>\(title) - Waybill</title>
        <link rel=icon href="\(root)assets/\(InspectorAsset.icon.name)">
        <link rel=stylesheet href="\(root)assets/\(InspectorAsset.style.name)">
        <script src="\(root)assets/\(InspectorAsset.script.name)" defer></script>
        </head>
        <body>
        <a class=skip href="#main">To the content</a>
        \(ReportAssets.icons)\
        <header class=top><p class=brand>Waybill</p>\(navigation)</header>
        <main id=main>
        \(main)</main>
        \(footer)
        </body>
        </html>

        """
    }

    private var root: HTML { .raw(String(repeating: "../", count: depth - 1)) }

    /// In one line; where there is no room for it, behind a button that needs no script.
    private var navigation: HTML {
        guard tab != .none || frame.isLoggedIn || frame.hasControls else { return "" }
        let controls = link(.controls, "controls")
        let logout: HTML = "<form method=post action=\"\(root)logout\"><button>Log out</button></form>"
        return """
            <button type=button class=unfold popovertarget=menu>Menu</button><div id=menu popover>\
            <nav aria-label=Pages>\(link(.transactions, "transactions"))\(link(.network, "network"))\(link(.useCases, "use-cases"))\
            \(link(.sources, "sources"))\(controls, if: frame.hasControls)</nav>\
            <span class=store>\(frame.store)</span><button type=button id=keys hidden aria-label="Help">?</button>\
            \(logout, if: frame.isLoggedIn)</div>
            """
    }

    private func link(_ tab: Tab, _ path: HTML) -> HTML {
        "<a href=\"\(root)\(path)\"\(" aria-current=page", if: tab == self.tab)>\(tab.rawValue)</a>"
    }

    /// Of ``FilterExpression``, by examples.
    private static let syntax = [
        ("wrong \"a sentence\"", "words, and what has spaces, found anywhere"),
        ("sku=A1", "an attribute as it is shown"),
        ("attribute:sku=A1", "with exactly that attribute, wherever it was said"),
        ("outcome:failed,timed_out", "any of several"),
        ("useCase:login event:paid", "by names, or codes"),
        ("error:401 error:rejected error:*", "by code, name, domain or text; any"),
        ("took>2s took<500ms", "us, ms, s, m, h"), ("status:5xx status:400-499", "of a request"),
        ("app:shop version:1.2 os:\"iOS 18\"", "also device, osVersion"),
        ("ended:signal ended:SIGSEGV", "interrupted; also exit, reboot, system, unknown"),
        ("sampled:chosen sampled:unchosen", "delivered in any case, or for how it ended"),
        ("since:24h until:2026-03-01", "by the beginning"),
        ("beginner:unknown beginner:any", "transactions that were only joined; those, too"),
        ("sort:longest", "transactions: newest, oldest, longest, shortest"),
        ("host:example.com path:/orders", "requests, with those below"),
        ("method:GET state:failed size>100kB", "requests; B, kB, MB, GB"),
    ]

    private var footer: HTML {
        guard tab != .none else { return "" }
        let zone = WallTime(frame.clock.wallMicroseconds(), in: frame.timeZone).zone
        return """
            <footer><p>Times in <span id=zone>\(zone)</span>. Values under names of secrets, and what looks like a token or a \
            card number, were replaced by \(Redactor.placeholder).</footer>
            <dialog id=help aria-label=Help><h2>Keyboard</h2><dl><dt>j k<dd>the next, the one before<dt>Enter<dd>open\
            <dt>/<dd>search<dt>Esc<dd>back to the list<dt>?<dd>this</dl>\
            <h2>Filter</h2><p>All terms must hold; a - before one turns it round.</p>\
            <dl>\(Self.syntax.map { "<dt>\($0.0)<dd>\($0.1)" as HTML })</dl><form method=dialog><button>Close</button></form></dialog>
            """
    }
}
