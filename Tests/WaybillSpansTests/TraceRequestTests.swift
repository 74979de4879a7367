import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillSpans

/// OTLP requests are read in either encoding, within limits. Anything else is reported as an error.
@Suite(.timeLimit(.minutes(5))) struct TraceRequestTests {
    private static let json = """
        {"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
          "schemaUrl": null, "scopeSpans": [{"scope": {"name": "x"}, "spans": [{
            "traceId": "0199f3a25c007a118f3e6b1d2c3e4f50", "spanId": "00f067aa0ba902b7", "parentSpanId": "00f067aa0ba902b8",
            "flags": 769, "name": "GET /a", "kind": 2, "startTimeUnixNano": "1790000000000001999", "endTimeUnixNano": 1790000000001,
            "attributes": [{"key": "n", "value": {"intValue": "-7"}}, {"key": "d", "value": {"doubleValue": 0.5}},
              {"key": "b", "value": {"boolValue": true}},
              {"key": "l", "value": {"arrayValue": {"values": [{"stringValue": "x"}, {"intValue": 2}]}}},
              {"key": "m", "value": {"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": "v"}}]}}}],
            "events": [{"name": "e", "timeUnixNano": "1790000000000002000"}],
            "links": [{"traceId": "0199f3a25c007a118f3e6b1d2c3e4f51", "spanId": "00f067aa0ba902b9"}],
            "status": {"code": 2, "message": "why"}, "droppedEventsCount": 3}]}]}]}
        """

    /// A message encoded as Protocol Buffers.
    private struct Message {
        var bytes: [UInt8] = []

        static func varint(_ value: UInt64) -> [UInt8] {
            var (bytes, rest): ([UInt8], UInt64) = ([], value)
            while rest > 0x7F {
                bytes.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            return bytes + [UInt8(rest)]
        }

        mutating func add(_ number: Int, _ content: [UInt8]) {
            bytes += Self.varint(UInt64(number << 3 | 2)) + Self.varint(UInt64(content.count)) + content
        }
        mutating func add(_ number: Int, _ text: String) { add(number, Array(text.utf8)) }
        mutating func add(_ number: Int, _ value: UInt64) {
            bytes += Self.varint(UInt64(number << 3)) + Self.varint(value)
        }
        mutating func addFixed(_ number: Int, _ value: UInt64, size: Int = 8) {
            bytes += Self.varint(UInt64(number << 3 | (size == 8 ? 1 : 5)))
            for shift in 0..<size { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * shift))) }
        }
        mutating func add(_ number: Int, _ fill: (inout Message) -> Void) {
            var message = Message()
            fill(&message)
            add(number, message.bytes)
        }
        mutating func attribute(_ number: Int, _ key: String, _ fill: (inout Message) -> Void) {
            add(number) { pair in
                pair.add(1, key)
                pair.add(2, fill)
            }
        }
    }

    private static func id(_ last: UInt8) -> [UInt8] { [0x00, 0xF0, 0x67, 0xAA, 0x0B, 0xA9, 0x02, last] }

    private static func trace(_ last: UInt8) -> [UInt8] {
        [0x01, 0x99, 0xF3, 0xA2, 0x5C, 0x00, 0x7A, 0x11, 0x8F, 0x3E, 0x6B, 0x1D, 0x2C, 0x3E, 0x4F, last]
    }

    private static var protobuf: [UInt8] {
        var request = Message()
        request.add(1) { resource in
            resource.add(1) { $0.attribute(1, "service.name") { $0.add(1, "shop") } }
            resource.add(2) { scope in
                scope.add(1) { $0.add(1, "x") }
                scope.add(2) { span in
                    span.add(1, trace(0x50))
                    span.add(2, id(0xB7))
                    span.add(4, id(0xB8))
                    span.add(5, "GET /a")
                    span.add(6, 2)
                    span.addFixed(7, 1_790_000_000_000_001_999)
                    span.addFixed(8, 1_790_000_000_001)
                    span.attribute(9, "n") { $0.add(3, UInt64(bitPattern: -7)) }
                    span.attribute(9, "d") { $0.addFixed(4, (0.5).bitPattern) }
                    span.attribute(9, "b") { $0.add(2, 1) }
                    span.attribute(9, "l") { value in
                        value.add(5) { list in
                            list.add(1) { $0.add(1, "x") }
                            list.add(1) { $0.add(3, 2) }
                        }
                    }
                    span.attribute(9, "m") { value in
                        value.add(6) { map in map.attribute(1, "k") { $0.add(1, "v") } }
                    }
                    span.add(11) { event in
                        event.addFixed(1, 1_790_000_000_000_002_000)
                        event.add(2, "e")
                    }
                    span.add(12, 3)
                    span.add(13) { link in
                        link.add(1, trace(0x51))
                        link.add(2, id(0xB9))
                    }
                    span.add(15) { status in
                        status.add(2, "why")
                        status.add(3, 2)
                    }
                    span.addFixed(16, 769, size: 4)
                }
            }
        }
        return request.bytes
    }

    @Test func bothEncodingsSayTheSame() throws {
        let request = try TraceRequest.decode(json: Array(Self.json.utf8), limit: 100)
        #expect(try TraceRequest.decode(protobuf: Self.protobuf, limit: 100) == request)
        let span = try #require(request.resources.first?.spans.first)
        #expect(request.resources[0].attributes == ["service.name": "shop"])
        #expect(span.transaction.description == "0199f3a2-5c00-7a11-8f3e-6b1d2c3e4f50")
        #expect(span.id.description == "00f067aa0ba902b7" && span.parent?.description == "00f067aa0ba902b8")
        #expect(span.kind == .server && span.isParentRemote == true && span.isRoot && span.hasFailed)
        #expect(span.startMicroseconds == 1_790_000_000_000_001)
        // An end before the start counts as the start.
        #expect(span.endMicroseconds == span.startMicroseconds)
        #expect(span.attributes.flat == ["n": -7, "d": 0.5, "b": true, "l": "x, 2", "m": #"{"k":"v"}"#])
        #expect(span.events.map(\.name) == ["e"] && span.links.count == 1 && span.statusMessage == "why")
        #expect(request.itemCount == 2)
    }

    /// Breaks when a sender's count of what it left out replaces the count of what is beyond the limits.
    @Test func whatIsBeyondTheLimitsIsCountedBesideWhatTheSenderLeftOut() throws {
        let (attributes, events) = (TraceRequest.attributeLimit + 2, TraceRequest.eventLimit + 2)
        func json(leftOut: Int) -> [UInt8] {
            func list(_ item: String, _ count: Int) -> String {
                Array(repeating: item, count: count).joined(separator: ",")
            }
            let text = """
                {"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0199f3a25c007a118f3e6b1d2c3e4f50",\
                "spanId":"00f067aa0ba902b7","name":"a","startTimeUnixNano":"1000","endTimeUnixNano":"2000",\
                "attributes":[\(list(#"{"key":"n","value":{"intValue":1}}"#, attributes))],\
                "droppedAttributesCount":\(leftOut),"events":[\(list(#"{"name":"e","timeUnixNano":"1"}"#, events))],\
                "droppedEventsCount":\(leftOut),\
                "links":[\(list(#"{"traceId":"0199f3a25c007a118f3e6b1d2c3e4f50","spanId":"00f067aa0ba902b8"}"#, events))],\
                "droppedLinksCount":\(leftOut)}]}]}]}
                """
            return Array(text.utf8)
        }
        var request = Message()
        request.add(1) { resource in
            resource.add(2) { scope in
                scope.add(2) { span in
                    span.add(1, Self.trace(0x50))
                    span.add(2, Self.id(0xB7))
                    span.add(5, "a")
                    span.addFixed(7, 1_000)
                    span.addFixed(8, 2_000)
                    for _ in 0..<attributes { span.attribute(9, "n") { $0.add(3, 1) } }
                    span.add(10, 3)
                    for _ in 0..<events {
                        span.add(11) { event in
                            event.addFixed(1, 1)
                            event.add(2, "e")
                        }
                    }
                    span.add(12, 3)
                    for _ in 0..<events {
                        span.add(13) { link in
                            link.add(1, Self.trace(0x50))
                            link.add(2, Self.id(0xB8))
                        }
                    }
                    span.add(14, 3)
                }
            }
        }
        let decoded = try TraceRequest.decode(protobuf: request.bytes, limit: 1_000)
        #expect(decoded.resources.first?.spans.count == 1)
        #expect(decoded == (try TraceRequest.decode(json: json(leftOut: 3), limit: 1_000)))
        #expect(decoded != (try TraceRequest.decode(json: json(leftOut: 1), limit: 1_000)))
    }

    @Test func whatIsCutOffOrChangedIsToldAndNeverRead() {
        let whole = Self.protobuf
        for count in 1..<whole.count {
            #expect(throws: SetDecodingFailure.self) {
                // A cut between fields of the outermost message would be valid, but this message has only one field.
                try TraceRequest.decode(protobuf: Array(whole.prefix(count)), limit: 100)
            }
        }
        var random = RandomNumbers(seed: 1)
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            // Decoding ends, and returns no more items than bytes.
            let request = try? TraceRequest.decode(protobuf: bytes, limit: 100)
            #expect((request?.itemCount ?? 0) <= bytes.count)
        }
    }

    @Test func ofSpansBeyondTheLimitOnlyTheNumberIsKept() throws {
        var request = Message()
        request.add(1) { resource in
            resource.add(2) { scope in for _ in 0..<500 { scope.add(2) { $0.add(5, "a") } } }
        }
        let read = try TraceRequest.decode(protobuf: request.bytes, limit: 100)
        #expect(read.itemCount == 500)
        #expect(read.faults == ["no trace ID of 16 bytes": 100])
    }

    @Test func aSpanHasOnlySoManyAttributesAndEvents() throws {
        let attributes = (0..<300).map { #"{"key":"a\#($0)","value":{"intValue":1}}"# }.joined(separator: ",")
        let events = (0..<300).map { #"{"name":"e\#($0)","timeUnixNano":"1790000000000000000"}"# }.joined(
            separator: ",")
        let json = """
            {"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0199f3a25c007a118f3e6b1d2c3e4f50",
            "spanId":"00f067aa0ba902b7","startTimeUnixNano":"1790000000000000000","attributes":[\(attributes)],
            "events":[\(events)]}]}]}]}
            """
        let span = try #require(
            try TraceRequest.decode(json: Array(json.utf8), limit: 1000).resources.first?.spans.first)
        #expect(span.attributes.flat.count == TraceRequest.attributeLimit)
        #expect(span.events.count == TraceRequest.eventLimit)
    }

    // MARK: Requests of other programs

    private func spans(_ spans: String...) throws -> TraceRequest {
        let ids = #""traceId":"0199f3a25c007a118f3e6b1d2c3e4f50","spanId":"00f067aa0ba902b7""#
        let json = spans.map { $0 == "null" ? $0 : "{\(ids),\($0)}" }.joined(separator: ",")
        let body = "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[\(json)]}]}]}"
        return try TraceRequest.decode(json: Array(body.utf8), limit: 100)
    }

    private static let times = #""startTimeUnixNano":1795634565041500123,"endTimeUnixNano":"1795634565046500000""#

    /// OTLP: "either numbers or strings are accepted when decoding". No time of this century is below 2^53.
    @Test func integersOf64BitsMayBeNumbers() throws {
        let request = try spans(
            #"\#(Self.times),"events":[{"name":"e","timeUnixNano":1795634565041500000}],"attributes":[{"key":"n","value":{"intValue":7}}]"#,
            #""startTimeUnixNano":1.7956345650415e18,"endTimeUnixNano":1795634565046500000"#)
        let span = try #require(request.resources.first?.spans.first)
        #expect(request.faults == [:] && request.resources.first?.spans.count == 2)
        #expect(span.startMicroseconds == 1_795_634_565_041_500 && span.endMicroseconds == 1_795_634_565_046_500)
        #expect(span.events.first?.nanoseconds == 1_795_634_565_041_500_000)
        #expect(span.attributes.flat == ["n": 7])
        // The nearest double is 96 ns less.
        #expect(request.resources.first?.spans.last?.startMicroseconds == 1_795_634_565_041_499)
    }

    /// A value never changes its sign.
    @Test(arguments: [
        (#"{"intValue":9223372036854775807}"#, AttributeValue.integer(.max)),
        (#"{"intValue":"-9223372036854775808"}"#, .integer(.min)),
        (#"{"intValue":"9223372036854775808"}"#, "9223372036854775808"),
        (#"{"intValue":18446744073709551616}"#, "18446744073709551616"),
        (#"{"doubleValue":100000000000000000}"#, 1e17), (#"{"doubleValue":"-Infinity"}"#, .double(-.infinity)),
        (#"{"doubleValue":1e999}"#, "1e999"),
        (#"{"stringValue":"a\ud83d b \ude00 \ud83d\ude00"}"#, "a\u{FFFD} b \u{FFFD} 😀"),
        (#"{"arrayValue":{"values":[{"intValue":"1"},null,{"intValue":2}]}}"#, "1, 2"),
    ]) func aValueIsReadAsItIs(json: String, value: AttributeValue) throws {
        let request = try spans(
            #"\#(Self.times),"attributes":[null,{"key":"a","value":\#(json)}],"events":[null],"links":[null]"#)
        #expect(request.faults == [:])
        #expect(request.resources.first?.spans.first?.attributes.flat == ["a": value])
    }

    @Test func enumsMayBeNames() throws {
        let request = try spans(#"\#(Self.times),"kind":"SPAN_KIND_CLIENT","status":{"code":"STATUS_CODE_ERROR"}"#)
        let span = try #require(request.resources.first?.spans.first)
        #expect(span.kind == .client && span.hasFailed)
    }

    /// An exporter does not resend a request that is refused as a whole, which would lose the good spans.
    @Test func aSpanThatCannotBeReadCostsNoOther() throws {
        let good = Self.times
        let request = try spans(
            good, "null", #"\#(good),"name":7"#, #"\#(good),"attributes":[{"key":"a","value":{"intValue":"x"}}]"#,
            #"\#(good),"kind":"SPAN_KIND_ODD""#, #""startTimeUnixNano":-1"#, #"\#(good),"parent_span_id":"""#, good)
        #expect(request.resources.first?.spans.count == 2)
        #expect(
            request.faults == [
                "it cannot be read: a string was expected": 1, "it cannot be read: an integer was expected": 1,
                "it cannot be read: a number, or a name such as SPAN_KIND_CONSUMER, was expected": 1,
                "it cannot be read: nanoseconds since 1970 in 64 bits were expected": 1,
                "it cannot be read: `parent_span_id` is no name of OTLP's JSON: use `parentSpanId`": 1,
            ])
        #expect(request.itemCount == 7)
    }

    /// Decoded as an empty request, this body would be answered with success.
    @Test(arguments: ["resource_spans", "scope_spans"]) func aBodyInSnakeCaseIsTold(name: String) {
        let body = name == "resource_spans" ? #"{"resource_spans":[]}"# : #"{"resourceSpans":[{"scope_spans":[]}]}"#
        let failure = #expect(throws: SetDecodingFailure.self) {
            try TraceRequest.decode(json: Array(body.utf8), limit: 100)
        }
        #expect(
            failure?.kind == .invalid
                && failure?.message.contains("use `\(name == "resource_spans" ? "resourceSpans" : "scopeSpans")`")
                    == true
        )
    }

    @Test func theAnswerSaysHowManyWereRefusedAndWhy() throws {
        var verdict = SpanVerdict()
        #expect(verdict.json == Array("{}".utf8) && verdict.protobuf.isEmpty)
        verdict.refuse(300, because: "its transaction was erased")
        verdict.refuse(because: "no start time")
        #expect(verdict.message == "300 spans: its transaction was erased; 1 span: no start time.")
        let expected = #"{"partialSuccess":{"rejectedSpans":"301","errorMessage":"\#(verdict.message ?? "")"}}"#
        #expect(String(decoding: verdict.json, as: UTF8.self) == expected)
        var message = Message()
        message.add(1) { partial in
            partial.add(1, 301)
            partial.add(2, verdict.message ?? "")
        }
        #expect(verdict.protobuf == message.bytes)
    }
}
