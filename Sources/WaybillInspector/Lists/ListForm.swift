import WaybillExport

/// The search above a list: fields that are the parameters of its URL, so that it works without script and a view can
/// be shared.
struct ListForm {
    let address: ListAddress
    /// The parameter that the search field is.
    var field = "text"
    /// Shown in the empty search field.
    var hint: String
    /// Names of use cases to choose from; nil: there is no such choice.
    var useCases: [String]?
    /// What else can be chosen: a parameter, its label, and its values with what they are called.
    var choices: [(name: String, label: String, values: [(value: String, text: String)])] = []
    /// Where the script finds what the search field completes; nil: it completes nothing.
    var terms: String?

    private static let ages: [(value: String, text: String)] = [
        ("15m", "last 15 minutes"), ("1h", "last hour"), ("24h", "last 24 hours"), ("7d", "last 7 days"),
    ]

    var html: HTML {
        let named = useCases.map { [("use_case", "Every use case", $0.map { ($0, $0) })] } ?? []
        let all = named + choices + [("since", "At any time", Self.ages)]
        let completed: HTML = terms.map { " list=terms data-terms=\"\($0)\"><datalist id=terms></datalist>" } ?? ">"
        return """
            <form class=find method=get><search><input type=search name="\(field)" value="\(address[field] ?? "")" aria-label="Search" \
            placeholder="\(hint)"\(completed)\(all.map(select))\(address.hidden(besides: [field] + all.map(\.0)))<button>Show</button>\
            \(clear)</search></form>

            """
    }

    private var clear: HTML { address.items.contains { $0.name != "cursor" } ? "<a href=\"?\">Clear</a>" : "" }

    /// More are no choice for people; the search field takes any.
    private static let choiceLimit = 200

    private func select(_ name: String, _ label: String, _ all: [(value: String, text: String)]) -> HTML {
        var values = Array(all.prefix(Self.choiceLimit))
        let more = all.count - values.count
        let rest: HTML = more > 0 ? "<option disabled>and \(more) others</option>" : ""
        let chosen = address[name]
        // What came by the URL alone can be seen, and is kept.
        if let chosen, !values.contains(where: { $0.value == chosen }) { values.append((chosen, chosen)) }
        let options = values.map {
            "<option value=\"\($0.value)\"\(" selected", if: $0.value == chosen)>\($0.text)</option>" as HTML
        }
        return
            "<select name=\"\(name)\" aria-label=\"\(label)\"><option value=\"\">\(label)</option>\(options)\(rest)</select>"
    }
}

/// What stands in the place of rows: why there are none, and the way to what may have been meant.
struct NoRows {
    var title: String
    var why: String
    /// A filter; nil where nothing is near.
    var meant: String?
    /// Whether something is wrong with what was asked.
    var isMistake = false
    let address: ListAddress

    var html: HTML {
        let link = meant.map { "<p><a class=chip href=\"\(address.with("filter", $0))\">Show \($0)</a>" as HTML } ?? ""
        return "<div class=none\(" role=alert", if: isMistake)><b>\(title)</b><p>\(why)\(link)</div>\n"
    }
}

/// Words to switch on and off, each a link to the same list with or without it.
struct ListChips {
    let address: ListAddress
    var name: String
    /// What is said of them all.
    var label: String
    var words: [(word: String, content: HTML, tone: String)]

    var html: HTML {
        "<ul class=outcomes aria-label=\"\(label)\">\(words.map(chip))</ul>\n"
    }

    private func chip(_ word: String, _ content: HTML, _ tone: String) -> HTML {
        let isOn = address.contains(word, in: name)
        return """
            <li class="\(tone)"><a class=chip href="\(address.toggled(word, in: name))"\(" aria-current=true", if: isOn)>\(content)</a>
            """
    }
}

/// The way to the rows that follow, and back to the first.
struct ListPaging {
    let address: ListAddress
    let next: String?
    /// nil: it was looked through.
    var progress: ListProgress?

    var html: HTML {
        guard next != nil || !address.isFirstPage else { return "" }
        let told: HTML = progress.map { "<p class=progress role=status>\($0.sentence)</p>\n" } ?? ""
        let newest: HTML = address.isFirstPage ? "" : "<a href=\"\(address.with("cursor", nil))\">Newest</a>"
        let older: HTML =
            next.map { "<a rel=next href=\"\(address.with("cursor", $0))\">\(progress?.word ?? "Older")</a>" } ?? ""
        return "\(told)<nav class=pages aria-label=\"Further rows\">\(newest)\(older)</nav>\n"
    }
}
