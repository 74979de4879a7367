import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

import struct Waybill.NetworkRule
import class Waybill.NetworkRules
import struct Waybill.RecordingHealth
import struct Waybill.RequestPattern
import struct Waybill.TextPattern
import class Waybill.TransactionManager

extension InspectorControls {
    private var main: HTML {
        """
        <h1>Controls</h1>
        <p class=said>They are for this process alone, and for as long as it runs.</p>
        <div class=controls>\(switches)\(list)</div>

        """
    }

    private var switches: HTML {
        guard let settings = manager.sources.settings else {
            return """
                <section class=panel><h2>Recording</h2><p><b>This manager is disabled.</b> It records nothing, obeys no rules, and \
                cannot be turned on.</section>
                """
        }
        let isOn = manager.recording == .on
        let words: HTML =
            isOn
            ? "<b>Recording is on.</b> What happens is recorded."
            : "<b>Recording is off.</b> Nothing is recorded; requests are sent as ever."
        let held: HTML =
            settings.mark != nil
            ? "What is chosen here is remembered for later launches."
            : "The next launch begins as the app's code has it."
        let erased: HTML =
            isOn && settings.options.erasesPendingWhenOff ? " Turned off, it erases what is not delivered yet." : ""
        return """
            <section class=panel><h2>Recording</h2><p>\(words)<p class=why>\(held)\(erased)\
            \(button(isOn ? .stopRecording : .record, isOn ? "Turn recording off" : "Turn recording on"))</section>
            """
    }

    private var list: HTML {
        let (rules, hits) = (manager.rules.all, manager.rules.hits)
        let words: HTML =
            manager.rules.isEnabled
            ? "<b>Rules are on.</b> Of those that are enabled and match a request, the first acts, alone."
            : "<b>Rules are off.</b> Requests are sent as they are."
        let power: HTML =
            manager.sources.settings == nil
            ? "" : manager.rules.isEnabled ? button(.stopRules, "Turn rules off") : button(.obeyRules, "Turn rules on")
        let lines: HTML =
            rules.isEmpty
            ? "<p class=none>There are no rules.</p>"
            : "<ol class=rules>\(rules.enumerated().map { line($0.element, hits[$0.element.name] ?? 0, at: $0.offset, of: rules.count) })</ol>"
        return """
            <section class="panel rules"><h2>Rules</h2><p>\(words)<p class=why>They answer, fail or slow down what the app sends with its \
            captured sessions. The next launch has those of the app's code.\(power)\(lines)\
            <p><a class=copier href="controls/rule">Add a rule</a></section>
            """
    }

    private func line(_ rule: NetworkRule, _ hits: Int, at index: Int, of count: Int) -> HTML {
        let problems = rule.problems.map { "<p class=bad>\(redactor.text($0.message))" as HTML }
        let name = redactor.text(rule.name)
        let requests = redactor.redacted(rule).value.matching.sentence
        func button(_ change: ControlChange, _ label: String) -> HTML { self.button(change, label, (rule.id, name)) }
        return """
            <li id="\(rule.id)" tabindex=-1\(" class=off", if: !rule.isEnabled)><h3>\(name)</h3>\
            <p>\(requests) \(rule.effect).<p class=why>\(rule.isEnabled ? "Enabled." : "Not enabled.") \(rule.use(hits))\(problems)\
            <div class=actions>\(button(rule.isEnabled ? .disable : .enable, rule.isEnabled ? "Disable" : "Enable"))\
            <a class=copier href="controls/rule/\(rule.id)" aria-label="Edit “\(name)”">Edit</a>\
            \(button(.up, "Up"), if: index > 0)\(button(.down, "Down"), if: index < count - 1)\
            <details class=sure><summary aria-label="Remove “\(name)”">Remove</summary>\
            \(button(.remove, "Remove it for good"))</details></div>
            """
    }

    private func button(_ change: ControlChange, _ label: String, _ rule: (id: String, name: String)? = nil) -> HTML {
        let target: HTML = rule.map { "<input type=hidden name=rule value=\"\($0.id)\">" } ?? ""
        // Screen readers announce the rule too. The name begins with the visible label.
        let name: HTML = rule.map { " aria-label=\"\(label) “\($0.name)”\"" } ?? ""
        return """
            <form method=post action=controls>\(target)<button name=change value=\(change.rawValue)\(name)>\(label)</button></form>
            """
    }
}

extension NetworkRule {
    /// A hash identifies the rule in addresses, since its name may contain a secret.
    var id: String { Self.id(of: name) }

    static func id(of name: String) -> String {
        String(SHA256.base64(Array(name.utf8)).filter { $0.isLetter || $0.isNumber }.prefix(20))
    }

    fileprivate var effect: String {
        switch action {
        case .mock(let response):
            "are answered with \(response.status)"
                + (response.body.isEmpty ? "" : " and \(Words.byteCount(response.body.count))")
                + Self.time(" after ", response.delay, response.maximumDelay)
        case .throttle(let throttle):
            "are slowed down" + Self.time(": they wait ", throttle.latency, throttle.maximumLatency)
                + (throttle.bytesPerSecond.map { ", at \($0) bytes a second" } ?? "")
        case .fail(let code, let delay, let longest):
            "fail with \(code.name ?? "\(code.rawValue)")" + Self.time(" after ", delay, longest)
        case .cut(let count): "lose their connection after \(count) bytes of the answer"
        }
    }

    private static func time(_ words: String, _ shortest: Duration, _ longest: Duration?) -> String {
        guard shortest > .zero || longest != nil else { return "" }
        let times = [shortest, longest].compactMap { $0.map { Measure.duration.text($0.microseconds) } }
        return words + times.joined(separator: " to ")
    }

    fileprivate func use(_ hits: Int) -> String {
        let count = hits == 0 ? "Has not acted yet" : "Has acted on \(Words.count(hits, "request"))"
        guard let times else { return "\(count)." }
        return hits >= times
            ? "\(count), all that it is for." : "\(count), and is for the first \(Words.count(times, "request"))."
    }
}

extension RequestPattern {
    fileprivate var sentence: String {
        let parts = Self.parts.map { ($0.name, self[keyPath: $0.pattern]) }
        let conditions = (parts + fieldConditions.map { ($0.name, $0.pattern) }).compactMap { name, pattern in
            pattern.map { "\(name) \($0.comparison) “\($0.text)”\($0.ignoresCase ? " in any case" : "")" }
        }
        return conditions.isEmpty ? "All requests" : "Requests whose \(conditions.joined(separator: ", whose "))"
    }
}

extension TextPattern {
    fileprivate var comparison: String {
        switch kind {
        case .exact: "is"
        case .contains: "contains"
        case .glob: "is like"
        case .regex: "matches the expression"
        }
    }
}

enum ControlChange: String {
    case record, stopRecording = "stop-recording"
    case obeyRules = "obey-rules", stopRules = "stop-rules"
    case enable, disable, up, down, remove
}

package struct InspectorControls: Sendable {
    let manager: TransactionManager
    var root = ""

    var redactor: Redactor { manager.sources.settings?.redactor ?? Redactor() }

    private static let ruleLimit = 200

    private var rules: NetworkRules { manager.rules }

    private var frame: InspectorFrame {
        let app = manager.sources.settings?.describe(GUID()).app ?? ""
        return InspectorFrame(store: app, isLoggedIn: false, hasControls: true, root: root)
    }

    func page() -> InspectorResponse { .page(frame.page("Controls", .controls, main: main)) }

    func change(_ request: InspectorRequest) throws(InspectorProblem) -> InspectorResponse {
        try request.checkChange()
        let form = request.sentForm
        let asked = form["change"] ?? ""
        guard let change = ControlChange(rawValue: asked) else {
            throw InspectorProblem(400, "Bad Request", "There is no change “\(asked)”: use the buttons of the page.")
        }
        let id = form["rule"] ?? ""
        func name() throws(InspectorProblem) -> String { try rule(id).name }
        switch change {
        case .record: manager.recording = .on
        case .stopRecording: manager.recording = .off
        case .obeyRules: rules.isEnabled = true
        case .stopRules: rules.isEnabled = false
        case .enable: rules.setEnabled(true, named: try name())
        case .disable: rules.setEnabled(false, named: try name())
        case .up: rules.move(named: try name(), by: -1)
        case .down: rules.move(named: try name(), by: 1)
        case .remove: rules.remove(named: try name())
        }
        let place = rules.all.contains { $0.id == id } ? "#\(id)" : ""
        return .seeOther("\(request.root)/controls\(place)")
    }

    func rulePage(_ id: String?, _ request: InspectorRequest) throws(InspectorProblem) -> InspectorResponse {
        let template = request.address["template"].flatMap(RuleTemplate.init(rawValue:)) ?? .mock
        let rule = try edited(id) ?? template.rule
        return .page(RulePage(redactor.redacted(rule), isNew: id == nil, in: frame).html)
    }

    /// Saves the JSON of a rule and redirects to the page. After a mistake, returns the page of the rule again.
    func save(_ id: String?, _ request: InspectorRequest) throws(InspectorProblem) -> InspectorResponse {
        try request.checkChange()
        let edited = try edited(id)
        // Forms send CR LF, but HTML text drops CR.
        let text = (request.sentForm["rule"] ?? "").replacing("\r\n", with: "\n")
        do throws(WaybillError) {
            let rule = try NetworkRule(typed: text, editing: edited, redactor)
            try put(rule, inPlaceOf: edited)
            return .seeOther("\(request.root)/controls#\(rule.id)")
        } catch {
            return .page(RulePage(typed: text, isNew: edited == nil, error, in: frame).html, status: 400)
        }
    }

    private func put(_ rule: NetworkRule, inPlaceOf edited: NetworkRule?) throws(WaybillError) {
        let all = rules.all
        if rule.name != edited?.name, all.contains(where: { $0.name == rule.name }) {
            throw WaybillError(
                .setting, "/name: there is a rule “\(rule.name)” already; give this one another name")
        }
        guard let edited else {
            guard all.count < Self.ruleLimit else {
                throw WaybillError(.setting, "There are \(all.count) rules; remove one first")
            }
            return rules.add(rule)
        }
        // The app can remove a rule at any time.
        if !rules.replace(named: edited.name, with: rule) { rules.add(rule) }
    }

    private func edited(_ id: String?) throws(InspectorProblem) -> NetworkRule? {
        guard let id else { return nil }
        return try rule(id)
    }

    private func rule(_ id: String) throws(InspectorProblem) -> NetworkRule {
        guard let rule = rules.all.first(where: { $0.id == id }) else {
            throw .notFound("There is no such rule any more: it was removed or has another name now.")
        }
        return rule
    }
}

extension InspectorRequest {
    /// Rejects forms from other sites, and from names rebound to this machine. A web view sends no `Host` field.
    func checkChange() throws(InspectorProblem) {
        try checkOrigin()
        guard fields["host"] == nil || isForLoopback else {
            throw .forbidden("This is changed from this machine alone: ask for 127.0.0.1 or localhost.")
        }
    }
}
