import WaybillCore
import WaybillExport

import struct Foundation.URLError
import struct Waybill.NetworkRule

/// The form of one rule.
struct RulePage {
    private let form: RuleForm
    private let isNew: Bool
    private let mistake: RuleMistake?
    /// What is said of a body that the form does not show; nil: it does.
    private let hiddenBody: String?
    private let frame: InspectorFrame

    /// A form that begins with a rule, or, for a new one, empty.
    init(_ form: Redacted<RuleForm>, isNew: Bool, hiddenBody: String?, in frame: InspectorFrame) {
        self.init(form.value, isNew: isNew, nil, hiddenBody: hiddenBody, in: frame)
    }

    /// The form that has just been sent, once more: its texts are those that the page had, and what was typed since.
    init(sent form: RuleForm, isNew: Bool, _ mistake: RuleMistake, hiddenBody: String?, in frame: InspectorFrame) {
        self.init(form, isNew: isNew, mistake, hiddenBody: hiddenBody, in: frame)
    }

    private init(_ form: RuleForm, isNew: Bool, _ mistake: RuleMistake?, hiddenBody: String?, in frame: InspectorFrame)
    {
        (self.form, self.isNew, self.mistake) = (form, isNew, mistake)
        (self.hiddenBody, self.frame) = (hiddenBody, frame)
    }

    private var depth: Int { isNew ? 2 : 3 }

    private var title: String { isNew ? "New rule" : "Edit a rule" }

    /// The whole document.
    var html: HTML { frame.page(title, .controls, depth: depth, main: main) }

    private var main: HTML {
        let told: HTML = mistake.map { "<p class=bad role=alert id=mistake>\($0.sentence)" } ?? ""
        return """
            <h1>\(title)</h1>\(told)
            <form class=rule method=post>\(head)\(requests)\(actions)\
            <div class=actions><button>Save</button><a class=copier rel=up href="\(isNew ? "" : "../")../controls">Cancel</a></div></form>

            """
    }

    private var head: HTML {
        """
        <div class=line>\(input("name", "Name", size: 30, limit: Limits.labelLength))\(check("on", "enabled"))\
        \(input("times", "Only for the first", size: 5, after: "requests", hint: "all"))</div>
        """
    }

    private var requests: HTML {
        let parts = RuleForm.Part.allCases.map { part in
            "<div class=line>\(condition(part.rawValue, RuleWords.label(part)))</div>" as HTML
        }
        // One more, to add a condition.
        let count = min(RuleForm.fieldLimit, form.fieldCount + 1)
        let fields = (0..<count).map { index in
            """
            <div class=line>\(input(RuleForm.field(index), "Header field \(index + 1)", size: 16, limit: Limits.nameLength))\
            \(condition(RuleForm.fieldValue(index), "Value \(index + 1)"))</div>
            """ as HTML
        }
        return """
            <fieldset><legend>Which requests</legend><p class=why>All that is filled in must be so; where nothing is, every request is \
            meant.\(parts)\(fields)</fieldset>
            """
    }

    private func condition(_ field: String, _ label: String) -> HTML {
        let chosen = form["\(field)-as"]
        let options = RuleWords.comparisons.map { value, words in
            "<option value=\(HTML.raw(value))\(" selected", if: value == chosen)>\(words)</option>" as HTML
        }
        return """
            \(input(field, label, size: 26, limit: 2048))\
            <select name=\"\(field)-as\" aria-label=\"\(label): how it is compared\">\(options)</select>\
            \(check("\(field)-any-case", "any case", label: "\(label): any case"))
            """
    }

    private var actions: HTML {
        let choices = RuleForm.Action.allCases.map { action in
            """
            <label><input type=radio name=action value=\(HTML.raw(action.rawValue)) id="act-\(action.rawValue)"\
            \(" checked", if: form["action"] == action.rawValue)> \(RuleWords.label(action))</label>
            """ as HTML
        }
        return """
            <fieldset><legend>What is done</legend><div class="line choices">\(choices)</div>\
            <div class=mock>\(mock)</div><div class=fail>\(failure)</div><div class=throttle>\(throttle)</div><div class=cut>\(cut)</div></fieldset>
            """
    }

    private var mock: HTML {
        let hidden: HTML = hiddenBody.map { "<p class=why>\($0)" } ?? ""
        return """
            <p class=why>The request is not sent, and this is its answer.\
            <div class=line>\(input("status", "Status", size: 4))\(delay("delay", "After"))</div>\
            \(area("headers", "Header fields", rows: 3, hint: "Content-Type: application/json"))\
            \(area("text", "Body", rows: 6, hint: ""))\(hidden)
            """
    }

    private var failure: HTML {
        let names = URLError.Code.allNames
        // A code without a name is kept as it is.
        let codes = names.contains(form["code"]) ? names : [form["code"]] + names
        let options = codes.map { "<option\(" selected", if: $0 == form["code"])>\($0)</option>" as HTML }
        return """
            <p class=why>The request is not sent, and fails.\
            <div class=line><label>Error <select name=code\(marks("code"))>\(options)</select></label>\(delay("after", "After"))</div>
            """
    }

    private var throttle: HTML {
        """
        <p class=why>The request is sent, and is slow.\
        <div class=line>\(delay("latency", "Waits"))\(input("rate", "At most", size: 9, after: "bytes a second", hint: "any"))</div>
        """
    }

    private var cut: HTML {
        """
        <p class=why>The request is sent, and the connection is lost during the answer.\
        <div class=line>\(input("bytes", "After", size: 9, after: "bytes of the body", hint: "0"))</div>
        """
    }

    private func delay(_ field: String, _ label: String) -> HTML {
        """
        \(input(field, label, size: 7, hint: "250ms"))\(input("\(field)-longest", "to at most", size: 7, hint: "the same"))
        """
    }

    // MARK: Fields

    private func input(
        _ field: String, _ label: String, size: Int, limit: Int = 40, after: String = "", hint: String = ""
    ) -> HTML {
        let hint: HTML = hint.isEmpty ? "" : " placeholder=\"\(hint)\""
        return """
            <label>\(label) <input name="\(field)" size=\(size) maxlength=\(limit) autocomplete=off autocapitalize=off spellcheck=false\
            \(hint) value="\(form[field])"\(marks(field))>\(after.isEmpty ? "" : " \(after)")</label>
            """
    }

    private func area(_ field: String, _ label: String, rows: Int, hint: String) -> HTML {
        let hint: HTML = hint.isEmpty ? "" : " placeholder=\"\(hint)\""
        // The first end of line of a text area is not counted as one of its text.
        return """
            <label class=area>\(label) <textarea name="\(field)" rows=\(rows) maxlength=\(RuleForm.bodyLimit) autocapitalize=off \
            spellcheck=false\(hint)\(marks(field))>
            \(form[field])</textarea></label>
            """
    }

    private func check(_ field: String, _ words: String, label: String? = nil) -> HTML {
        let name: HTML = label.map { " aria-label=\"\($0)\"" } ?? ""
        return """
            <label class=check><input type=checkbox name="\(field)" value=yes\(" checked", if: form[field] == "yes")\(name)> \(words)</label>
            """
    }

    /// Of the field that a mistake is about: a reader is led there.
    private func marks(_ field: String) -> HTML {
        mistake?.field == field ? " aria-invalid=true aria-describedby=mistake autofocus" : ""
    }
}

/// A rule in a list.
struct ShownRule: Sendable, Redactable {
    /// Of its address: its name may be anything, and hold a secret.
    let id: String
    let isEnabled: Bool
    /// Requests that it has acted on since it was added, and how many it may; nil: all.
    let hits: Int
    let times: Int?
    /// Of the body that it answers with.
    let byteCount: Int64
    private(set) var form: RuleForm
    /// Why it does nothing, in sentences.
    private(set) var problems: [String]

    init(_ rule: NetworkRule, hits: Int) {
        id = Self.id(of: rule.name)
        (isEnabled, self.hits, times) = (rule.isEnabled, hits, rule.times)
        byteCount = if case .mock(let response) = rule.action { Int64(response.body.count) } else { 0 }
        form = RuleForm(rule)
        problems = rule.problems.map(\.message)
    }

    /// Letters and digits by which a rule of that name is found again.
    static func id(of name: String) -> String {
        String(SHA256.base64(Array(name.utf8)).filter { $0.isLetter || $0.isNumber }.prefix(20))
    }

    func redacted(by redactor: Redactor) -> ShownRule {
        var rule = self
        rule.form = form.redacted(by: redactor)
        rule.problems = problems.map { redactor.text($0) }
        return rule
    }

    var name: String { form["name"] }

    /// The requests that it is for.
    var requests: String {
        var conditions = RuleForm.Part.allCases.compactMap { condition($0.rawValue, $0.rawValue) }
        conditions += (0..<form.fieldCount).compactMap { index in
            condition(RuleForm.fieldValue(index), form[RuleForm.field(index)], isNeeded: true)
        }
        return conditions.isEmpty ? "All requests" : "Requests whose \(conditions.joined(separator: ", whose "))"
    }

    private func condition(_ field: String, _ name: String, isNeeded: Bool = false) -> String? {
        let (text, kind) = (form[field], form["\(field)-as"])
        guard isNeeded || !text.isEmpty || !kind.isEmpty else { return nil }
        let ignoresCase = form["\(field)-any-case"] == "yes" ? " in any case" : ""
        return "\(name) \(RuleWords.comparison(kind)) “\(text)”\(ignoresCase)"
    }

    /// What it does to them.
    var effect: String {
        switch RuleForm.Action(rawValue: form["action"]) {
        case .mock:
            "are answered with \(form["status"])" + (byteCount > 0 ? " and \(Words.byteCount(byteCount))" : "")
                + time("delay", " after ")
        case .throttle: "are slowed down" + time("latency", ": they wait ") + rate
        case .fail: "fail with \(form["code"])" + time("after", " after ")
        case .cut: "lose their connection after \(form["bytes"]) bytes of the answer"
        case nil: ""
        }
    }

    private func time(_ field: String, _ words: String) -> String {
        let (shortest, longest) = (form[field], form["\(field)-longest"])
        if longest.isEmpty { return shortest.isEmpty ? "" : words + shortest }
        return "\(words)\(shortest.isEmpty ? "0s" : shortest) to \(longest)"
    }

    private var rate: String { form["rate"].isEmpty ? "" : ", at \(form["rate"]) bytes a second" }

    /// How often it has acted.
    var use: String {
        let count = hits == 0 ? "Has not acted yet" : "Has acted on \(Words.count(hits, "request"))"
        guard let times else { return "\(count)." }
        return hits >= times
            ? "\(count), all that it is for." : "\(count), and is for the first \(Words.count(times, "request"))."
    }
}

/// What people read of the fields of rules.
enum RuleWords {
    static let comparisons = [
        ("exact", "is"), ("contains", "contains"), ("glob", "is like (* and ?)"), ("regex", "matches the expression"),
    ]

    static func comparison(_ kind: String) -> String {
        kind == "glob" ? "is like" : comparisons.first { $0.0 == kind }?.1 ?? "is"
    }

    static func label(_ part: RuleForm.Part) -> String {
        switch part {
        case .method: "Method"
        case .host: "Host"
        case .path: "Path"
        case .url: "Whole URL"
        case .body: "Body"
        }
    }

    static func label(_ action: RuleForm.Action) -> String {
        switch action {
        case .mock: "Answer it"
        case .fail: "Fail it"
        case .throttle: "Slow it down"
        case .cut: "Cut the answer"
        }
    }
}

extension RuleForm: Redactable {
    /// Every text that a person or an app has written, by the name that it stands under where it has one.
    func redacted(by redactor: Redactor) -> RuleForm {
        var form = self
        for field in ["name", "method", "host", "body"] { form[field] = redactor.text(self[field]) }
        form["path"] = redactor.path(self["path"])
        form["url"] = redactor.address(self["url"])
        for index in 0..<fieldCount {
            let name = self[Self.field(index)]
            form[Self.field(index)] = redactor.text(name)
            form[Self.fieldValue(index)] = redactor.value(self[Self.fieldValue(index)], named: name)
        }
        var contentType: String?
        form["headers"] = lines("headers").map { line in
            let (name, value) = Self.headerField(line)
            guard !name.isEmpty else { return redactor.text(line) }
            if name.lowercased() == "content-type" { contentType = contentType ?? value }
            return "\(name): \(redactor.value(value, named: name))"
        }.joined(separator: "\n")
        let body = redactor.body(Array(self["text"].utf8), contentType: contentType, keepsBinary: true)
        form["text"] = redactor.text(String(decoding: body, as: UTF8.self))
        return form
    }

    func lines(_ field: String) -> [String] {
        self[field].split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The name and the value in a line; the name is empty where the line is no header field.
    static func headerField(_ line: String) -> (name: String, value: String) {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return ("", line) }
        return (String(parts[0]).trimmed, String(parts[1]).trimmed)
    }

    /// This form as it was sent, with what was not shown put back where the page had its placeholder.
    ///
    /// A line that comes back as it was shown is the one that was not. In a line that is another one now, nobody can say
    /// what the placeholder stands for, and to save the placeholder would be to lose the secret.
    ///
    /// - Parameters:
    ///   - original: The form of the rule that is edited.
    ///   - shown: The same, redacted.
    func restored(from original: RuleForm, shown: RuleForm) throws(RuleMistake) -> RuleForm {
        var form = self
        for field in Self.texts where original[field] != shown[field] {
            form[field] = try restored(field, from: original, shown: shown)
        }
        for index in 0..<fieldCount {
            let (name, value) = (Self.field(index), Self.fieldValue(index))
            if original[name] != shown[name] { form[name] = try restored(name, from: original, shown: shown) }
            guard original[value] != shown[value] else { continue }
            // Under another name it might be shown.
            guard self[name] == shown[name] || !self[value].contains(Redactor.placeholder) else {
                throw Self.unknown(value)
            }
            form[value] = try restored(value, from: original, shown: shown)
        }
        return form
    }

    private static let texts = ["name", "headers", "text"] + Part.allCases.map(\.rawValue)

    private func restored(_ field: String, from original: RuleForm, shown: RuleForm) throws(RuleMistake) -> String {
        if self[field] == shown[field] { return original[field] }
        let (originals, shownLines) = (original.lines(field), shown.lines(field))
        var known: [String: [String]] = [:]
        if originals.count == shownLines.count {
            for (line, original) in zip(shownLines, originals).reversed() { known[line, default: []].append(original) }
        }
        var restored: [String] = []
        for line in lines(field) {
            guard line.contains(Redactor.placeholder) else {
                restored.append(line)
                continue
            }
            guard let original = known[line]?.popLast() else { throw Self.unknown(field) }
            restored.append(original)
        }
        return restored.joined(separator: "\n")
    }

    private static func unknown(_ field: String) -> RuleMistake {
        RuleMistake(
            field,
            "Write in full what is to stand for \(Redactor.placeholder): it is not shown here, and is kept only in a line that is not changed."
        )
    }
}

extension Redactor {
    /// What a whole URL, or a piece of one, is compared with.
    fileprivate func address(_ pattern: String) -> String {
        guard let mark = pattern.firstIndex(of: "?") else { return path(pattern) }
        return "\(path(String(pattern[..<mark])))?\(form(String(pattern[pattern.index(after: mark)...])))"
    }
}

extension String {
    var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
