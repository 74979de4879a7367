import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

struct UseCasePage {
    let useCase: UseCaseReference
    let view: UseCaseView
    /// Questions and their answers; empty if a choice is missing, and after a mistake.
    let answers: [Redacted<AnyAnswer>]
    let events: [String]
    var seen = SeenValues()
    let frame: InspectorFrame
    var address: ListAddress { frame.address }
    var links: UseCaseLinks { frame.links() }

    var html: HTML { frame.page("\(useCase.name), \(view.title)", .useCases, main: main) }

    private var main: HTML {
        """
        <nav class=around aria-label="Around it"><a rel=up href="\(links.root)use-cases\(ListAddress(links.parameters).query)">All use cases</a>\
        <a href="\(links.transactions(of: useCase))">Its transactions</a></nav>
        <h1>\(useCase.name)</h1>
        <nav class=views aria-label=Questions>\(UseCaseView.allCases.map(tab))</nav>
        \(ListForm(address: address, field: "filter", hint: UseCasesPage.hint, useCases: nil, terms: "\(links.root)terms?use_case=\(useCase.code)").html)\
        \(form)\(content)
        """
    }

    private func tab(_ view: UseCaseView) -> HTML {
        "<a href=\"\(links.useCase(useCase, view.rawValue))\"\(" aria-current=page", if: view == self.view)>\(view.title)</a>"
    }

    private var asked: AnyQuestion? { answers.first?.value.question }

    private var content: HTML {
        guard frame.mistake == nil else {
            return NoRows(title: "That cannot be answered", isMistake: true, frame: frame).html
        }
        guard let first = answers.first else {
            return "<div class=none><b>What is to be compared?</b><p>\(compareHelp)</div>\n"
        }
        // If no transaction counts, all answers give the same reason.
        return "\((first.value.whyEmpty == nil ? answers : [first]).map(shown))"
    }

    private var compareHelp: HTML {
        let windows = [
            ("the last 24 hours with those before", "48h..24h", "24h..0h"),
            ("the last 7 days with those before", "14d..7d", "7d..0d"),
        ].map { text, a, b -> HTML in
            "<a href=\"\(links.useCase(useCase, view.rawValue, [("a", a), ("b", b)]))\">\(text)</a>"
        }
        return "Say what sets two groups apart and the values of each, or compare \(windows[0]), or \(windows[1])."
    }

    private func shown(_ answer: Redacted<AnyAnswer>) -> HTML {
        if let why = answer.value.whyEmpty {
            return "<div class=none><b>Nothing counts here</b><p>\(why)</div>\n"
        }
        func hint(_ sentence: String?) -> HTML { sentence.map { "<p class=hint>\($0)</p>\n" } ?? "" }
        return """
            \(hint(answer.value.weighed?.sentence))\(sections(of: answer))\(hint(answer.value.outcomesSentence))
            """
    }

    func section(_ title: HTML, file: String?, _ content: HTML) -> HTML {
        let own = address.items.filter { view.parameters.contains($0.name) }
        let download = file.map { file -> HTML in
            "<a class=copier download href=\"\(links.useCase(useCase, file, own))\">CSV</a>"
        }
        return """
            <section class=answer><header><h2>\(title)</h2>\(download ?? "")</header>
            \(content)</section>

            """
    }

    func folded(_ table: HTML) -> HTML {
        "<details class=numbers><summary>The numbers</summary>\(table)</details>\n"
    }

    func remarks(_ sentences: [String]) -> HTML { "\(sentences.map { "<p class=hint>\($0)</p>" as HTML })" }
}

extension UseCasePage {
    private static let leastSteps = 4

    private var form: HTML {
        guard !view.parameters.isEmpty else { return "" }
        // On a narrow page, this button reveals the form, and the answer comes first.
        let unfold: HTML = "<button type=button class=unfold popovertarget=question>Change the question</button>"
        return """
            \(unfold, if: asked != nil)<form class=ask id=question method=get\(" popover", if: asked != nil)>\(fields)\(address.hidden(besides: view.parameters))<button>Ask</button></form>

            """
    }

    private var fields: HTML {
        switch view {
        case .overview, .dropOff, .legs, .why: ""
        case .duration: "\(points)\(by(chosen: address["by"].map { Segmentation($0) } ?? .appVersion))\(bounds)"
        case .funnel: "\(steps)\(within)\(flag("strict", "nothing between"))\(bounds)"
        case .compare: "\(groups)\(points)\(bounds)"
        }
    }

    private var bounds: HTML { flag("certify", "bounds for missing facts") }

    private var points: HTML {
        """
        \(point("from", "From", address["from"] ?? "^", isOptional: false))\(point("to", "to", address["to"] ?? "$", isOptional: false))\
        \(flag("last", "the last of several"))
        """
    }

    private var steps: HTML {
        var steps = address.items.filter { $0.name == "step" }.map(\.value)
        if case .funnel(let query) = asked { steps = query.steps.map(\.description) }
        // An additional field lets people add a step.
        let count = max(Self.leastSteps, steps.count + 1)
        return
            "\((0..<count).map { point("step", "Step \($0 + 1)", $0 < steps.count ? steps[$0] : "", isOptional: true) })"
    }

    private func point(_ name: String, _ label: String, _ chosen: String, isOptional: Bool) -> HTML {
        let known = [("^", "the beginning")] + events.map { ($0, $0) } + [("$", "the outcome")]
        // Keep a value that only the address contains.
        let all = chosen.isEmpty || known.contains { $0.0 == chosen } ? known : known + [(chosen, chosen)]
        let options = (isOptional ? [("", "-")] : []) + all
        return """
            <label>\(label) <select name=\(HTML.raw(name))>\(HTML.options(options, chosen: chosen))</select></label>
            """
    }

    private var within: HTML {
        "<label>within <input name=within size=6 placeholder=\"any time\" value=\"\(address["within"] ?? "")\"></label>"
    }

    private var groups: HTML {
        let chosen = address["by"].map { Segmentation($0) }
        return "\(by(chosen: chosen, none: "time"))\(chosen.map(values) ?? windows)"
    }

    /// - Parameter none: The word for no segmentation; `nil` if there always is one.
    private func by(chosen by: Segmentation?, none: String? = nil) -> HTML {
        let attributes = seen.attributes.map { Segmentation.attribute($0) }
        let others = Self.segmentations.filter { !seen.values(of: $0.0).isEmpty }
        let known = attributes + others.map(\.0)
        let given = [by].compactMap(\.self).filter { !known.contains($0) }
        func group(_ name: String, _ segmentations: [(Segmentation, String)]) -> HTML {
            let options = segmentations.map { ($0.0.description, $0.1) }
            return options.isEmpty
                ? "" : "<optgroup label=\"\(name)\">\(HTML.options(options, chosen: by?.description))</optgroup>"
        }
        return """
            <label>By <select name=by>\(none.map { "<option value=\"\">\($0)</option>" as HTML } ?? "")\
            \(group("Attribute", (attributes + given).map { segmentation in (segmentation, segmentation.description) }))\
            \(group("What began it, and when", others))</select></label>
            """
    }

    private static let segmentations: [(Segmentation, String)] = [
        (.appVersion, "version of the app"), (.app, "app"), (.device, "device"), (.os, "system"),
        (.osVersion, "version of the system"),
        (.day, "day"), (.hour, "hour"), (.ended, "how its process ended"),
        (.parentOutcome, "outcome of its parent"), (.parentUseCase, "use case of its parent"),
    ]

    private func values(of by: Segmentation) -> HTML {
        var chosen: (a: String?, b: String?) = (address["a"], address["b"])
        if case .compare(let query) = asked, case .values(_, let a, let b) = query.groups { chosen = (a, b) }
        func select(_ name: HTML, _ label: HTML, _ chosen: String?) -> HTML {
            let known = seen.values(of: by)
            let all = known + [chosen].compactMap(\.self).filter { !known.contains($0) }
            let options = HTML.options([("", Segmentation.title(of: nil))] + all.map { ($0, $0) }, chosen: chosen)
            return "<label>\(label) <select name=\(name)>\(options)</select></label>"
        }
        return "\(select("a", "A", chosen.a))\(select("b", "B", chosen.b))"
    }

    private var windows: HTML {
        """
        <label>A <input name=a size=12 placeholder="48h..24h" value="\(address["a"] ?? "")" list=windows></label>\
        <label>B <input name=b size=12 placeholder="24h..0h" value="\(address["b"] ?? "")" list=windows></label>\
        <datalist id=windows><option value="24h..0h"><option value="48h..24h"><option value="7d..0d"><option value="14d..7d"></datalist>
        """
    }

    private func flag(_ name: HTML, _ label: HTML) -> HTML {
        "<label><input type=checkbox name=\(name) value=yes\(" checked", if: address[name.text] == "yes")> \(label)</label>"
    }
}

/// A page has only one question, because it may read all events of a million transactions.
package enum UseCaseView: String, CaseIterable, Sendable {
    case overview = ""
    case duration, funnel
    case dropOff = "dropoff"
    case legs, compare, why

    var title: String {
        switch self {
        case .overview: "Overview"
        case .duration: "Duration"
        case .funnel: "Funnel"
        case .dropOff: "Drop-off"
        case .legs: "Legs"
        case .compare: "Compare"
        case .why: "What differs?"
        }
    }

    package var parameters: [String] {
        switch self {
        case .overview, .dropOff, .legs, .why: []
        case .duration: ["from", "to", "last", "by", "certify"]
        case .funnel: ["step", "within", "strict", "certify"]
        case .compare: ["by", "a", "b", "from", "to", "last", "certify"]
        }
    }

    var hasGroups: Bool { parameters.contains("by") }

    /// The transactions that ``why`` compares with the others, unless a filter chooses some.
    static let failed = (name: "outcome", value: TransactionOutcome.failed.name)
}

extension ListAddress {
    /// Whether a filter chooses among the transactions of a use case, apart from their time.
    var chooses: Bool { ["filter", "outcome", "text"].contains { self[$0] != nil } }
}
