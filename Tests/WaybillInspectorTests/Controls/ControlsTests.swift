import Foundation
import TestSupport
import Testing
import Waybill
import WaybillExport
import WaybillTesting

@testable import WaybillInspector

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 0
}

/// The page that changes an app's own process.
@Suite(.timeLimit(.minutes(5))) struct ControlsTests {
    private let transactions = TransactionManager.testing()
    private var inspector: Inspector { Inspector(transactions, hasControls: true) }

    private func get(_ path: String, of inspector: Inspector? = nil) async throws -> (status: Int, text: String) {
        try Self.read(await (inspector ?? self.inspector).respond(to: InspectorRequest(path: path)))
    }

    private static func read(_ response: InspectorResponse) throws -> (status: Int, text: String) {
        guard case .bytes(let bytes) = response.body else { throw WaybillError(.format, "It is no page.") }
        return (response.status, String(decoding: bytes, as: UTF8.self))
    }

    private func post(
        _ path: String, _ fields: [String: String], with others: [String: String] = [:], of inspector: Inspector? = nil
    ) async -> InspectorResponse {
        let form = fields.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        return await (inspector ?? self.inspector).respond(
            to: InspectorRequest(method: "POST", path: path, form: form.joined(separator: "&"), fields: others))
    }

    private func change(_ change: String, _ rule: String? = nil) async -> InspectorResponse {
        await post("/controls", ["change": change, "rule": rule.map { NetworkRule.id(of: $0) } ?? ""])
    }

    @Test func thePageIsThereOnlyForAProcessThatGivesItsControls() async throws {
        let folder = try TemporaryDirectory()
        let recording = TransactionManager(store: .directory(folder.url))
        recording.begin(Login.self).finish()
        try await recording.sync()
        let others = [Inspector(recording), try Inspector(file: folder.url)]
        for inspector in others {
            let local = ["host": "localhost"]
            for path in ["/controls", "/controls/rule", "/controls/rule/x"] {
                let page = await inspector.respond(to: InspectorRequest(path: path, fields: local))
                #expect(page.status == 404)
                #expect(try Self.read(page).text.contains("There is nothing at \(path)."))
                #expect(await post(path, ["change": "stop-recording"], with: local, of: inspector).status == 404)
            }
            let list = await inspector.respond(to: InspectorRequest(path: "/transactions", fields: local))
            #expect(list.status == 200)
            #expect(try !Self.read(list).text.contains("Controls"))
        }
        #expect(recording.recording == .on)
        let page = try await get("/transactions", of: Inspector(recording, hasControls: true)).text
        #expect(page.contains("<a href=\"controls\">Controls</a>"))
    }

    /// The page has no times, and a link to it in another time zone changed nothing.
    @Test func noTimeZoneIsOffered() async throws {
        for path in ["/controls", "/controls/rule"] {
            let page = try await get(path).text
            #expect(!page.contains("Times in") && !page.contains("zone="))
        }
    }

    @Test func recordingIsTurnedOffAndOn() async throws {
        #expect(try await get("/controls").text.contains("<b>Recording is on.</b>"))
        let off = await change("stop-recording")
        #expect(off.status == 303 && off.fields["Location"] == "/controls")
        #expect(transactions.recording == .off)
        transactions.begin(Login.self).finish()
        #expect(try transactions.transactions(Login.self).isEmpty)
        let page = try await get("/controls").text
        #expect(page.contains("<b>Recording is off.</b>") && page.contains(">Turn recording on<"))
        _ = await change("record")
        transactions.begin(Login.self).finish()
        #expect(try transactions.transactions(Login.self).count == 1)
    }

    /// Breaks when nobody can reach the switch because the page is empty.
    @Test func whereNothingWasRecordedThePageIsThereAllTheSame() async throws {
        let folder = try TemporaryDirectory()
        let manager = TransactionManager(store: .directory(folder.file("store"))) { $0.recording = .off }
        let off = Inspector(manager, hasControls: true)
        let list = try await get("/transactions", of: off)
        #expect(list.status == 404 && list.text.contains("Turn it on under Controls."))
        #expect(list.text.contains("<a href=\"controls\">Controls</a>"))
        #expect(try await get("/controls", of: off).status == 200)
        let disabled = try await get("/controls", of: Inspector(.disabled, hasControls: true))
        #expect(disabled.status == 200 && disabled.text.contains("This manager is disabled."))
        #expect(!disabled.text.contains("value=record"))
    }

    @Test func whatTurningItOffDoesBesidesIsSaid() async throws {
        #expect(try await get("/controls").text.contains("The next launch begins as the app's code has it."))
        let folder = try TemporaryDirectory()
        let manager = TransactionManager(store: .directory(folder.url)) { options in
            (options.remembersRecording, options.erasesPendingWhenOff) = (true, true)
        }
        let page = try await get("/controls", of: Inspector(manager, hasControls: true)).text
        #expect(page.contains("remembered for later launches. Turned off, it erases what is not delivered yet."))
    }

    @Test func rulesAreTurnedOffAndOnMovedAndRemoved() async throws {
        let rules = transactions.rules
        rules.add(["one", "two"].map { NetworkRule($0, .mock(NetworkRule.Response(status: 503))) })
        _ = await change("obey-rules")
        #expect(rules.isEnabled)
        _ = await change("stop-rules")
        #expect(!rules.isEnabled)
        let off = await change("disable", "one")
        #expect(off.fields["Location"] == "/controls#\(NetworkRule.id(of: "one"))")
        #expect(rules.all.map(\.isEnabled) == [false, true])
        _ = await change("enable", "one")
        #expect(rules.all.map(\.isEnabled) == [true, true])
        _ = await change("up", "two")
        #expect(rules.all.map(\.name) == ["two", "one"])
        _ = await change("down", "two")
        #expect(rules.all.map(\.name) == ["one", "two"])
        _ = await change("remove", "one")
        #expect(rules.all.map(\.name) == ["two"])
        #expect(await change("remove", "one").status == 404, "it was removed before")
        #expect(await change("explode").status == 400)
        #expect(rules.all.map(\.name) == ["two"])
    }

    @Test func aRuleIsAddedEditedAndActs() async throws {
        transactions.rules.isEnabled = true
        let added = await post(
            "/controls/rule",
            ["rule": #"{"name":"down","match":{"path":"/orders"},"mock":{"status":503,"text":"no"}}"#])
        #expect(added.fields["Location"] == "/controls#\(NetworkRule.id(of: "down"))")
        func sent() async throws -> (Int?, String) {
            let url = try #require(URL(string: "http://127.0.0.1:9/orders"))
            let (data, response) = try await transactions.session.data(from: url)
            return ((response as? HTTPURLResponse)?.statusCode, String(decoding: data, as: UTF8.self))
        }
        #expect(try await sent() == (503, "no"))
        let list = try await get("/controls").text
        #expect(list.contains("Requests whose path is “/orders” are answered with 503 and 2 B."))
        #expect(list.contains("Has acted on 1 request."))

        let page = try await get("/controls/rule/\(NetworkRule.id(of: "down"))")
        #expect(page.status == 200 && page.text.contains("&quot;path&quot; : &quot;/orders&quot;"))
        #expect(page.text.contains("&quot;text&quot; : &quot;no&quot;"))
        let edited = await post(
            "/controls/rule/\(NetworkRule.id(of: "down"))",
            ["rule": #"{"name":"up","match":{"path":"/orders"},"mock":{"text":"[]"}}"#])
        #expect(edited.status == 303)
        #expect(transactions.rules.all.map(\.name) == ["up"])
        #expect(try await sent() == (200, "[]"))
        #expect(try await get("/controls/rule/\(NetworkRule.id(of: "down"))").status == 404)
    }

    /// Breaks when a link of the page begins with another rule than it names, or an address without a template breaks
    /// the page.
    @Test func aNewRuleBeginsWithATemplate() async throws {
        for (query, member) in [
            ("", "mock"), ("template=mock", "mock"), ("template=fail", "fail"), ("template=throttle", "throttle"),
            ("template=cut", "cut"), ("template=explode", "mock"),
        ] {
            let request = InspectorRequest(path: "/controls/rule", query: query)
            let (status, page) = try Self.read(await inspector.respond(to: request))
            #expect(status == 200 && page.contains("&quot;\(member)&quot; : {"), "\(query)")
            for template in RuleTemplate.allCases { #expect(page.contains("href=\"?template=\(template)\"")) }
        }
    }

    @Test func aMistakeKeepsWhatWasTypedAndChangesNothing() async throws {
        transactions.rules.add(NetworkRule("there", .cut(afterByteCount: 1)))
        let before = transactions.rules.all
        let typed = #"{"name":"a <b>\"rule\"","match":{"path":"/x"},"mock":{"status":900,"text":"</textarea><i>"}}"#
        let outOfRange = "/mock/status: an integer from 200 to 599 was expected."
        for (path, text, sentence) in [
            ("/controls/rule", typed, outOfRange),
            (
                "/controls/rule",
                typed.replacing("900", with: "200").replacing(#"a <b>\"rule\""#, with: "there"),
                "/name: there is a rule “there” already; give this one another name."
            ),
            ("/controls/rule", typed + "\n}", "Line 2, column 1: text after the end of the document."),
            ("/controls/rule", "", "Line 1, column 1: the document ends too early."),
            ("/controls/rule/\(NetworkRule.id(of: "there"))", typed, outOfRange),
        ] {
            let (status, page) = try Self.read(await post(path, ["rule": text.replacing("\n", with: "\r\n")]))
            #expect(status == 400)
            #expect(page.contains("role=alert id=mistake>The rule was not saved. \(sentence)"), "\(sentence)")
            #expect(page.contains("aria-invalid=true aria-describedby=mistake autofocus"))
            let kept: HTML = ">\n\(text)</textarea>"
            #expect(page.contains(kept.text))
            #expect(!page.contains("<i>"))
        }
        #expect(transactions.rules.all == before)
        #expect(await post("/controls/rule/none", ["rule": typed]).status == 404)
    }

    /// Breaks when a page of another site, or of a host name rebound to this machine, can change an app's behavior.
    @Test(arguments: [
        (["host": "127.0.0.1:8080", "origin": "http://evil.example"], false),
        (["host": "127.0.0.1:8080", "origin": "null"], false),
        (["host": "127.0.0.1:8080", "sec-fetch-site": "cross-site"], false),
        (["host": "127.0.0.1:8080", "sec-fetch-site": "same-site"], false),
        (["host": "evil.example", "origin": "http://evil.example"], false),
        (["host": "evil.example", "sec-fetch-site": "same-origin"], false),
        (["origin": "https://evil.example"], false), (["origin": "null"], false),
        (["host": "127.0.0.1:8080", "origin": "http://127.0.0.1:8080"], true),
        (["host": "localhost", "sec-fetch-site": "same-origin"], true), (["origin": "waybill://app"], true),
        ([:], true),
    ])
    func onlyPagesOfItsOwnChangeAnything(fields: [String: String], isTaken: Bool) async throws {
        for (path, form) in [
            ("/controls", ["change": "stop-recording"]), ("/controls", ["change": "obey-rules"]),
            ("/controls/rule", ["rule": #"{"name":"planted","cut":{}}"#]),
        ] {
            let response = await post(path, form, with: fields)
            #expect(response.status == (isTaken ? 303 : 403), "\(path) \(form)")
        }
        #expect(transactions.recording == (isTaken ? .off : .on))
        #expect(transactions.rules.isEnabled == isTaken)
        #expect(transactions.rules.all.isEmpty == !isTaken)
    }

    /// Breaks when a page shows a secret from one of the app's rules, or in the sentence that explains why the rule
    /// does nothing.
    @Test func noPageTellsWhatARuleKeepsSecret() async throws {
        let secret = "hunter22sunny"
        transactions.rules.add([
            NetworkRule(
                "Bearer \(secret)",
                matching: RequestPattern(
                    path: .regex("token=\(secret)("), headerFields: ["Authorization": .contains(secret)]),
                .mock(.text(#"{"password":"\#(secret)"}"#))),
            NetworkRule(
                "cookies", .mock(NetworkRule.Response(headerFields: [HeaderField(name: "Set-Cookie", value: secret)]))),
        ])
        for path in ["/controls"] + transactions.rules.all.map({ "/controls/rule/\(NetworkRule.id(of: $0.name))" }) {
            let page = try await get(path)
            #expect(page.status == 200)
            #expect(page.text.contains("[redacted]") && !page.text.contains(secret), "\(path)")
        }
    }
}
