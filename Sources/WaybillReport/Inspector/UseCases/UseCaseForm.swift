import WaybillCore

/// What can be chosen of a question: fields that are the parameters of its address, so that it works without script and a view can be shared.
struct UseCaseForm {
    let view: UseCaseView
    let address: ListAddress
    /// What was asked, by default or not; nil: nothing yet.
    let asked: Query?
    /// Names to choose from.
    let events: [String]

    /// Steps that a funnel's form has room for, if the address does not name more.
    private static let leastSteps = 4

    var html: HTML {
        guard !view.parameters.isEmpty else { return "" }
        return """
            <form class=ask method=get>\(fields)\(address.hidden(besides: view.parameters))<button>Show</button></form>

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
            default: (TransactionPoint(address["from"] ?? "^"), TransactionPoint(address["to"] ?? "$"))
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
        return "\((0..<count).map { point("step", "Step \($0 + 1)", $0 < steps.count ? steps[$0] : "", isOptional: true) })"
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
        let words = ["version", "app", "device", "os", "osVersion", "hour", "day"]
        return """
            <label>By <input name=by list=segments size=14 placeholder="time" value="\(address["by"] ?? "")" \
            title="version, app, device, os, osVersion, hour, day, or an attribute; nothing: two stretches of time"></label>\
            <datalist id=segments>\(words.map { "<option value=\"\($0)\">" as HTML })</datalist>\
            <label>A <input name=a size=12 placeholder="48h..24h" value="\(address["a"] ?? "")"></label>\
            <label>B <input name=b size=12 placeholder="24h..0h" value="\(address["b"] ?? "")"></label>
            """
    }

    private func flag(_ name: HTML, _ label: HTML) -> HTML {
        "<label><input type=checkbox name=\(name) value=yes\(" checked", if: address[name.text] == "yes")> \(label)</label>"
    }
}
