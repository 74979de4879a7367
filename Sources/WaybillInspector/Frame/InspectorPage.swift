package import Foundation
package import WaybillCore
package import WaybillExport

package enum InspectorTab: String {
    case transactions = "Transactions"
    case network = "Network"
    case endpoints = "Endpoints"
    case useCases = "Use cases"
    case errors = "Errors"
    case sources = "Sources"
    case controls = "Controls"
    /// Errors have the navigation and no current tab.
    case problem
    /// The login has no navigation.
    case login
}

/// A page loads only its own assets, and relative addresses let it work below any path.
extension InspectorFrame {
    /// Forbids inline and foreign content, and embedding (W3C, level 3).
    static let policy = """
        default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; \
        frame-ancestors 'none'
        """

    func page(_ title: String, _ tab: InspectorTab, main: HTML) -> HTML {
        .page(
            title: "\(title) - Waybill",
            head: """
                <link rel=icon href="\(root)assets/\(InspectorAsset.icon.name)">
                <link rel=stylesheet href="\(root)assets/\(InspectorAsset.style.name)">
                <script src="\(root)assets/\(InspectorAsset.script.name)" defer></script>
                """,
            body: """
                <a class=skip href="#main">To the content</a>
                \(ReportAssets.icons)\
                <header class=top><p class=brand>Waybill</p>\(navigation(tab), if: tab != .login)</header>
                <main id=main>
                \(main)</main>
                \(footer(tab), if: tab != .login)
                """)
    }

    private func navigation(_ current: InspectorTab) -> HTML {
        func link(_ tab: InspectorTab, _ path: HTML) -> HTML {
            "<a href=\"\(root)\(path)\"\(" aria-current=page", if: tab == current)>\(tab.rawValue)</a>"
        }
        let logout: HTML = "<form method=post action=\"\(root)logout\"><button>Log out</button></form>"
        return """
            <button type=button class=unfold popovertarget=menu>Menu</button><div id=menu popover>\
            <nav aria-label=Pages>\(link(.transactions, "transactions"))\(link(.network, "network"))\(link(.endpoints, "endpoints"))\(link(.useCases, "use-cases"))\
            \(link(.errors, "errors"))\(link(.sources, "sources"))\(link(.controls, "controls"), if: hasControls)</nav>\
            <span class=store>\(store)</span><button type=button id=keys hidden aria-label="Help">?</button>\
            \(logout, if: isLoggedIn)</div>
            """
    }

    /// Examples of ``FilterExpression``.
    private static let syntax = [
        ("wrong \"a sentence\"", "words, and what has spaces, found anywhere"),
        ("sku=A1", "an attribute as it is shown"),
        ("attribute:sku=A1", "with exactly that attribute, wherever it was said"),
        ("outcome:failed,timed_out", "any of several"),
        ("useCase:login event:paid", "by names, or codes"),
        ("error:401 error:rejected error:*", "by code, name, domain or text; any"),
        ("finishError:LoginError=rejected", "closed with exactly this error"),
        ("took>2s took<500ms", "us, ms, s, m, h"), ("status:5xx status:400-499", "of a request"),
        ("app:shop version:1.2 os:\"iOS 18\"", "also device, osVersion, source, installation"),
        ("ended:signal ended:SIGSEGV", "interrupted; also exit, reboot, system, unknown"),
        ("sampled:chosen sampled:unchosen", "delivered in any case, or for how it ended"),
        ("since:24h until:2026-03-01", "by the beginning"),
        ("beginner:unknown beginner:any", "transactions that were only joined; those, too"),
        ("sort:longest", "transactions: newest, oldest, longest, shortest"),
        ("host:example.com path:/orders", "requests, with those below"),
        ("method:GET state:failed size>100kB", "requests; B, kB, MB, GB"),
    ]

    /// Links to the same page in another time zone. The script offers the reader's.
    private func zones(_ tab: InspectorTab) -> HTML {
        let own = TimeZone.current.secondsFromGMT() == 0 ? [] : [TimeZone.current.identifier]
        let links = (["UTC"] + own).filter { $0 != zoneName }.map { name in
            " <a href=\"\(address.with("zone", name))\">Show \(name)</a>." as HTML
        }
        return tab == .problem || zoneName == nil && own.isEmpty ? "" : "\(links)"
    }

    private func footer(_ tab: InspectorTab) -> HTML {
        let zone = zoneName ?? WallTime(clock.wallMicroseconds(), in: timeZone).zone
        let times: HTML = "Times in <span id=zone\(" data-chosen", if: zoneName != nil)>\(zone)</span>.\(zones(tab)) "
        return """
            <footer><p>\(times, if: tab != .controls)\
            Values under names of secrets, and what looks like a token or a \
            card number, were replaced by \(Redactor.placeholder).</footer>
            <dialog id=help aria-label=Help><h2>Keyboard</h2><dl><dt>j k<dd>the next, the one before<dt>Enter<dd>open<dt>n<dd>the next error\
            <dt>/<dd>search<dt>Esc<dd>back to the list<dt>?<dd>this</dl>\
            <h2>Filter</h2><p>All terms must hold; a - before one turns it round.</p>\
            <dl>\(Self.syntax.map { "<dt>\($0.0)<dd>\($0.1)" as HTML })</dl><form method=dialog><button>Close</button></form></dialog>
            """
    }
}

package struct InspectorFrame: Sendable {
    package var store: String
    package var isLoggedIn: Bool
    var hasControls = false
    package var timeZone = TimeZone.current
    /// The clock for relative times such as `1h`, and for daylight saving time in the page's time zone.
    package var clock: any TransactionClock = SystemClock()
    /// The name of the time zone if the reader or the script chose it; otherwise `nil`.
    private(set) var zoneName: String?
    /// The parameters of the request, which links to the same page keep.
    var address = ListAddress([])
    /// The path to the list of transactions without its name, for example `../`.
    var root = ""
    /// A sentence about the mistake in the parameters; `nil` without one.
    var mistake: Redacted<String>?
    /// The filter without its mistake; `nil` without a suggestion.
    var meant: String?

    var status: Int { mistake == nil ? 200 : 400 }

    /// - Parameter zone: The time zone that the reader or the script chose; `nil` for that of this process.
    mutating func show(_ address: ListAddress, below root: String, in zone: ShownZone?) {
        (self.root, self.address) = (root, address)
        (timeZone, zoneName) = (zone?.timeZone ?? .current, zone?.name)
    }
}

/// A time zone by its name, which a cookie contains.
package struct ShownZone: Sendable {
    let name: String
    let timeZone: TimeZone

    init?(_ name: String) {
        let isName = name.utf8.allSatisfy { $0.isLetterOrDigit || "_+-/".utf8.contains($0) }
        guard isName, !name.isEmpty, name.utf8.count <= 64, let timeZone = TimeZone(identifier: name) else {
            return nil
        }
        (self.name, self.timeZone) = (name, timeZone)
    }
}

/// A file that pages load. Its name contains its hash, which lets browsers cache it until it changes.
package struct InspectorAsset: Sendable {
    package let name: String
    package let mediaType: String
    package let bytes: [UInt8]

    /// Assets are public. Never pass recorded data.
    /// Browsers need no indentation, empty lines or comments.
    private init(_ pieces: [[UInt8]], suffix: String, mediaType: String) {
        let newline = UInt8(ascii: "\n")
        let lines = pieces.joined().split(separator: newline).map { line in line.drop { $0 == UInt8(ascii: " ") } }
        bytes = Array(lines.filter { !$0.isEmpty && !$0.starts(with: "//".utf8) }.joined(separator: [newline]))
        let hash = SHA256.base64(bytes).filter { $0.isLetter || $0.isNumber }.prefix(12)
        name = "waybill-\(hash).\(suffix)"
        self.mediaType = "\(mediaType); charset=utf-8"
    }

    /// Later rules override earlier ones.
    package static let style = InspectorAsset(
        [
            ReportAssets.style, PackageResources.inspector_css, PackageResources.charts_css,
            PackageResources.use_cases_css,
            PackageResources.print_css, PackageResources.sources_css, PackageResources.comparison_css,
            PackageResources.exchange_css, PackageResources.controls_css,
        ], suffix: "css", mediaType: "text/css")
    package static let script = InspectorAsset(
        [ReportAssets.sharedScript, PackageResources.inspector_js, PackageResources.find_js], suffix: "js",
        mediaType: "text/javascript")
    package static let icon = InspectorAsset([PackageResources.icon_svg], suffix: "svg", mediaType: "image/svg+xml")

    package static func named(_ name: String) -> InspectorAsset? { [style, script, icon].first { $0.name == name } }
}

extension InspectorFrame {
    package static func loginPage(to destination: String, problem: String? = nil) -> HTML {
        let told: HTML = problem.map { "<p class=bad role=alert>\($0)</p>" } ?? ""
        let form: HTML = """
            <form class=login method=post action=login><h1>Inspector</h1>\(told)<input type=hidden name=to value="\(destination)">\
            <label>Read token <input type=password name=token autocomplete=current-password required autofocus></label>\
            <button>Log in</button><p>Made by <code>waybill token add FOLDER --role read</code>.</form>

            """
        return InspectorFrame(store: "", isLoggedIn: false).page("Log in", .login, main: form)
    }

    func message(_ title: String, _ message: String) -> HTML {
        page(
            title, .problem,
            main: """
                <h1>\(title)</h1>
                <p>\(message)</p>
                <p><a href="\(root)transactions">All transactions</a></p>

                """)
    }

    /// Follows the store: the script asks for the page again after each change, and replaces what differs.
    func liveBar(_ version: Int64) -> HTML {
        """
        <p class=live data-live="\(root)live?version=\(version)" hidden><output aria-live=polite></output>\
        <button type=button>Pause</button></p>
        """
    }
}
