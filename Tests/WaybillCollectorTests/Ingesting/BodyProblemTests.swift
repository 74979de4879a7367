#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
import WaybillQueries

/// Bodies that aren't valid sets: each gets a problem document, and none is stored.
@Suite(.timeLimit(.minutes(5))) struct BodyProblemTests {
    private let folder: TemporaryDirectory
    private let collector: Collector
    private let set = LoginHistory().clientSet()

    init() throws {
        folder = try TemporaryDirectory()
        var limits = CollectorLimits()
        limits.bodyByteCount = 4096
        collector = try Collector(folder: folder.url, limits: limits)
    }

    @Test(arguments: [
        ("empty", Data()), ("cut off", Data(#"{"id": "01890a5d"#.utf8)), ("two documents", Data("{} {}".utf8)),
        ("not UTF-8", Data([0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D])),
        ("UTF-16", Data([0xFE, 0xFF, 0x00, 0x7B, 0x00, 0x7D])),
        ("deeply nested", Data(String(repeating: "[", count: 4000).utf8)), ("no JSON", Data("set=1&facts=2".utf8)),
    ])
    func malformedBodiesAreA400(name: String, body: Data) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let response = try await server.post(body)
            response.expectProblem(400, "Bad Request")
            #expect(response.json?["pointer"] is String)
            try await expectNothingKept(server)
        }
    }

    @Test(arguments: [
        ("{}", ""), ("[]", ""), (#"{"set": 7, "sources": [{}]}"#, "/set"),
        (#"{"set": "01890a5d-ac96-774b-bcce-b302099a8057", "sources": {}}"#, "/sources"),
        (#"{"set": "01890a5d-ac96-774b-bcce-b302099a8057", "sources": [{"source": "x"}]}"#, "/sources/0/source"),
    ])
    func jsonThatIsNoEnvelopeIsA422WithWhere(body: String, pointer: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let response = try await server.post(Data(body.utf8))
            response.expectProblem(422, "Unprocessable Content")
            #expect(response.json?["pointer"] as? String == pointer)
            try await expectNothingKept(server)
        }
    }

    @Test func aStatedLengthBeyondTheLimitIsA413BeforeAnyByteOfIt() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let client = try RawClient(port: server.port)
            try await client.send(
                RawClient.head("POST", "/v1/sets", headers: ["Content-Type": TransactionSet.mediaType], length: 4097))
            let response = try await client.response()
            response.expectProblem(413, "Content Too Large")
            #expect(response.json?["limit"] as? Int == 4096)
        }
    }

    @Test func aBodyOfUnstatedLengthIsA413OnceItIsTooLarge() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let client = try RawClient(port: server.port)
            let headers = ["Content-Type": TransactionSet.mediaType, "Transfer-Encoding": "chunked"]
            try await client.send(RawClient.head("POST", "/v1/sets", headers: headers))
            for _ in 0..<5 { try await client.send(Data("400\r\n\(String(repeating: " ", count: 1024))\r\n".utf8)) }
            // The collector answers although the body has not ended.
            try await client.response().expectProblem(413, "Content Too Large")
        }
    }

    @Test func aBodyAtTheLimitIsTaken() async throws {
        try await CollectorServer.run(collector) { server async throws in
            var body = Data(set.encoded())
            try #require(body.count < 4096)
            body += Data(repeating: UInt8(ascii: " "), count: 4096 - body.count)
            #expect(try await server.post(body).status == 200)
            #expect(try await server.post(body + Data(" ".utf8)).status == 413)
        }
    }

    @Test(arguments: [nil, "", "application/json", "text/plain", "application/vnd.waybill.transaction-set.v2+json"])
    func anotherContentTypeIsA415ThatSaysWhatIsTaken(type: String?) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let response = try await server.post(Data(set.encoded()), type: type)
            response.expectProblem(415, "Unsupported Media Type")
            #expect(response.json?["accept"] as? [String] == [TransactionSet.mediaType])
            #expect(response.header("Accept") == TransactionSet.mediaType)
            try await expectNothingKept(server)
        }
    }

    @Test(arguments: ["br", "deflate", "gzip, gzip"])
    func anotherContentEncodingIsA415(coding: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let response = try await server.post(Data(set.encoded()), headers: ["Content-Encoding": coding])
            response.expectProblem(415, "Unsupported Media Type")
            #expect(response.header("Accept-Encoding") == "gzip, identity")
        }
    }

    @Test(arguments: ["; charset=utf-8", " ;charset=UTF-8"])
    func parametersOfTheContentTypeDoNotMatter(parameters: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let type = TransactionSet.mediaType.replacing("vnd.waybill", with: "VND.Waybill") + parameters
            #expect(try await server.post(Data(set.encoded()), type: type).status == 200)
        }
    }

    private func expectNothingKept(_ server: CollectorServer) async throws {
        #expect(try await server.value("/v1/sources", as: RecordPage<SourceRecord>.self).rows.isEmpty)
    }
}

extension RawClient.Response {
    /// Expects an RFC 9457 problem document with this status, and nothing else.
    func expectProblem(_ status: Int, _ title: String, location: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, sourceLocation: location)
        #expect(header("Content-Type") == "application/problem+json", sourceLocation: location)
        #expect(json?["type"] as? String == "about:blank", sourceLocation: location)
        #expect(json?["status"] as? Int == status, sourceLocation: location)
        #expect(json?["title"] as? String == title, sourceLocation: location)
        #expect((json?["detail"] as? String)?.hasSuffix(".") == true, sourceLocation: location)
    }
}
#endif
