import WaybillCore

/// A page of HTML in one piece: nothing is loaded from anywhere, and nothing runs but its own script.
package struct HTMLPage: Sendable {
    /// Of the window.
    package var title: String
    /// CSS, UTF-8.
    package var style: [UInt8]
    /// JavaScript, UTF-8, run when the body has been read.
    package var script: [UInt8]
    /// What stands between `<body>` and `</body>`.
    package var body: HTML

    /// Makes a page.
    package init(title: String, style: [UInt8], script: [UInt8], body: HTML) {
        self.title = title
        self.style = style
        self.script = script
        self.body = body
    }

    /// The whole document, UTF-8.
    ///
    /// Its Content-Security-Policy (W3C, level 3) refuses all that is not allowed by its hash, in case that something
    /// gets past the escaping.
    package var html: HTML {
        """
        <!DOCTYPE html>
        <html lang=en dir=ltr>
        <head>
        <meta charset=utf-8>
        <meta http-equiv=Content-Security-Policy content="\(policy)">
        <meta name=viewport content="width=device-width, initial-scale=1">
        <meta name=color-scheme content="light dark">
        <meta name=referrer content=no-referrer>
        <meta name=robots content=noindex>
        <title>\(title)</title>
        <style>\(HTML.raw(style))</style>
        </head>
        <body>
        \(body)
        <script>\(HTML.raw(script))</script>
        </body>
        </html>

        """
    }

    private var policy: HTML {
        let (style, script) = (SHA256.base64(style), SHA256.base64(script))
        return .raw(
            "default-src 'none'; style-src 'sha256-\(style)'; script-src 'sha256-\(script)'; base-uri 'none'; form-action 'none'"
        )
    }
}
