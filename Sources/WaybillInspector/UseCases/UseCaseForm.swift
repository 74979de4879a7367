import WaybillAnalysis
import WaybillCore
import WaybillExport
import WaybillReading

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
