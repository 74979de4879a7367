import Foundation
package import WaybillAnalysis
package import WaybillCore
package import WaybillExport
import WaybillReading

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
