package import Foundation
package import WaybillCore
package import WaybillExport

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
        HTMLPage(
            title: "\(title) - Waybill",
            head: """
                <link rel=icon href="\(root)assets/\(InspectorAsset.icon.name)">
                <link rel=stylesheet href="\(root)assets/\(InspectorAsset.style.name)">
                <script src="\(root)assets/\(InspectorAsset.script.name)" defer></script>
                """,
            body: """
                <a class=skip href="#main">To the content</a>
                \(ReportAssets.icons)\
                <header class=top><p class=brand>Waybill</p>\(navigation)</header>
                <main id=main>
                \(main)</main>
                \(footer)
                """
        ).html
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

/// What is around the content of every page of the inspector, and the same on all of them.
package struct InspectorFrame: Sendable {
    /// Whose store is shown: a project's name, or a file's.
    package var store: String
    /// Whether the reader has logged in, and so can log out.
    package var isLoggedIn: Bool
    /// Whether there is a page on which this process can be changed.
    var hasControls: Bool
    /// Times are shown in this zone, and every page says so.
    package var timeZone: TimeZone
    /// When the page is made, which decides between summer and winter time in what it says of its times.
    package var clock: any TransactionClock

    /// - Parameter timeZone: Default: the one of this machine.
    package init(
        store: String, isLoggedIn: Bool, hasControls: Bool = false, timeZone: TimeZone = .current,
        clock: any TransactionClock = SystemClock()
    ) {
        self.store = store
        self.isLoggedIn = isLoggedIn
        self.hasControls = hasControls
        self.timeZone = timeZone
        self.clock = clock
    }

    /// A page in this frame.
    func page(_ title: String, _ tab: InspectorPage.Tab, depth: Int = 1, main: HTML) -> HTML {
        InspectorPage(title: title, tab: tab, depth: depth, frame: self, main: main).html
    }
}

/// A file that the pages of the inspector load from beside them: the stylesheet, the script, the sign of the window.
///
/// Its name carries its hash, so that a browser keeps it for as long as it stays what it is, and loads it anew when it
/// does not.
package struct InspectorAsset: Sendable {
    /// `waybill-Xk3v0bq9Zp1c.css`.
    package let name: String
    /// With the charset.
    package let mediaType: String
    /// UTF-8.
    package let bytes: [UInt8]

    /// Takes what is the same for every page and every reader: nothing that was recorded.
    private init(_ pieces: [[UInt8]], suffix: String, mediaType: String) {
        bytes = Array(pieces.joined())
        let hash = SHA256.base64(bytes).filter { $0.isLetter || $0.isNumber }.prefix(12)
        name = "waybill-\(hash).\(suffix)"
        self.mediaType = "\(mediaType); charset=utf-8"
    }

    /// The report's look, and what only pages have; in an order in which later rules win.
    package static let style = InspectorAsset(
        [
            ReportAssets.style, PackageResources.inspector_css, PackageResources.charts_css,
            PackageResources.use_cases_css,
            PackageResources.print_css, PackageResources.sources_css, PackageResources.comparison_css,
            PackageResources.large_css,
            PackageResources.exchange_css, PackageResources.controls_css,
        ], suffix: "css", mediaType: "text/css")
    /// Live lists, the keyboard, copying, finding.
    package static let script = InspectorAsset(
        [ReportAssets.sharedScript, PackageResources.inspector_js, PackageResources.find_js], suffix: "js",
        mediaType: "text/javascript")
    /// Shown in the window's title.
    package static let icon = InspectorAsset([PackageResources.icon_svg], suffix: "svg", mediaType: "image/svg+xml")

    /// The asset of that name; nil where there is none.
    package static func named(_ name: String) -> InspectorAsset? { [style, script, icon].first { $0.name == name } }
}

/// Asks for a read token.
package struct LoginPage {
    private let destination: String
    private let problem: String?

    /// - Parameters:
    ///   - destination: Where to go then: a path of the inspector's own.
    ///   - problem: What was wrong with what was given; nil: nothing was given yet.
    package init(to destination: String, problem: String? = nil) {
        self.destination = destination
        self.problem = problem
    }

    /// The whole document.
    package var html: HTML {
        let told: HTML = problem.map { "<p class=bad role=alert>\($0)" } ?? ""
        let form: HTML = """
            <form class=login method=post action=login><h1>Inspector</h1>\(told)<input type=hidden name=to value="\(destination)">\
            <label>Read token <input type=password name=token autocomplete=current-password required autofocus></label>\
            <button>Log in</button><p>Made by <code>waybill token add FOLDER --role read</code>.</form>

            """
        return InspectorFrame(store: "", isLoggedIn: false).page("Log in", .none, main: form)
    }
}

/// A page that says one thing: that something is not there, or cannot be read at the moment.
package struct MessagePage {
    private let title: String
    private let message: String
    private let depth: Int
    private let frame: InspectorFrame

    /// - Parameter depth: How many components the path has that was asked for.
    package init(_ title: String, _ message: String, depth: Int, in frame: InspectorFrame) {
        (self.title, self.message, self.depth, self.frame) = (title, message, depth, frame)
    }

    /// The whole document.
    package var html: HTML {
        let list = "\(String(repeating: "../", count: depth - 1))transactions"
        return frame.page(
            title, .none, depth: depth,
            main: "<h1>\(title)</h1>\n<p>\(message)</p>\n<p><a href=\"\(list)\">All transactions</a></p>\n")
    }
}
