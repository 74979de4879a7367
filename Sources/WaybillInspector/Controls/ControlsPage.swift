import WaybillCore
import WaybillExport

import struct Waybill.NetworkRule
import class Waybill.NetworkRules
import enum Waybill.RecordingMode
import class Waybill.TransactionManager

/// Whether this process records, and its rules.
struct ControlsPage {
    /// What turning recording off and on does besides.
    struct Effects: Sendable, Hashable {
        var isRemembered = false
        var offErasesPending = false
        /// Nothing can be turned on.
        var isDisabled = false

        static let disabled = Effects(isDisabled: true)
    }

    private let recording: RecordingMode
    private let effects: Effects
    private let hasRules: Bool
    private let rules: [ShownRule]
    private let frame: InspectorFrame

    /// - Parameters:
    ///   - hasRules: Whether rules are on.
    ///   - rules: In order of precedence.
    init(
        recording: RecordingMode, _ effects: Effects, hasRules: Bool, _ rules: Redacted<[ShownRule]>,
        in frame: InspectorFrame
    ) {
        (self.recording, self.effects, self.hasRules) = (recording, effects, hasRules)
        (self.rules, self.frame) = (rules.value, frame)
    }

    /// The whole document.
    var html: HTML { frame.page("Controls", .controls, main: main) }

    private var main: HTML {
        """
        <h1>Controls</h1>
        <p class=said>They are for this process alone, and for as long as it runs.</p>
        <div class=controls>\(switches)\(list)</div>

        """
    }

    private var switches: HTML {
        guard !effects.isDisabled else {
            return """
                <section class=panel><h2>Recording</h2><p><b>This manager is disabled.</b> It records nothing, obeys no rules, and \
                cannot be turned on.</section>
                """
        }
        let isOn = recording == .on
        let words: HTML =
            isOn
            ? "<b>Recording is on.</b> What happens is recorded."
            : "<b>Recording is off.</b> Nothing is recorded; requests are sent as ever."
        let held: HTML =
            effects.isRemembered
            ? "What is chosen here is remembered for later launches."
            : "The next launch begins as the app's code has it."
        let erased: HTML = isOn && effects.offErasesPending ? " Turned off, it erases what is not delivered yet." : ""
        return """
            <section class=panel><h2>Recording</h2><p>\(words)<p class=why>\(held)\(erased)\
            \(button(isOn ? .stopRecording : .record, isOn ? "Turn recording off" : "Turn recording on"))</section>
            """
    }

    private var list: HTML {
        let words: HTML =
            hasRules
            ? "<b>Rules are on.</b> Of those that are enabled and match a request, the first acts, alone."
            : "<b>Rules are off.</b> Requests are sent as they are."
        let power: HTML =
            effects.isDisabled
            ? "" : button(hasRules ? .stopRules : .obeyRules, hasRules ? "Turn rules off" : "Turn rules on")
        let lines: HTML =
            rules.isEmpty
            ? "<p class=none>There are no rules.</p>"
            : "<ol class=rules>\(rules.enumerated().map { line($0.element, at: $0.offset) })</ol>"
        return """
            <section class="panel rules"><h2>Rules</h2><p>\(words)<p class=why>They answer, fail or slow down what the app sends with its \
            captured sessions. The next launch has those of the app's code.\(power)\(lines)\
            <p><a class=copier href="controls/rule">Add a rule</a></section>
            """
    }

    private func line(_ rule: ShownRule, at index: Int) -> HTML {
        let problems = rule.problems.map { "<p class=bad>\($0)" as HTML }
        return """
            <li id="\(rule.id)" tabindex=-1\(" class=off", if: !rule.isEnabled)><h3>\(rule.name)</h3>\
            <p>\(rule.requests) \(rule.effect).<p class=why>\(rule.isEnabled ? "Enabled." : "Not enabled.") \(rule.use)\(problems)\
            <div class=actions>\(button(rule.isEnabled ? .disable : .enable, rule.isEnabled ? "Disable" : "Enable", rule))\
            <a class=copier href="controls/rule/\(rule.id)" aria-label="Edit “\(rule.name)”">Edit</a>\
            \(button(.up, "Up", rule), if: index > 0)\(button(.down, "Down", rule), if: index < rules.count - 1)\
            \(removal(rule))</div>
            """
    }

    /// What cannot be taken back is asked for twice, without script, too.
    private func removal(_ rule: ShownRule) -> HTML {
        """
        <details class=sure><summary aria-label="Remove “\(rule.name)”">Remove</summary>\
        \(button(.remove, "Remove it for good", rule))</details>
        """
    }

    /// A form of its own: it works without script.
    private func button(_ change: ControlChange, _ label: String, _ rule: ShownRule? = nil) -> HTML {
        let target: HTML = rule.map { "<input type=hidden name=rule value=\"\($0.id)\">" } ?? ""
        // What is read out says of which rule, and begins with what is seen.
        let name: HTML = rule.map { " aria-label=\"\(label) “\($0.name)”\"" } ?? ""
        return """
            <form method=post action=controls>\(target)<button name=change value=\(change.rawValue)\(name)>\(label)</button></form>
            """
    }
}

/// What a button of the page does.
enum ControlChange: String {
    case record, stopRecording = "stop-recording"
    case obeyRules = "obey-rules", stopRules = "stop-rules"
    // Of one rule.
    case enable, disable, up, down, remove
}

/// What can be changed of this process: whether its manager records, and the rules that its sessions obey.
package struct InspectorControls: Sendable {
    private let manager: TransactionManager

    init(_ manager: TransactionManager) { self.manager = manager }

    /// The app's, for the pages' head.
    var name: String { manager.sources.settings?.describe(GUID()).app ?? "" }

    var redactor: Redactor { manager.sources.settings?.redactor ?? Redactor() }

    var rules: NetworkRules { manager.rules }

    var recording: RecordingMode {
        get { manager.recording }
        nonmutating set { manager.recording = newValue }
    }

    /// What turning it off and on does besides.
    var effects: ControlsPage.Effects {
        guard let settings = manager.sources.settings else { return .disabled }
        return .init(isRemembered: settings.mark != nil, offErasesPending: settings.offErasesPending)
    }
}

/// What the pages show and do.
extension InspectorControls {
    private static let ruleLimit = 200

    private var frame: InspectorFrame { InspectorFrame(store: name, isLoggedIn: false, hasControls: true) }

    func page() -> InspectorResponse {
        let hits = rules.hits
        let shown = rules.all.map { ShownRule($0, hits: hits[$0.name] ?? 0) }
        let page = ControlsPage(
            recording: recording, effects, hasRules: rules.isOn, redactor.redacted(shown), in: frame)
        return .page(page.html)
    }

    /// Does what a button says, and leads back to the page.
    func change(_ request: InspectorRequest) throws(InspectorProblem) -> InspectorResponse {
        try request.checkChange()
        let items = request.formItems
        let asked = items.last { $0.name == "change" }?.value ?? ""
        guard let change = ControlChange(rawValue: asked) else {
            throw InspectorProblem(400, "Bad Request", "There is no change “\(asked)”: use the buttons of the page.")
        }
        var place = ""
        switch change {
        case .record: recording = .on
        case .stopRecording: recording = .off
        case .obeyRules: rules.isOn = true
        case .stopRules: rules.isOn = false
        case .enable, .disable, .up, .down, .remove:
            let id = items.last { $0.name == "rule" }?.value ?? ""
            let name = try rule(id).name
            switch change {
            case .enable: rules.setEnabled(true, named: name)
            case .disable: rules.setEnabled(false, named: name)
            case .up: rules.move(named: name, by: -1)
            case .down: rules.move(named: name, by: 1)
            case .record, .stopRecording, .obeyRules, .stopRules, .remove: rules.remove(named: name)
            }
            if change != .remove { place = "#\(id)" }
        }
        return .seeOther("\(request.root)/controls\(place)")
    }

    /// The form of a rule.
    ///
    /// - Parameter id: nil: of a new one.
    func rulePage(_ id: String?) throws(InspectorProblem) -> InspectorResponse {
        let edited = try id.map { (id) throws(InspectorProblem) in try rule(id) }
        let form = redactor.redacted(edited.map { RuleForm($0) } ?? RuleForm())
        return .page(RulePage(form, isNew: edited == nil, hiddenBody: edited?.hiddenBody, in: frame).html)
    }

    /// Saves the form of a rule, and leads back to the page; with a mistake in it, the form comes once more.
    ///
    /// - Parameter id: nil: of a new one.
    func save(_ id: String?, _ request: InspectorRequest) throws(InspectorProblem) -> InspectorResponse {
        try request.checkChange()
        let edited = try id.map { (id) throws(InspectorProblem) in try rule(id) }
        let form = RuleForm(sent: request.formItems)
        do throws(RuleMistake) {
            let rule = try form.rule(editing: edited, redactor)
            try put(rule, inPlaceOf: edited)
            return .seeOther("\(request.root)/controls#\(ShownRule.id(of: rule.name))")
        } catch {
            let page = RulePage(sent: form, isNew: edited == nil, error, hiddenBody: edited?.hiddenBody, in: frame)
            return .page(page.html, status: 400)
        }
    }

    private func put(_ rule: NetworkRule, inPlaceOf edited: NetworkRule?) throws(RuleMistake) {
        let all = rules.all
        if rule.name != edited?.name, all.contains(where: { $0.name == rule.name }) {
            throw RuleMistake("name", "There is a rule “\(rule.name)” already: give this one another name.")
        }
        guard let edited else {
            guard all.count < Self.ruleLimit else {
                throw RuleMistake("name", "There are \(all.count) rules: remove one first.")
            }
            return rules.add(rule)
        }
        // The app may have removed it since.
        if !rules.replace(named: edited.name, with: rule) { rules.add(rule) }
    }

    private func rule(_ id: String) throws(InspectorProblem) -> NetworkRule {
        guard let rule = rules.all.first(where: { ShownRule.id(of: $0.name) == id }) else {
            throw .notFound("There is no such rule any more: it was removed or has another name now.")
        }
        return rule
    }
}

extension NetworkRule {
    /// What is said of a body that a form cannot show; nil: it can, or there is none.
    fileprivate var hiddenBody: String? {
        guard case .mock(let response) = action, response.shownBody == nil else { return nil }
        return """
            The body of \(Words.byteCount(response.body.count)) is no text, or too long to be shown here. It stays as it is unless you write \
            another one.
            """
    }
}

extension InspectorRequest {
    /// Refuses what no page of this process sends: a form of another site, or one to a name that was turned to this
    /// machine. In a web view nothing carries a field `Host`.
    func checkChange() throws(InspectorProblem) {
        try checkOrigin()
        guard fields["host"] == nil || isForLoopback else {
            throw .forbidden("This is changed from this machine alone: ask for 127.0.0.1 or localhost.")
        }
    }
}
