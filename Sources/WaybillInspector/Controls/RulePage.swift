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
