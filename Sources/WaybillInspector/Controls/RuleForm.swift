import Foundation
import WaybillCore

import struct Waybill.MockedResponse
import struct Waybill.NetworkRule
import struct Waybill.RequestPattern
import struct Waybill.TextPattern
import struct Waybill.Throttle
import struct WaybillQueries.Measure

/// A rule as the fields of a form: what a page shows of it, and what a browser sends back.
struct RuleForm: Sendable, Hashable {
    /// By the names of the fields; those that are empty are not there.
    private(set) var values: [String: String] = [:]

    /// Conditions for a request that can have one each.
    enum Part: String, CaseIterable {
        case method, host, path, url, body

        var pattern: WritableKeyPath<RequestPattern, TextPattern?> {
            switch self {
            case .method: \.method
            case .host: \.host
            case .path: \.path
            case .url: \.url
            case .body: \.body
            }
        }
    }

    /// What a rule does.
    enum Action: String, CaseIterable {
        case mock, fail, throttle, cut
    }

    /// Conditions for header fields that a form has room for.
    static let fieldLimit = 20
    /// Bytes of a body that a form has room for.
    static let bodyLimit = 65_536

    subscript(field: String) -> String {
        get { values[field] ?? "" }
        set { values[field] = newValue.isEmpty ? nil : newValue }
    }

    /// That of a rule which is not there yet.
    init() {
        self["on"] = "yes"
        self["action"] = Action.mock.rawValue
        self["status"] = "200"
        self["code"] = "timedOut"
    }

    /// What a browser has sent: ends of lines are those of a rule again, not those of a form.
    init(sent items: [(name: String, value: String)]) {
        for (name, value) in items { self[name] = value.withoutReturns }
    }

    init(_ rule: NetworkRule) {
        self.init()
        self["name"] = rule.name
        self["on"] = rule.isEnabled ? "yes" : ""
        self["times"] = rule.times.map { "\($0)" } ?? ""
        for part in Part.allCases { set(part.rawValue, rule.matching[keyPath: part.pattern]) }
        for (index, (name, pattern)) in rule.matching.headerFields.sorted(by: { $0.key < $1.key }).enumerated() {
            self[Self.field(index)] = name
            set(Self.fieldValue(index), pattern)
        }
        switch rule.action {
        case .mock(let response): set(response)
        case .throttle(let throttle):
            self["action"] = Action.throttle.rawValue
            set("latency", throttle.latency, throttle.longestLatency)
            self["rate"] = throttle.bytesPerSecond.map { "\($0)" } ?? ""
        case .fail(let code, let delay, let longest):
            self["action"] = Action.fail.rawValue
            self["code"] = code.name ?? "\(code.rawValue)"
            set("after", delay, longest)
        case .cut(let count):
            self["action"] = Action.cut.rawValue
            self["bytes"] = "\(count)"
        }
    }

    /// The names of a header field's condition, and of its value.
    static func field(_ index: Int) -> String { "field-\(index)" }
    static func fieldValue(_ index: Int) -> String { "field-\(index)-value" }

    /// How many conditions for header fields there are, up to the last.
    var fieldCount: Int {
        (0..<Self.fieldLimit).last { !self[Self.field($0)].isEmpty || !self[Self.fieldValue($0)].isEmpty }.map {
            $0 + 1
        }
            ?? 0
    }

    /// Whether a condition is another one than in another form.
    func isSame(_ field: String, in other: RuleForm) -> Bool {
        [field, "\(field)-as", "\(field)-any-case"].allSatisfy { self[$0] == other[$0] }
    }

    private mutating func set(_ field: String, _ pattern: TextPattern?) {
        guard let pattern else { return }
        self[field] = pattern.text.withoutReturns
        self["\(field)-as"] = pattern.kind.rawValue
        self["\(field)-any-case"] = pattern.ignoresCase ? "yes" : ""
    }

    private mutating func set(_ response: MockedResponse) {
        self["action"] = Action.mock.rawValue
        self["status"] = "\(response.status)"
        self["headers"] = response.headerFields.map { "\($0.name): \($0.value)" }.joined(separator: "\n").withoutReturns
        self["text"] = response.shownBody?.withoutReturns ?? ""
        set("delay", response.delay, response.longestDelay)
    }

    private mutating func set(_ field: String, _ delay: Duration, _ longest: Duration?) {
        self[field] = delay > .zero ? Measure.duration.text(delay.microseconds) : ""
        self["\(field)-longest"] = longest.map { Measure.duration.text($0.microseconds) } ?? ""
    }
}

extension MockedResponse {
    /// The body, where a form can show it: it is text, and not too long.
    var shownBody: String? {
        body.count <= RuleForm.bodyLimit ? String(utf8: body) : nil
    }

    /// The first value of its field `Content-Type`; nil where it has none.
    var contentType: String? { headerFields.first { $0.name.lowercased() == "content-type" }?.value }
}

extension String {
    /// With the ends of lines of everything but forms and HTTP.
    fileprivate var withoutReturns: String { replacing("\r\n", with: "\n").replacing("\r", with: "\n") }
}

/// Why a form is no rule: one sentence, and the field that it is about.
struct RuleMistake: Error, Hashable {
    let field: String
    let sentence: String

    init(_ field: String, _ sentence: String) { (self.field, self.sentence) = (field, sentence) }
}

extension RuleForm {
    /// The rule that a form says.
    ///
    /// - Parameters:
    ///   - original: The rule that is edited, of which a condition or a body stays as it is where the form says the
    ///     same; nil: it is a new one.
    ///   - redactor: What the form was redacted by when it was shown.
    func rule(editing original: NetworkRule?, _ redactor: Redactor) throws(RuleMistake) -> NetworkRule {
        let before = original.map { RuleForm($0) }
        let form =
            if let before { try restored(from: before, shown: redactor.redacted(before).value) } else { self }
        let rule = NetworkRule(
            try form.name(), matching: try form.pattern(besides: before, original?.matching),
            try form.action(besides: before, original?.action), times: try form.number("times", from: 1),
            isEnabled: form["on"] == "yes")
        if let problem = rule.problems.first { throw RuleMistake("name", problem.message) }
        return rule
    }

    private func name() throws(RuleMistake) -> String {
        let name = self["name"].trimmed
        guard (1...Limits.labelLength).contains(name.unicodeScalars.count) else {
            throw RuleMistake("name", "Give the rule a name of 1 to \(Limits.labelLength) characters.")
        }
        return name
    }

    // MARK: Which requests

    private func pattern(besides before: RuleForm?, _ original: RequestPattern?) throws(RuleMistake) -> RequestPattern {
        var pattern = RequestPattern()
        for part in Part.allCases {
            let field = part.rawValue
            pattern[keyPath: part.pattern] =
                if let before, isSame(field, in: before) {
                    original?[keyPath: part.pattern]
                } else {
                    self[field].isEmpty ? nil : try text(field)
                }
        }
        for index in 0..<fieldCount {
            let (field, value) = (Self.field(index), Self.fieldValue(index))
            let name = self[field].trimmed
            guard !name.isEmpty else {
                guard self[value].isEmpty else {
                    throw RuleMistake(field, "Name the header field that “\(self[value])” is compared with.")
                }
                continue
            }
            guard pattern.headerFields[name] == nil else {
                throw RuleMistake(
                    field, "There are two conditions for “\(name)”: a rule has one for each header field.")
            }
            if let before, before[field] == name, isSame(value, in: before) {
                pattern.headerFields[name] = original?.headerFields[name]
            } else {
                try Self.checkName(name, field)
                pattern.headerFields[name] = try text(value)
            }
        }
        return pattern
    }

    private func text(_ field: String) throws(RuleMistake) -> TextPattern {
        let text = self[field]
        let ignoresCase = self["\(field)-any-case"] == "yes"
        let kind = TextPattern.Kind(rawValue: self["\(field)-as"]) ?? .exact
        let pattern: TextPattern =
            switch kind {
            case .exact: .exact(text, ignoresCase: ignoresCase)
            case .contains: .contains(text, ignoresCase: ignoresCase)
            case .glob: .glob(text, ignoresCase: ignoresCase)
            case .regex: .regex(text, ignoresCase: ignoresCase)
            }
        guard pattern.problem == nil else {
            throw RuleMistake(
                field,
                text.unicodeScalars.count > TextPattern.longestPattern
                    ? "A condition has \(TextPattern.longestPattern) characters at most."
                    : "“\(text)” is no regular expression: mend it, or choose another way to compare.")
        }
        return pattern
    }

    private static func checkName(_ name: String, _ field: String) throws(RuleMistake) {
        guard name.isToken, name.unicodeScalars.count <= Limits.nameLength else {
            throw RuleMistake(
                field, "“\(name)” cannot be the name of a header field: write it as in Content-Type: text/plain.")
        }
    }

    // MARK: What is done to them

    private func action(besides before: RuleForm?, _ original: NetworkRule.Action?) throws(RuleMistake)
        -> NetworkRule.Action
    {
        switch Action(rawValue: self["action"]) {
        case .mock:
            let kept: Data? =
                if let before, case .mock(let response) = original, self["text"] == before["text"] {
                    response.body
                } else { nil }
            return .mock(try response(keeping: kept))
        case .throttle:
            let (latency, longest) = try delay("latency")
            let rate: Int64? = try number("rate", from: 1)
            guard latency > .zero || longest != nil || rate != nil else {
                throw RuleMistake("latency", "Say how long a request waits, how fast bytes come, or both.")
            }
            return .throttle(Throttle(latency: latency, longestLatency: longest, bytesPerSecond: rate))
        case .fail:
            guard let code = Self.code(self["code"]) else {
                throw RuleMistake("code", "“\(self["code"])” is no error of a request: choose one of the list.")
            }
            let (delay, longest) = try delay("after")
            return .fail(code, after: delay, upTo: longest)
        case .cut: return .cut(afterByteCount: try number("bytes", from: 0) ?? 0)
        case nil: throw RuleMistake("action", "Choose what is done to the requests.")
        }
    }

    /// By its name, or, of one that has none, its number.
    private static func code(_ text: String) -> URLError.Code? {
        URLError.Code(name: text)
            ?? Int(text).flatMap { (-9999 ... -1).contains($0) ? URLError.Code(rawValue: $0) : nil }
    }

    private func response(keeping kept: Data?) throws(RuleMistake) -> MockedResponse {
        guard let status: Int = try number("status", from: 200), status <= 599 else {
            throw RuleMistake("status", "A status is a number from 200 to 599.")
        }
        var fields: [Fact.HeaderField] = []
        for line in lines("headers") where !line.trimmed.isEmpty {
            let (name, value) = Self.headerField(line)
            guard !name.isEmpty else {
                throw RuleMistake("headers", "“\(line)” is no header field: write a name, a colon and a value.")
            }
            try Self.checkName(name, "headers")
            guard value.unicodeScalars.count <= Limits.fieldLength else {
                throw RuleMistake("headers", "The value of “\(name)” has more than \(Limits.fieldLength) characters.")
            }
            fields.append(Fact.HeaderField(name: name, value: value))
        }
        guard fields.count <= Limits.headerFields else {
            throw RuleMistake("headers", "An answer has \(Limits.headerFields) header fields at most.")
        }
        let body = kept ?? Data(self["text"].utf8)
        guard kept != nil || body.count <= Self.bodyLimit else {
            throw RuleMistake(
                "text", "A body that is written here has \(Self.bodyLimit) bytes at most, and this has \(body.count).")
        }
        let (delay, longest) = try delay("delay")
        return MockedResponse(status: status, headerFields: fields, body: body, delay: delay, longestDelay: longest)
    }

    private func delay(_ field: String) throws(RuleMistake) -> (Duration, longest: Duration?) {
        let (shortest, longest) = (try time(field) ?? .zero, try time("\(field)-longest"))
        if let longest, longest < shortest {
            throw RuleMistake(
                "\(field)-longest", "The longest time is shorter than the shortest: leave it out, or give more.")
        }
        return (shortest, longest)
    }

    private func time(_ field: String) throws(RuleMistake) -> Duration? {
        let text = self[field].trimmed
        guard !text.isEmpty else { return nil }
        guard let microseconds = Measure.duration.read(text), microseconds <= Limits.largestInteger else {
            throw RuleMistake(field, "“\(text)” is no time: give 250ms, 1.5s or 2m.")
        }
        return .microseconds(microseconds)
    }

    private func number<Number: FixedWidthInteger>(
        _ field: String, from least: Number
    ) throws(RuleMistake) -> Number? {
        let text = self[field].trimmed
        guard !text.isEmpty else { return nil }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Number(text),
            (least...Number(clamping: Limits.largestInteger)).contains(number)
        else { throw RuleMistake(field, "“\(text)” is no number of \(least) or more.") }
        return number
    }
}
