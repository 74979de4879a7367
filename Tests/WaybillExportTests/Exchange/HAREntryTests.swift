import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct HAREntryTests {
    private func document(_ records: [ExchangeRecord], bodies: ExchangeBodies = ExchangeBodies()) throws -> [String:
        Any]
    {
        var writer = ExchangeWriter(as: .har)
        var bytes = writer.beginning
        for record in records { bytes += writer.next(record, bodies: bodies) }
        bytes += writer.end
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private func entry(_ record: ExchangeRecord = SampleExchange.record(), bodies: ExchangeBodies = ExchangeBodies())
        throws -> Members
    {
        let log = try #require(try document([record], bodies: bodies)["log"] as? [String: Any])
        return Members(try #require((log["entries"] as? [[String: Any]])?.first))
    }

    @Test func anArchiveHasItsVersionItsCreatorAndItsEntries() throws {
        let log = Members(try document([SampleExchange.record(), SampleExchange.record()]))["log"]
        #expect(log["version"].text == "1.2")
        #expect(log["creator"]["name"].text == "Waybill")
        #expect((log.members["entries"] as? [Any])?.count == 2)
        #expect((Members(try document([]))["log"].members["entries"] as? [Any])?.count == 0)
    }

    /// Firefox's importer fails without pages, and groups entries by page.
    @Test func eachTransactionIsAPageOfItsEntries() throws {
        var outside = SampleExchange.record()
        (outside.transaction, outside.useCaseName) = (nil, nil)
        var later = SampleExchange.record { $0.openedMicroseconds += 1_000_000 }
        later.transaction = GUID()
        let first = SampleExchange.record()
        let log = Members(try document([first, outside, first, later]))["log"]
        let entries = try #require(log.members["entries"] as? [[String: Any]]).map { Members($0) }
        let pages = try #require(log.members["pages"] as? [[String: Any]]).map { Members($0) }
        #expect(
            entries.map { $0["pageref"].text } == [first, outside, first, later].map { $0.transaction?.description })
        #expect(pages.map { $0["id"].text } == [first, later].map { $0.transaction?.description })
        #expect(pages.first?["title"].text == "login \(SampleExchange.transaction.supportCode)")
        #expect(pages.first?["startedDateTime"].text == "2026-03-01T12:00:00.000017Z")
        #expect(pages.first?["pageTimings"]["onLoad"].number == -1)
        #expect((Members(try document([]))["log"].members["pages"] as? [Any])?.count == 0)
    }

    /// Breaks when a server's copy, whose scheme is unknown, shows each request twice.
    @Test func whatAServerReceivedIsLeftOutBesideWhatClientsSent() throws {
        let (client, server) = (
            SampleExchange.record(), SampleExchange.record { ($0.role, $0.url) = (.server, "/login") }
        )
        func urls(_ records: [ExchangeRecord]) throws -> [String?] {
            let bytes = Locked<[UInt8]>([])
            _ = try ExchangeExport(as: .har).write(
                { body in for record in records { try body(record, ExchangeBodies()) } },
                to: ExportOutput { piece in bytes.withLock { $0 += piece } })
            let document = try JSONSerialization.jsonObject(with: Data(bytes.withLock { $0 }))
            let entries = Members(document)["log"].members["entries"] as? [[String: Any]] ?? []
            return entries.map { Members($0)["request"]["url"].text }
        }
        #expect(try urls([server, client, server]) == [client.exchange.url])
        #expect(try urls([server]) == ["http://unknown.invalid/login"], "there is nothing else to show")
    }

    @Test func anEntrySaysWhatWasAskedAndAnswered() throws {
        let entry = try entry()
        #expect(entry["startedDateTime"].text == "2026-03-01T12:00:00.000017Z")
        #expect(entry["time"].number == 100.001)
        let (request, response) = (entry["request"], entry["response"])
        #expect(request["method"].text == "POST")
        #expect(request["url"].text == "https://api.example.com/login?page=1&q=a%20b")
        #expect(request["httpVersion"].text == "HTTP/2")
        #expect(request.pairs("queryString") == ["page=1", "q=a b"])
        #expect(request.pairs("headers") == ["Content-Type=application/json"])
        #expect(request["bodySize"].number == 17 && request["headersSize"].number == -1)
        #expect(response["status"].number == 200)
        #expect(response["content"]["size"].number == 2000)
        #expect(response["content"]["compression"].number == 1690)
        #expect(response["content"]["mimeType"].text == "application/json")
        #expect(response["bodySize"].number == 310)
        let own = entry["_waybill"]
        #expect(own["transaction"].text == SampleExchange.transaction.description)
        #expect(own["support_code"].text == SampleExchange.transaction.supportCode.description)
        #expect(own["use_case"].number == 0 && own["use_case_name"].text == "login")
        #expect(own["source"].text == SampleExchange.source.description && own["sequence"].number == 3)
        #expect(own["opened_us"].number == Double(SampleExchange.opened))
        #expect(own["state"].text == "completed")
    }

    /// Breaks when the network panel of a browser shows a WebSocket without its messages.
    @Test func theMessagesOfAWebSocketStandAsBrowsersWriteThem() throws {
        let record = SampleExchange.record {
            ($0.method, $0.url, $0.status) = ("GET", "wss://api.example.com/orders", 101)
            let messages: [Fact.WebSocket.Message] = [
                .init(atMicroseconds: $0.openedMicroseconds + 83, isSent: true, isText: true, byteCount: 5),
                .init(atMicroseconds: $0.openedMicroseconds + 983, isSent: false, isText: false, byteCount: 2),
                .init(atMicroseconds: $0.openedMicroseconds + 1983, isSent: false, isText: true, byteCount: 9),
            ]
            $0.transfer.webSocket = Fact.WebSocket(
                sentMessageCount: 1, receivedMessageCount: 2, closeCode: 1000, messages: messages)
        }
        func body(_ messages: [KeptMessage]) -> ExchangeBody {
            .whole(messages.flatMap(\.record), KeptMessage.contentType)
        }
        let bodies = ExchangeBodies(
            request: body([KeptMessage(1, Array(#"{"password":"hunter2"}"#.utf8), isText: true)]),
            response: body([KeptMessage(1, [0xFF, 0], isText: false)]))
        let entry = try entry(record, bodies: bodies)
        let messages = try #require(entry.members["_webSocketMessages"] as? [[String: Any]]).map { Members($0) }
        #expect(entry["_resourceType"].text == "websocket")
        #expect(messages.map { $0["type"].text } == ["send", "receive", "receive"])
        #expect(messages.map { $0["opcode"].number } == [1, 2, 1])
        #expect(messages.map { $0["_bytes"].number } == [5, 2, 9])
        #expect(
            messages.map { $0["data"].text } == [#"{"password":"[redacted]"}"#, "/wA=", ""],
            "redacted once more, Base64 of what is binary, and nothing of what was not kept")
        #expect(messages.first?["time"].number == 1_772_366_400.0001)
        #expect(entry["request"]["postData"].members.isEmpty, "what was said over it is no body")
        #expect(entry["response"]["content"]["text"].text == nil)
    }

    @Test func timingsAddUpToTheTimeWithTLSInsideTheConnecting() throws {
        let entry = try entry()
        let timings = entry["timings"]
        #expect(timings["blocked"].number == -1)
        #expect(timings["dns"].number == 2 && timings["connect"].number == 28 && timings["ssl"].number == 20)
        #expect(timings["send"].number == 0.5 && timings["wait"].number == 49.5 && timings["receive"].number == 20.001)
        let sum = ["dns", "connect", "send", "wait", "receive"].compactMap { timings[$0].number }.reduce(0, +)
        #expect(abs(sum - 100.001) < 1e-9)
        let bare = try self.entry(
            SampleExchange.record {
                $0.firstByteMicroseconds = nil
                $0.transfer = Fact.Transfer()
            })
        #expect(["dns", "connect", "ssl", "blocked"].map { bare["timings"][$0].number } == [-1, -1, -1, -1])
        #expect(["send", "wait", "receive"].map { bare["timings"][$0].number } == [0, 100.001, 0])
        #expect(bare["request"]["httpVersion"].text == "" && bare["response"]["bodySize"].number == 2000)
    }

    /// HAR's `bodySize` is the size on the wire, which is known for bodies without content encoding.
    @Test(arguments: [("gzip", -1.0), ("identity", 2000), (nil, 2000)])
    func theSizeOfAPlainBodyIsKnown(encoding: String?, size: Double) throws {
        let record = SampleExchange.record { exchange in
            exchange.transfer.receivedWireByteCount = nil
            if let encoding {
                exchange.responseHeaderFields.append(HeaderField(name: "content-encoding", value: encoding))
            }
        }
        #expect(try entry(record)["response"]["bodySize"].number == size)
        let unknown = SampleExchange.record { ($0.responseHeaderFields, $0.transfer) = ([], Fact.Transfer()) }
        #expect(try entry(unknown)["response"]["bodySize"].number == -1, "its encoding is not known")
    }

    /// Requests without an answer have status 0, as browsers write it, and give the reason.
    @Test(arguments: ExchangeRecord.State.allCases) func everyStateCanBeToldFromTheOthers(_ state: ExchangeRecord.State)
        throws
    {
        let record = SampleExchange.record(state) {
            guard state != .completed, state != .mocked else { return }
            ($0.state, $0.status, $0.firstByteMicroseconds, $0.receivedByteCount) = (
                state == .cancelled ? .cancelled : .failed, nil, nil, nil
            )
            $0.error = state == .failed ? RecordedError(domain: "NSURLErrorDomain", code: -1009) : nil
            if state == .inProgress || state == .interrupted { ($0.state, $0.closedMicroseconds) = (nil, nil) }
        }
        let entry = try entry(record)
        #expect(entry["_waybill"]["state"].text == state.rawValue)
        #expect(entry["response"]["status"].number == (state == .completed || state == .mocked ? 200 : 0))
        #expect((entry["comment"].text == nil) == (state == .completed))
        #expect((entry["response"]["_error"].text == "NSURLErrorDomain -1009") == (state == .failed))
        if state == .inProgress { #expect(entry["time"].number == 0 && entry["timings"]["wait"].number == 0) }
    }

    @Test func rulesStandUnderWaybill() throws {
        let own = try entry(
            SampleExchange.record(.mocked) { ($0.transfer.isMocked, $0.transfer.rule) = (true, "slow login") })[
                "_waybill"]
        #expect(own["mocked"].members.isEmpty && own.value("mocked") as? Bool == true)
        #expect(own["rule"].text == "slow login")
    }

    /// Each redirect response is its own entry with its target, as browsers write them.
    @Test(arguments: [(302, "GET"), (303, "GET"), (307, "POST")])
    func eachRedirectIsAnEntry(status: Int, method: String) throws {
        let record = SampleExchange.record {
            $0.transfer.redirects = [
                Fact.Redirect(
                    status: status, url: "https://b.example/", atMicroseconds: SampleExchange.opened + 40_000),
                // The clock went back: no duration may be negative.
                Fact.Redirect(status: 301, url: "https://c.example/?x=1", atMicroseconds: SampleExchange.opened),
            ]
        }
        let body = ExchangeBody.whole(Array(#"{"a":1}"#.utf8), "application/json")
        let log = Members(try document([record], bodies: ExchangeBodies(request: body, response: body)))["log"]
        let entries = try #require(log.members["entries"] as? [[String: Any]]).map { Members($0) }
        #expect(entries.map { $0["response"]["status"].number } == [Double(status), 301, 200])
        #expect(
            entries.map { $0["response"]["redirectURL"].text } == ["https://b.example/", "https://c.example/?x=1", ""])
        #expect(
            entries.map { $0["request"]["url"].text }
                == ["https://api.example.com/login?page=1&q=a%20b", "https://b.example/", "https://c.example/?x=1"])
        #expect(entries.map { $0["request"]["method"].text } == ["POST", method, "GET"])
        #expect(
            entries.map { $0["request"]["postData"]["text"].text }
                == [#"{"a":1}"#, method == "POST" ? #"{"a":1}"# : nil, nil])
        #expect(entries.map { $0["request"]["bodySize"].number } == [17, method == "POST" ? 17 : 0, 0])
        #expect(entries.map { $0["response"]["content"]["text"].text } == [nil, nil, #"{"a":1}"#])
        let times = entries.compactMap { $0["time"].number }
        #expect(times == [40, 0, 60.001])
        #expect(entries.map { $0["_waybill"]["redirect"].number } == [1, 2, nil])
        #expect(Set(entries.map { $0["pageref"].text }).count == 1)
    }

    @Test func bodiesAreTextOrBase64AndSayWhatIsMissing() throws {
        let bodies = ExchangeBodies(
            request: ExchangeBody.whole(Array(#"{"a":"é"}"#.utf8), "application/json"),
            response: ExchangeBody(
                contentType: "image/png", bytes: [0xFF, 0x00, 0x80], byteCount: 2000, omission: .limit))
        let entry = try entry(bodies: bodies)
        #expect(entry["request"]["postData"]["text"].text == #"{"a":"é"}"#)
        #expect(entry["request"]["postData"]["mimeType"].text == "application/json")
        let content = entry["response"]["content"]
        #expect(content["text"].text == "/wCA" && content["encoding"].text == "base64")
        #expect(content["comment"].text == "The first 3 B of 2.0 kB were kept." && content["_omission"].text == "limit")
    }

    @Test(arguments: [(ExchangeBody.Omission.type, "no text"), (.encoding, "compressed")])
    func aBodyThatWasNotKeptSaysWhy(omission: ExchangeBody.Omission, word: String) throws {
        let body = ExchangeBody(contentType: "image/png", bytes: [], byteCount: 2000, omission: omission)
        let entry = try entry(bodies: ExchangeBodies(request: body, response: body))
        #expect(entry["request"].members["postData"] == nil)
        #expect(entry["response"]["content"].members["text"] == nil)
        #expect(entry["response"]["content"]["comment"].text?.contains(word) == true)
    }

    /// HAR requires a URL with scheme and host; a server may know neither.
    @Test(arguments: [
        ("/login?x=1", "http://unknown.invalid/login?x=1"), ("localhost:8080/login", "http://localhost:8080/login"),
    ])
    func aURLIsAbsolute(url: String, expected: String) throws {
        #expect(try entry(SampleExchange.record { $0.url = url })["request"]["url"].text == expected)
    }

    /// Rule 8: exports are redacted, whatever was stored.
    @Test func nothingSecretLeavesAlsoWhereItWasStored() throws {
        let secret = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
        let record = SampleExchange.record {
            $0.url = "https://api.example.com/a?token=\(secret)&page=1"
            $0.requestHeaderFields = [
                HeaderField(name: "Authorization", value: "Bearer \(secret)"),
                HeaderField(name: "Cookie", value: "sid=\(secret)"),
            ]
            $0.error = RecordedError(domain: "d", code: 1, text: "refused \(secret)")
            $0.transfer.redirects = [
                Fact.Redirect(status: 302, url: "https://b.example/?access_token=\(secret)", atMicroseconds: 1)
            ]
            $0.transfer.rule = secret
        }
        let body = ExchangeBody.whole(Array(#"{"password":"hunter2","page":"\#(secret)"}"#.utf8), "application/json")
        for format in ExchangeFormat.allCases {
            var writer = ExchangeWriter(as: format)
            let text = String(
                decoding: writer.next(record, bodies: ExchangeBodies(request: body, response: body)), as: UTF8.self)
            #expect(text.contains("page"))
            #expect(!text.contains("dozjgNryP4J3") && !text.contains("hunter2"), "\(format)")
        }
    }

    @Test(arguments: HostileText.corpus) func whateverWasRecordedIsAnEntry(_ text: String) throws {
        let record = SampleExchange.record {
            $0.method = text
            $0.url = "https://host.example/\(text)?\(text)=\(text)"
            $0.requestHeaderFields = [HeaderField(name: text, value: text)]
        }
        #expect(
            try entry(record, bodies: ExchangeBodies(response: ExchangeBody.whole(Array(text.utf8))))["request"]["url"]
                .text != nil)
    }
}

/// Access to the members of a JSON object, as far as they exist.
private struct Members {
    let members: [String: Any]
    private let scalar: Any?

    init(_ value: Any?) {
        members = value as? [String: Any] ?? [:]
        scalar = value
    }

    subscript(name: String) -> Members { Members(members[name]) }
    func value(_ name: String) -> Any? { members[name] }
    var text: String? { scalar as? String }
    var number: Double? { (scalar as? NSNumber)?.doubleValue }

    /// Returns the names and values of a list of pairs.
    func pairs(_ name: String) -> [String] {
        (members[name] as? [[String: Any]] ?? []).map { "\($0["name"] ?? "")=\($0["value"] ?? "")" }
    }
}
