import WaybillCore
import WaybillExport

import struct Foundation.URLError
import struct Waybill.NetworkRule
import struct Waybill.RequestPattern

struct RulePage {
    private let text: String
    private let isNew: Bool
    private let mistake: WaybillError?
    private let frame: InspectorFrame

    init(_ rule: Redacted<NetworkRule>, isNew: Bool, in frame: InspectorFrame) {
        self.init(typed: String(decoding: rule.value.json, as: UTF8.self), isNew: isNew, nil, in: frame)
    }

    init(typed text: String, isNew: Bool, _ mistake: WaybillError?, in frame: InspectorFrame) {
        (self.text, self.isNew, self.mistake, self.frame) = (text, isNew, mistake, frame)
    }

    private var title: String { isNew ? "New rule" : "Edit a rule" }

    var html: HTML { frame.page(title, .controls, main: main) }

    private var main: HTML {
        let told: HTML =
            mistake.map { "<p class=bad role=alert id=mistake>The rule was not saved. \(Self.sentence($0.message))" }
            ?? ""
        let marks: HTML = mistake == nil ? "" : " aria-invalid=true aria-describedby=mistake autofocus"
        // Browsers drop the first line break in a text area.
        return """
            <h1>\(title)</h1>\(told)\(templates, if: isNew)
            <form class=rule method=post><label>Rule as JSON <textarea name=rule rows=18 maxlength=\(Self.textLimit) required \
            autocapitalize=off autocomplete=off spellcheck=false\(marks)>
            \(text)</textarea></label>\(placeholder, if: !isNew && text.contains(Redactor.placeholder))\
            <div class=actions><button>Save</button><a class=copier rel=up href="\(frame.root)controls">Cancel</a></div></form>
            <section class="panel members"><h2>What a rule contains</h2>\
            <dl>\(Self.members.map { "<dt><code>\($0.name)</code><dd>\($0.meaning)" as HTML })</dl></section>

            """
    }

    private static let textLimit = 1 << 18

    private static func sentence(_ message: String) -> String {
        message.prefix(1).uppercased() + message.dropFirst() + (message.hasSuffix(".") ? "" : ".")
    }

    private var templates: HTML {
        let links = RuleTemplate.allCases.map { template in
            "<a class=copier href=\"?template=\(template.rawValue)\">\(template.label)</a>" as HTML
        }
        return "<div class=actions>Start with: \(links)</div>"
    }

    private var placeholder: HTML {
        """
        <p class=why>\(Redactor.placeholder) stands for what is not shown: a secret, or a body that is binary or longer than \
        \(Words.byteCount(NetworkRule.bodyLimit)). A line or a header field that you don't change keeps its value.
        """
    }

    private static let members: [(name: String, meaning: String)] = [
        ("name", "The name in lists and records. No two rules have the same one."),
        (
            "match",
            "Conditions for method, host, path, url, body and headers. All of them must be met. Without any, every request matches."
        ),
        (
            #""path": "/login""#,
            """
            A condition: the whole text. The others are {"contains": "log"}, {"glob": "/v*/login"} with * and ?, and \
            {"regex": "^/v[12]/"}. Add "ignores_case": true to match capital and small letters alike.
            """
        ),
        (#""headers": {"Accept": "*/*"}"#, "In match: a condition for each header field."),
        ("times", "The number of requests that the rule acts on. Without it: all."),
        ("disabled", "true if the rule does not act at present."),
        ("mock", "Answers the request instead of sending it: status, headers, delay_us, and a body as text or base64."),
        (
            "fail",
            "Fails the request instead of sending it: code, delay_us. The codes are \(URLError.Code.allNames.joined(separator: ", "))."
        ),
        ("throttle", "Sends the request slowly: latency_us, bytes_per_second."),
        ("cut", "Sends the request, and breaks off the answer: after_bytes."),
        (
            "delay_us",
            """
            In microseconds: 250000 is a quarter of a second. With longest_delay_us or longest_latency_us beside it, each request draws a \
            time between the two.
            """
        ),
    ]
}

enum RuleTemplate: String, CaseIterable {
    case mock, fail, throttle, cut

    var label: String {
        switch self {
        case .mock: "Answer it"
        case .fail: "Fail it"
        case .throttle: "Slow it down"
        case .cut: "Cut the answer"
        }
    }

    var rule: NetworkRule {
        NetworkRule("new rule", matching: RequestPattern(method: "GET", path: .glob("/v1/*")), action)
    }

    private var action: NetworkRule.Action {
        switch self {
        case .mock: .mock(.text(#"{"error":"maintenance"}"#, status: 503, delay: .milliseconds(250)))
        case .fail: .fail(.notConnectedToInternet, after: .seconds(1))
        case .throttle: .throttle(NetworkRule.Throttle(latency: .seconds(1), bytesPerSecond: 20_000))
        case .cut: .cut(afterByteCount: 1000)
        }
    }
}
