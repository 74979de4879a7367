import WaybillCore
import WaybillExport

import struct Waybill.NetworkRule

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
