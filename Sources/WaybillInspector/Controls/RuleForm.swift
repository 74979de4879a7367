import Foundation
import WaybillCore

import struct Waybill.MockedResponse
import struct Waybill.NetworkRule
import struct Waybill.RequestPattern
import struct Waybill.TextPattern
import struct Waybill.Throttle
import struct WaybillReading.Measure

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
