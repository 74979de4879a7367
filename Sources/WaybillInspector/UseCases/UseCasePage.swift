import Foundation
package import WaybillCore
package import WaybillExport
package import WaybillQueries

/// One use case: the answer to one question about it as a chart, with a table and a file of the same numbers.
package struct UseCasePage {
    private let useCase: UseCaseReference
    private let view: UseCaseView
    private let content: Content
    private let events: [String]
    private let seen: SeenValues
    private let address: ListAddress
    private let frame: InspectorFrame

    /// What the page says.
    package enum Content: Sendable {
        /// Questions and their answers; none: something has to be chosen first.
        case answers([Redacted<AnyAnswer>])
        /// One sentence on what is wrong with the question, and the filter that may have been meant.
        case mistake(Redacted<String>, meant: String? = nil)
    }

    /// - Parameters:
    ///   - events: Names to choose from.
    ///   - seen: Values to compare, redacted; none where nothing is compared.
    package init(
        _ useCase: UseCaseReference, _ view: UseCaseView, _ content: Content, events: [String],
        seen: SeenValues = SeenValues(),
        at address: ListAddress, in frame: InspectorFrame
    ) {
        (self.useCase, self.view, self.content, self.events, self.seen) = (useCase, view, content, events, seen)
        (self.address, self.frame) = (address, frame)
    }

    /// The whole document.
    package var html: HTML { frame.page("\(useCase.name), \(view.title)", .useCases, depth: view.depth, main: main) }

    private var links: UseCaseLinks { UseCaseLinks(address, depth: view.depth) }

    private var main: HTML {
        """
        <nav class=around aria-label="Around it"><a rel=up href="\(links.root)use-cases\(UseCaseLinks.query(links.conditions))">All use cases</a>\
        <a href="\(links.transactions(of: useCase))">Its transactions</a></nav>
        <h1>\(useCase.name)</h1>
        <nav class=views aria-label=Questions>\(UseCaseView.allCases.map(tab))</nav>
        \(ListForm(address: address, field: "filter", hint: UseCasesPage.hint, useCases: nil, terms: "\(links.root)terms?use_case=\(useCase.code)").html)\
        \(UseCaseForm(view: view, address: address, asked: asked, events: events, seen: seen).html)\(answers)
        """
    }

    private func tab(_ view: UseCaseView) -> HTML {
        "<a href=\"\(links.useCase(useCase, view.rawValue))\"\(" aria-current=page", if: view == self.view)>\(view.title)</a>"
    }

    /// What was asked, with the defaults for what the address left out.
    private var asked: AnyQuestion? {
        guard case .answers(let answers) = content else { return nil }
        return answers.first?.value.question
    }

    private var answers: HTML {
        switch content {
        case .mistake(let sentence, let meant):
            return NoRows(
                title: "That cannot be answered", why: sentence.value, meant: meant, isMistake: true, address: address
            ).html
        case .answers(let answers) where answers.isEmpty:
            return "<div class=none><b>What is to be compared?</b><p>\(compareHelp)</div>\n"
        // Where no transaction counts, it is enough to say so once.
        case .answers(let answers): return "\((answers[0].value.whyEmpty == nil ? answers : [answers[0]]).map(section))"
        }
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

    private func section(_ answer: Redacted<AnyAnswer>) -> HTML {
        let answer = answer.value
        if let why = answer.whyEmpty { return "<div class=none><b>Nothing counts here</b><p>\(why)</div>\n" }
        let around = UseCaseSection(
            useCase: useCase, view: view, address: address, links: links, timeZone: frame.timeZone)
        let weighed: HTML = "\(answer.weighed.map { "<p class=hint>\($0.sentence)</p>\n" as HTML } ?? "")"
        let content: HTML =
            switch answer {
            case .summary(let query, let answer):
                answer.useCases.first.map { around.overview($0, each: query.stepMicroseconds) } ?? ""
            case .duration(let query, let answer): around.duration(query, answer)
            case .funnel(let query, let answer): around.funnel(query, answer)
            case .dropOff(_, let answer): around.dropOff(answer)
            case .legs(_, let answer): around.legs(answer)
            case .compare(let query, let answer): around.compare(query, answer)
            // No page of a use case asks these.
            case .measure, .transitions, .network: ""
            }
        let counted: HTML = answer.outcomesSentence.map { "<p class=hint>\($0)</p>\n" } ?? ""
        return "\(weighed)\(content)\(counted)"
    }
}

/// What the sections of a use case's page share.
struct UseCaseSection {
    let useCase: UseCaseReference
    let view: UseCaseView
    let address: ListAddress
    let links: UseCaseLinks
    let timeZone: TimeZone

    /// A section with a heading and the way to a file of its numbers.
    ///
    /// - Parameter file: `duration.csv`.
    func section(_ title: HTML, file: String, _ content: HTML) -> HTML {
        let own = address.items.filter { view.parameters.contains($0.name) }
        return """
            <section class=answer><header><h2>\(title)</h2>\
            <a class=copier download href="\(links.useCase(useCase, file, own))">CSV</a></header>
            \(content)</section>

            """
    }

    /// A table for readers who cannot see the chart, or want the numbers.
    func folded(_ table: AnswerTable) -> HTML {
        "<details class=numbers><summary>The numbers</summary>\(table.html)</details>\n"
    }

    /// What a chart does not show, one paragraph each.
    func remarks(_ sentences: [String]) -> HTML { "\(sentences.map { "<p class=hint>\($0)</p>" as HTML })" }

    func time(_ microseconds: Int64?) -> String { microseconds.map(Words.duration) ?? "-" }
}

/// What can be chosen of a question: fields that are the parameters of its address, so that it works without script and
/// a view can be shared.
struct UseCaseForm {
    let view: UseCaseView
    let address: ListAddress
    /// What was asked, by default or not; nil: nothing yet.
    let asked: AnyQuestion?
    /// Names to choose from.
    let events: [String]
    /// Values to choose from, redacted.
    let seen: SeenValues

    /// Steps that a funnel's form has room for, if the address does not name more.
    private static let leastSteps = 4

    var html: HTML {
        guard !view.parameters.isEmpty else { return "" }
        // Where there is little room, what was asked already folds behind a button that needs no script, so that the
        // answer comes first.
        let unfold: HTML = "<button type=button class=unfold popovertarget=question>Change the question</button>"
        return """
            \(unfold, if: asked != nil)<form class=ask id=question method=get\(" popover", if: asked != nil)>\(fields)\(address.hidden(besides: view.parameters))<button>Show</button></form>

            """
    }

    private var fields: HTML {
        switch view {
        case .overview, .dropOff, .legs: ""
        case .duration: points
        case .funnel: "\(steps)\(within)\(flag("strict", "nothing between"))"
        case .compare: "\(groups)\(points)"
        }
    }

    private var points: HTML {
        let chosen: (TransactionPoint, TransactionPoint) =
            switch asked {
            case .duration(let query): (query.from, query.to)
            case .compare(let query): (query.from, query.to)
            case .summary, .measure, .transitions, .funnel, .dropOff, .legs, .network, nil:
                (TransactionPoint(address["from"] ?? "^"), TransactionPoint(address["to"] ?? "$"))
            }
        return """
            \(point("from", "From", chosen.0.description, isOptional: false))\(point("to", "to", chosen.1.description, isOptional: false))\
            \(flag("last", "the last of several"))
            """
    }

    private var steps: HTML {
        var steps = address.items.filter { $0.name == "step" }.map(\.value)
        if case .funnel(let query) = asked { steps = query.steps.map(\.description) }
        // One more, to add a step.
        let count = max(Self.leastSteps, steps.count + 1)
        return
            "\((0..<count).map { point("step", "Step \($0 + 1)", $0 < steps.count ? steps[$0] : "", isOptional: true) })"
    }

    private func point(_ name: String, _ label: String, _ chosen: String, isOptional: Bool) -> HTML {
        let known = [("^", "the beginning")] + events.map { ($0, $0) } + [("$", "the outcome")]
        // What came by the address alone can be seen, and is kept.
        let all = chosen.isEmpty || known.contains { $0.0 == chosen } ? known : known + [(chosen, chosen)]
        let options = (isOptional ? [("", "-")] : []) + all
        return """
            <label>\(label) <select name=\(HTML.raw(name))>\
            \(options.map { "<option value=\"\($0.0)\"\(" selected", if: $0.0 == chosen)>\($0.1)</option>" as HTML })</select></label>
            """
    }

    private var within: HTML {
        "<label>within <input name=within size=6 placeholder=\"any time\" value=\"\(address["within"] ?? "")\"></label>"
    }

    private var groups: HTML {
        let by = address["by"].map { Segmentation($0) }
        let attributes = seen.attributes.map { Segmentation.attribute($0) }
        let others = Self.segmentations.filter { !seen.values(of: $0.0).isEmpty }
        // What came by the address alone can be seen, and is kept.
        let given = [by].compactMap(\.self).filter { by in !attributes.contains(by) && !others.contains { $0.0 == by } }
        func group(_ name: String, _ segmentations: [(Segmentation, String)]) -> HTML {
            let options = segmentations.map { segmentation, text in
                "<option value=\"\(segmentation.description)\"\(" selected", if: segmentation == by)>\(text)</option>"
                    as HTML
            }
            return options.isEmpty ? "" : "<optgroup label=\"\(name)\">\(options)</optgroup>"
        }
        return """
            <label>By <select name=by><option value="">time</option>\
            \(group("Attribute", (attributes + given).map { segmentation in (segmentation, segmentation.description) }))\
            \(group("What began it, and when", others))</select></label>\(by.map(values) ?? windows)
            """
    }

    /// What transactions can be told apart by besides their attributes, in words.
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
            let options = all.map { "<option value=\"\($0)\"\(" selected", if: $0 == chosen)>\($0)</option>" as HTML }
            return """
                <label>\(label) <select name=\(name)><option value="">\(Segmentation.title(of: nil))</option>\(options)</select></label>
                """
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

/// Which question a page of a use case asks; one page asks one, since each of them may read every event of a million
/// transactions.
package enum UseCaseView: String, CaseIterable, Sendable {
    /// How often it was run, how it ended over time, which errors it gave, how long it took.
    case overview = ""
    case duration, funnel
    case dropOff = "dropoff"
    case legs, compare

    /// In the navigation.
    var title: String {
        switch self {
        case .overview: "Overview"
        case .duration: "Duration"
        case .funnel: "Funnel"
        case .dropOff: "Drop-off"
        case .legs: "Legs"
        case .compare: "Compare"
        }
    }

    /// What its question understands besides the conditions, in the order of its form.
    package var parameters: [String] {
        switch self {
        case .overview, .dropOff, .legs: []
        case .duration: ["from", "to", "last"]
        case .funnel: ["step", "within", "strict"]
        case .compare: ["by", "a", "b", "from", "to", "last"]
        }
    }

    /// How many components the path of its page has.
    var depth: Int { self == .overview ? 2 : 3 }
}
