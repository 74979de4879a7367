package import WaybillExport

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
