import Foundation
import Testing
import WaybillCore

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillStore

/// Spans received by OTLP are exported unchanged, whatever the facts keep of them.
@Suite(.timeLimit(.minutes(5))) struct OriginalSpanTests {
    private static let trace = GUIDs.next()
    private static let times = #""startTimeUnixNano":"1790000000000001999","endTimeUnixNano":"1790000000000901999""#

    /// Details that reports of neighboring projects found changed or lost.
    private static let bodies = [
        #""name":"charge the card","kind":3,"attributes":[{"key":"rpc.system","value":{"stringValue":"grpc"}},{"key":"rpc.service","value":{"stringValue":"pay.Pay"}},{"key":"rpc.method","value":{"stringValue":"Charge"}},{"key":"rpc.grpc.status_code","value":{"intValue":"14"}}]"#,
        #""name":"fetch users","kind":3,"attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.request.resend_count","value":{"intValue":"2"}},{"key":"url.full","value":{"stringValue":"https://api.example.com/users?page=1"}}]"#,
        #""name":"GET /orders/{id}","kind":2,"attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.route","value":{"stringValue":"/orders/{id}"}},{"key":"http.response.status_code","value":{"intValue":"200"}}]"#,
        #""name":"GET","kind":2,"attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.response.status_code","value":{"intValue":"500"}},{"key":"error.type","value":{"stringValue":"500"}}]"#,
        #""name":"render","kind":1,"status":{"code":1}"#,
        #""traceState":"v=1,waybill=u:3","flags":257,"name":"publish","kind":4,"attributes":[{"key":"tags","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b, c"}]}}},{"key":"map","value":{"kvlistValue":{"values":[{"key":"k","value":{"doubleValue":0.5}},{"key":"e","value":{}}]}}},{"key":"bytes","value":{"bytesValue":"aGk="}},{"key":"nan","value":{"doubleValue":"NaN"}},{"key":"big","value":{"intValue":"9223372036854775807"}}],"droppedAttributesCount":4"#,
        #""name":"load","kind":1,"status":{"code":2,"message":"upstream failed"},"events":[{"timeUnixNano":"1790000000000002123","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"java.io.IOException"}},{"key":"exception.message","value":{"stringValue":"no route"}}]}],"droppedEventsCount":2"#,
        #""name":"join","kind":5,"links":[{"traceId":"0199f3a25c007a118f3e6b1d2c3e4f51","spanId":"00f067aa0ba902b9","traceState":"a=1","flags":1,"attributes":[{"key":"why","value":{"stringValue":"batch"}}]}],"droppedLinksCount":1"#,
    ]

    private static let scope = #"{"name":"lib","version":"1","attributes":[{"key":"k","value":{"boolValue":true}}]}"#

    private static func json(_ spans: [String], scope: String = scope) -> String {
        let trace = trace.traceID ?? ""
        let spans = spans.enumerated().map { index, body in
            // All are children of the first one, which produces each kind of fact.
            let parent = index == 0 ? "" : #""parentSpanId":"00f067aa0ba90201","#
            return "{\"traceId\":\"\(trace)\",\"spanId\":\"00f067aa0ba9020\(index + 1)\",\(parent)\(times),\(body)}"
        }
        return
            "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"shop\"}}]},"
            + "\"scopeSpans\":[{\"spans\":[\(spans.joined(separator: ","))],\"scope\":\(scope)}]}]}"
    }

    /// Returns the spans that a store exports after it received a request.
    private func exported(_ request: String) throws -> [String: [String: Any]] {
        let store = try SpanStore()
        let verdict = try store.store.ingest(
            try TraceRequest.decode(json: Array(request.utf8), limit: 1000), receivedAt: SpanStore.wall)
        #expect(verdict.refusedCount == 0)
        let export = try store.reader.export(.after(ExportCursor()), as: .otlp)
        var spans: [String: [String: Any]] = [:]
        while let piece = try export.piece() {
            for line in piece.split(separator: 0x0A) {
                let document = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
                for resource in document?["resourceSpans"] as? [[String: Any]] ?? [] {
                    for scope in resource["scopeSpans"] as? [[String: Any]] ?? [] {
                        for var span in scope["spans"] as? [[String: Any]] ?? [] {
                            span["scope"] = scope["scope"]
                            let id = try #require(span["spanId"] as? String)
                            #expect(spans[id] == nil, "a span stands twice")
                            spans[id] = span
                        }
                    }
                }
            }
        }
        return spans
    }

    private func list(of span: [String: Any]?) -> [[String: Any]] { span?["attributes"] as? [[String: Any]] ?? [] }

    /// Each of them in turn is the root, which becomes a part.
    @Test(arguments: bodies.indices) func aSpanGoesOutAsItCame(_ first: Int) throws {
        let bodies = Array(Self.bodies[first...] + Self.bodies[..<first])
        let request = Self.json(bodies)
        let out = try exported(request)
        let came = try #require(try JSONSerialization.jsonObject(with: Data(request.utf8)) as? [String: Any])
        let resource = try #require((came["resourceSpans"] as? [[String: Any]])?.first)
        let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
        let spans = try #require(scope["spans"] as? [[String: Any]])
        #expect(out.count == spans.count)
        for span in spans {
            let id = try #require(span["spanId"] as? String)
            var sent = try #require(out[id])
            #expect((sent.removeValue(forKey: "scope") as? NSDictionary) == scope["scope"] as? NSDictionary)
            let own = list(of: sent).filter { ($0["key"] as? String)?.hasPrefix("waybill.") == true }
            #expect(!own.isEmpty, "something leads back to the store")
            sent["attributes"] = list(of: sent).filter { ($0["key"] as? String)?.hasPrefix("waybill.") != true }
            var expected = span
            expected["attributes"] = list(of: span)
            #expect(sent as NSDictionary == expected as NSDictionary)
        }
    }

    /// Secrets never reach the disk. Secrets that an older version stored are not exported.
    @Test func secretsAreTakenOutOfWhatIsKept() throws {
        let secrets =
            #""name":"pay","kind":3,"attributes":[{"key":"db.password","value":{"stringValue":"hunter2"}},{"key":"http.request.header.authorization","value":{"arrayValue":{"values":[{"stringValue":"hunter2"}]}}},{"key":"url.full","value":{"stringValue":"https://u:hunter2@a.example/x?access_token=hunter2&page=1"}},{"key":"nested","value":{"kvlistValue":{"values":[{"key":"api_key","value":{"stringValue":"hunter2"}},{"key":"ok","value":{"stringValue":"fine"}}]}}},{"key":"card","value":{"intValue":"4111111111111111"}}],"status":{"code":2,"message":"Bearer hunter2hunter2hunter2"},"events":[{"timeUnixNano":"1790000000000002123","name":"exception","attributes":[{"key":"exception.stacktrace","value":{"stringValue":"/home/hunter2.py"}}]}]"#
        let store = try SpanStore()
        _ = try store.store.ingest(
            try TraceRequest.decode(json: Array(Self.json([secrets]).utf8), limit: 10), receivedAt: SpanStore.wall)
        let kept = try store.store.connection.statement("SELECT original FROM spans").rows { row in row.text(0) }
        #expect(kept.count == 1 && kept.joined().contains("page=1") && kept.joined().contains("fine"))
        #expect(!kept.joined().contains("hunter2") && !kept.joined().contains("4111111111111111"))
        try store.store.connection.execute(
            """
            UPDATE spans SET original = '{"name":"mail to ada@example.com","startTimeUnixNano":"1790000000000001999",\
            "attributes":[{"key":"password","value":{"stringValue":"hunter2"}},{"key":"card","value":{"intValue":"4111111111111111"}}]}'
            """)
        let export = try store.reader.export(.after(ExportCursor()), as: .otlp)
        let text = String(decoding: try export.piece() ?? [], as: UTF8.self)
        #expect(!text.contains("hunter2") && !text.contains("ada@") && !text.contains("4111111111111111"))
        #expect(text.contains("1790000000000001999") && text.contains("[redacted]"))
    }

    /// The size of a span in a store is limited. OTLP's own fields count the omissions.
    @Test func aLargeSpanIsCutWhereOTLPCountsIt() throws {
        let long = String(repeating: "long text ", count: 400)
        let attributes = (0..<128).map { #"{"key":"a\#($0)","value":{"stringValue":"\#(long)"}}"# }.joined(
            separator: ",")
        let body = #""name":"big","kind":1,"attributes":[\#(attributes)],"droppedAttributesCount":3"#
        let span = try #require(try exported(Self.json([body])).values.first)
        let kept = list(of: span).filter { ($0["key"] as? String)?.hasPrefix("a") == true }
        #expect((1...10).contains(kept.count))
        #expect(span["droppedAttributesCount"] as? Int == 128 - kept.count + 3)
        #expect(span["name"] as? String == "big")
    }

    /// A damaged store exports spans made from facts.
    @Test func whatCannotBeReadAnyMoreIsMadeOfFacts() throws {
        let store = try SpanStore()
        _ = try store.store.ingest(
            try TraceRequest.decode(json: Array(Self.json([Self.bodies[4]]).utf8), limit: 10),
            receivedAt: SpanStore.wall)
        try store.store.connection.execute("UPDATE spans SET original = '{\"name\":'")
        let export = try store.reader.export(.after(ExportCursor()), as: .otlp)
        let text = String(decoding: try export.piece() ?? [], as: UTF8.self)
        #expect(text.contains(#""name":"render""#) && text.contains(#""spanId":"00f067aa0ba90201""#))
    }
}
