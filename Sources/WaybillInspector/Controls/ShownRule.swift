import WaybillCore
import WaybillExport

import struct Waybill.NetworkRule

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
