import Foundation
package import WaybillCore

package import struct Waybill.NetworkRule
package import struct Waybill.RequestPattern
package import struct Waybill.TextPattern

extension RequestPattern {
    typealias Part = (name: String, pattern: WritableKeyPath<RequestPattern, TextPattern?>)

    static var parts: [Part] {
        [("method", \.method), ("host", \.host), ("path", \.path), ("url", \.url), ("body", \.body)]
    }

    var fieldConditions: [(name: String, pattern: TextPattern)] {
        headerFields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

extension NetworkRule: Redactable {
    /// The maximum size of a body that a page shows or accepts, in bytes.
    static let bodyLimit = 65_536

    /// The placeholder also replaces binary bodies and those above ``bodyLimit``.
    package mutating func redact(by redactor: Redactor) {
        name.redact(by: redactor)
        matching.method = matching.method?.redacted(by: redactor.text)
        matching.host = matching.host?.redacted(by: redactor.text)
        matching.path = matching.path?.redacted(by: redactor.path)
        matching.url = matching.url?.redacted(by: redactor.address)
        matching.body = matching.body?.redacted(by: redactor.text)
        for (name, pattern) in matching.headerFields {
            matching.headerFields[name] = pattern.redacted { redactor.value($0, named: name) }
        }
        if case .mock(var response) = action {
            response.body = redactor.shownBody(of: response)
            response.headerFields = response.headerFields.map {
                HeaderField(name: $0.name, value: redactor.value($0.value, named: $0.name))
            }
            action = .mock(response)
        }
    }
}

extension TextPattern {
    fileprivate func redacted(by redact: (String) -> String) -> TextPattern {
        let shown = TextPattern(kind, redact(text), ignoresCase: ignoresCase)
        // An invalid regular expression would prevent people from saving the rule.
        return shown == self || shown.problem == nil
            ? shown : TextPattern(kind, Redactor.placeholder, ignoresCase: ignoresCase)
    }
}

extension Redactor {
    fileprivate func address(_ pattern: String) -> String {
        guard let mark = pattern.firstIndex(of: "?") else { return path(pattern) }
        return "\(path(String(pattern[..<mark])))?\(form(String(pattern[pattern.index(after: mark)...])))"
    }

    fileprivate func shownBody(of response: NetworkRule.Response) -> Data {
        guard response.body.count <= NetworkRule.bodyLimit, String(utf8: response.body) != nil else {
            return Data(Self.placeholder.utf8)
        }
        let type = response.headerFields.first { $0.name.lowercased() == "content-type" }?.value
        let body = body(Array(response.body), contentType: type, keepsBinary: true)
        return Data(text(String(decoding: body, as: UTF8.self)).utf8)
    }
}

extension NetworkRule {
    /// Parses the JSON of a rule that was shown redacted, or of a new rule if `original` is `nil`.
    init(typed text: String, editing original: NetworkRule?, _ redactor: Redactor) throws(WaybillError) {
        self = try NetworkRule(json: Data(text.utf8))
        try checkLimits()
        if let original { try restore(from: original, shown: redactor.redacted(original).value) }
        // The message can quote a restored secret.
        if let problem = problems.first { throw WaybillError(.setting, redactor.text(problem.message)) }
    }

    /// Applies limits to typed rules that documents of rules don't have.
    private func checkLimits() throws(WaybillError) {
        func check(_ isRight: Bool, _ message: @autoclosure () -> String) throws(WaybillError) {
            guard isRight else { throw WaybillError(.format, message()) }
        }
        func checkName(_ name: String, _ place: String) throws(WaybillError) {
            try check(
                name.isToken && name.unicodeScalars.count <= Limits.nameLength,
                "\(place): “\(name)” can't be the name of a header field; write a name such as Content-Type")
        }
        try check(
            name.contains { !$0.isWhitespace }, "/name: a name of 1 to \(Limits.labelLength) characters was expected")
        for (name, _) in matching.fieldConditions { try checkName(name, "/match/headers") }
        guard case .mock(let response) = action else { return }
        try check(
            response.headerFields.count <= Limits.headerFields,
            "/mock/headers: an answer has at most \(Limits.headerFields) header fields")
        for (index, field) in response.headerFields.enumerated() {
            try checkName(field.name, "/mock/headers/\(index)/0")
            try check(
                field.value.unicodeScalars.count <= Limits.fieldLength,
                "/mock/headers/\(index)/1: the value of “\(field.name)” has more than \(Limits.fieldLength) characters")
        }
        try check(
            response.body.count <= Self.bodyLimit,
            "/mock: a body has at most \(Self.bodyLimit) bytes, and this one has \(response.body.count)")
    }

    /// Restores redacted values that are unchanged. Throws if the placeholder is in a changed line or field, since
    /// saving it would lose the secret.
    private mutating func restore(from original: NetworkRule, shown: NetworkRule) throws(WaybillError) {
        name = try Self.restored(name, from: original.name, shown: shown.name, at: "/name")
        for part in RequestPattern.parts {
            func text(_ rule: NetworkRule) -> String { rule.matching[keyPath: part.pattern]?.text ?? "" }
            guard let pattern = matching[keyPath: part.pattern] else { continue }
            let text = try Self.restored(
                pattern.text, from: text(original), shown: text(shown), at: "/match/\(part.name)")
            matching[keyPath: part.pattern] = TextPattern(pattern.kind, text, ignoresCase: pattern.ignoresCase)
        }
        func conditions(_ rule: NetworkRule) -> [HeaderField] {
            rule.matching.fieldConditions.map { HeaderField(name: $0.name, value: $0.pattern.text) }
        }
        for field in try Self.restored(
            conditions(self), from: conditions(original), shown: conditions(shown), at: "/match/headers")
        {
            guard let pattern = matching.headerFields[field.name] else { continue }
            matching.headerFields[field.name] = TextPattern(
                pattern.kind, field.value, ignoresCase: pattern.ignoresCase)
        }
        guard case .mock(var response) = action, case .mock(let before) = original.action,
            case .mock(let seen) = shown.action
        else { return }
        response.headerFields = try Self.restored(
            response.headerFields, from: before.headerFields, shown: seen.headerFields, at: "/mock/headers")
        if response.body == seen.body {
            response.body = before.body
        } else if let body = String(utf8: response.body) {
            let text = try Self.restored(
                body, from: String(utf8: before.body), shown: String(decoding: seen.body, as: UTF8.self),
                at: "/mock/text")
            response.body = Data(text.utf8)
        }
        action = .mock(response)
    }

    private static func restored(
        _ text: String, from original: String?, shown: String, at place: String
    ) throws(WaybillError) -> String {
        func lines(_ text: String) -> [HeaderField] {
            text.split(separator: "\n", omittingEmptySubsequences: false).map { .init(name: "", value: String($0)) }
        }
        let restored = try restored(
            lines(text), from: original.map(lines) ?? [], shown: lines(shown), at: place)
        return restored.map(\.value).joined(separator: "\n")
    }

    /// Restores header fields, or the lines of a text as fields without names.
    private static func restored(
        _ sent: [HeaderField], from original: [HeaderField], shown: [HeaderField], at place: String
    ) throws(WaybillError) -> [HeaderField] {
        if sent == shown { return original }
        guard original != shown else { return sent }
        var known: [HeaderField: [HeaderField]] = [:]
        if original.count == shown.count {
            for (field, original) in zip(shown, original).reversed() { known[field, default: []].append(original) }
        }
        return try sent.map { (field) throws(WaybillError) in
            guard field.value.contains(Redactor.placeholder) else { return field }
            guard let original = known[field]?.popLast() else {
                throw WaybillError(
                    .format,
                    "\(place): write in full what \(Redactor.placeholder) stands for; it is kept only in a line or a header field that you don't change"
                )
            }
            return original
        }
    }
}
