import WaybillCore
import WaybillExport

import enum Waybill.RecordingMode

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
