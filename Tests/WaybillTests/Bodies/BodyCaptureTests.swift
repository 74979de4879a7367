import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore
import WaybillTesting

@testable import Waybill

/// The bodies that a policy keeps.
@Suite(.timeLimit(.minutes(5))) struct BodyCaptureTests {
    private func manager(_ policy: BodyPolicy?) -> TransactionManager {
        .testing { options in
            options.diagnostics = { _ in }
            options.network.bodies = policy
        }
    }

    private func request(_ url: String = "https://api.example.com/v1/login", type: String = "application/json") throws
        -> ExchangeRequest
    {
        ExchangeRequest(
            method: "POST", url: try #require(URL(string: url)),
            headerFields: [HeaderField(name: "content-type", value: type)])
    }

    private func response(_ fields: [String: String] = ["Content-Type": "application/json"]) -> ExchangeResponse {
        ExchangeResponse(status: 200, headerFields: fields.map { HeaderField(name: $0.key, value: $0.value) })
    }

    /// Records one exchange whose bodies arrive in small pieces.
    private func record(
        _ request: ExchangeRequest, _ sent: Data, _ response: ExchangeResponse, _ received: Data,
        by tx: TransactionManager,
        size: Int = 7, end: (ExchangeRecorder) -> Void = { $0.finish() }
    ) -> FactID {
        let exchange = tx.openExchange(request)
        for start in stride(from: 0, to: sent.count, by: size) { exchange.sent(sent.dropFirst(start).prefix(size)) }
        exchange.responded(response)
        for start in stride(from: 0, to: received.count, by: size) {
            exchange.received(received.dropFirst(start).prefix(size))
        }
        end(exchange)
        return FactID(source: tx.sources.current?.id ?? GUID(), sequence: exchange.sequence)
    }

    private func text(_ body: ExchangeBody?) -> String? { body.map { String(decoding: $0.bytes, as: UTF8.self) } }

    @Test func noBodyIsKeptUnlessAskedFor() async throws {
        let tx = manager(nil)
        let id = record(try request(), Data("{}".utf8), response(), Data("{}".utf8), by: tx)
        #expect(try await tx.body(of: id, .request) == nil)
        #expect(try await tx.body(of: id, .response) == nil)
    }

    @Test func bothBodiesAreKeptWithoutTheirSecrets() async throws {
        let tx = manager(BodyPolicy())
        let sent = Data(#"{"user":"bob","password":"hunter2"}"#.utf8)
        let id = record(try request(), sent, response(), Data(#"{"token":"x","ok":true}"#.utf8), by: tx)
        let question = try #require(try await tx.body(of: id, .request))
        #expect(text(question) == #"{"user":"bob","password":"[redacted]"}"#)
        #expect(
            question.isWhole && question.byteCount == Int64(sent.count) && question.contentType == "application/json")
        #expect(text(try await tx.body(of: id, .response)) == #"{"token":"[redacted]","ok":true}"#)
        #expect(tx.health.isGood)
    }

    /// Breaks when a body goes where facts go: to a collector that was never asked to keep one.
    @Test func aBodyIsInNoSetAndNoSnapshot() async throws {
        let transport = InMemoryTransport()
        let tx = manager(BodyPolicy())
        tx.delivery = .transport(transport)
        let id = record(try request(), Data(#"{"note":"MARKER"}"#.utf8), response(), Data("MARKER".utf8), by: tx)
        #expect(await tx.flush().error == nil)
        #expect(!transport.sets.isEmpty && !"\(transport.transactionSets)".contains("MARKER"))
        #expect(text(try await tx.body(of: id, .request))?.contains("MARKER") == true)
    }

    @Test(arguments: [
        ("https://api.example.com/v1/login", "application/json", true),
        ("https://API.example.com/v1/", "application/problem+json", true),
        ("https://other.example.com/v1/login", "application/json", false),
        ("https://api.example.com/v2/login", "application/json", false),
        ("https://api.example.com/v1/login", "text/plain", false),
    ]) func hostsPathsAndTypesSayWhichBodiesAreKept(url: String, type: String, isKept: Bool) async throws {
        let policy = BodyPolicy(
            hosts: ["api.example.com"], paths: [.glob("/v1/*")],
            contentTypes: [.regex("^application/([a-z]+[+])?json$")])
        let tx = manager(policy)
        let id = record(try request(url, type: "\(type); charset=utf-8"), Data("{}".utf8), response(), Data(), by: tx)
        #expect(text(try await tx.body(of: id, .request)) == (isKept ? "{}" : type == "text/plain" ? "" : nil))
        #expect(try await tx.body(of: id, .response) == nil, "there was none")
    }

    @Test func ofALongBodyTheBeginningIsKeptItsLengthAndAHash() async throws {
        var policy = BodyPolicy()
        policy.maximumByteCount = 100
        let tx = manager(policy)
        let line = "a line of an answer\n"
        let long = Data(String(repeating: line, count: 50).utf8)
        var bodies: [ExchangeBody] = []
        for (body, size) in [
            (long, 7), (long, 400), (long + Data("x".utf8), 7), (Data("y".utf8) + long.dropFirst(), 7),
        ] {
            let id = record(try request(), Data(), response(["Content-Type": "text/plain"]), body, by: tx, size: size)
            bodies.append(try #require(try await tx.body(of: id, .response)))
        }
        #expect(text(bodies[0]) == String(repeating: line, count: 5))
        #expect(bodies.map(\.byteCount) == [1000, 1000, 1001, 1000])
        #expect(bodies.allSatisfy { $0.omission == .limit && $0.hash != nil && !$0.isWhole })
        #expect(bodies[0].hash == bodies[1].hash)
        #expect(Set(bodies.map(\.hash)).count == 3, "also where only what is not kept differs, or only what is kept")
    }

    @Test func whatIsNoTextIsNotKeptUnlessItIsNamed() async throws {
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        for (policy, expected) in [(BodyPolicy(), Data()), (BodyPolicy(contentTypes: ["image/png"]), png)] {
            let tx = manager(policy)
            let id = record(try request(), Data(), response(["Content-Type": "image/png"]), png, by: tx)
            let body = try #require(try await tx.body(of: id, .response))
            #expect(Data(body.bytes) == expected)
            #expect(body.omission == (expected.isEmpty ? .type : nil) && body.byteCount == 8)
        }
    }

    /// `printf '{"token":"x"}' | gzip`. A body that the platform has already decoded keeps its header field.
    @Test func whatIsStillCompressedIsNotKept() async throws {
        let tx = manager(BodyPolicy())
        let fields = ["Content-Type": "application/json", "Content-Encoding": "gzip"]
        let zipped = Data([
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xAB, 0x56, 0x2A, 0xC9, 0xCF, 0x4E, 0xCD, 0x53,
        ])
        for (bytes, expected, omission) in [
            (zipped, "", .encoding), (zipped.prefix(3), "", .encoding),
            (Data(#"{"token":"é, decoded"}"#.utf8), #"{"token":"[redacted]"}"#, nil),
            (Data("1".utf8), "1", nil),
        ] as [(Data, String, ExchangeBody.Omission?)] {
            let id = record(try request(), Data(), response(fields), bytes, by: tx, size: 5)
            let body = try #require(try await tx.body(of: id, .response))
            #expect(text(body) == expected && body.omission == omission)
        }
    }

    @Test func ofAnExchangeThatFailedTheBeginningIsKept() async throws {
        let tx = manager(BodyPolicy())
        let id = record(
            try request(), Data("{}".utf8), response(), Data(#"{"a":"b","card":"4111 1111 1111"#.utf8), by: tx
        ) {
            $0.fail(URLError(.networkConnectionLost))
        }
        let body = try #require(try await tx.body(of: id, .response))
        #expect(
            text(body) == #"{"a":"b","card":"# && body.omission == .unfinished,
            "what was cut off could have been a secret")
        #expect(try await tx.body(of: id, .request)?.isWhole == true, "whoever has answered has read the request")
    }

    @Test func aSampleTakesWholeTransactions() async throws {
        var policy = BodyPolicy()
        policy.sample = 0.5
        let tx = manager(policy)
        var kept: Set<Int> = []
        for _ in 0..<64 {
            let login = tx.begin(Login.self)
            var count = 0
            for _ in 0..<4 {
                let id = try await login.withCurrent {
                    record(try request(), Data("{}".utf8), response(), Data(), by: tx)
                }
                if try await tx.body(of: id, .request) != nil { count += 1 }
            }
            kept.insert(count)
            login.finish()
        }
        // The chance that all 64 coins agree is 1 in 2^63.
        #expect(kept == [0, 4])
    }

    @Test func whatCannotWorkShowsInHealth() {
        var policy = BodyPolicy(hosts: [.regex("(")])
        policy.sample = 2
        policy.maximumByteCount = 0
        #expect(manager(policy).health.problems.count == 3)
    }

    /// Breaks when a slow or full disk takes the app's memory with it.
    @Test func whatWaitsForTheDiskIsBounded() async throws {
        var policy = BodyPolicy()
        policy.maximumByteCount = 64 << 20
        policy.maximumStoreByteCount = 64 << 20
        let tx = manager(policy)  // nothing is written until the first read
        let line = Data(String(repeating: "no secret in it\n", count: 4_096).utf8)
        let exchange = tx.openExchange(try request())
        exchange.responded(response(["Content-Type": "text/plain"]))
        for _ in 0..<512 { exchange.received(line) }
        let waiting = try #require(tx.sources.current).writer.bodies
        #expect(waiting.byteCount <= 9 << 20)
        exchange.finish()
        let body = try #require(
            try await tx.body(
                of: FactID(source: tx.sources.current?.id ?? GUID(), sequence: exchange.sequence), .response))
        #expect(body.omission == .room && body.byteCount == Int64(512 * line.count) && body.bytes.count <= 8 << 20)
        #expect(tx.health.omittedBodies == 1)
        #expect(waiting.byteCount == 0, "all that was reserved is given back")
    }

    /// Breaks when data from after a user's refusal is on the disk.
    @Test func nothingIsKeptWhileRecordingIsOff() async throws {
        let tx = manager(BodyPolicy())
        let exchange = tx.openExchange(try request())
        exchange.responded(response())
        exchange.received(Data("[1,".utf8))
        tx.recording = .off
        exchange.received(Data("2,".utf8))
        tx.recording = .on
        exchange.received(Data("3]".utf8))
        exchange.finish()
        let id = FactID(source: tx.sources.current?.id ?? GUID(), sequence: exchange.sequence)
        #expect(text(try await tx.body(of: id, .response)) == "[1,3]")
    }

    @Test func nothingIsKeptAfterTheEnd() async throws {
        let tx = manager(BodyPolicy())
        let id = record(try request(), Data(), response(), Data("{}".utf8), by: tx) { exchange in
            exchange.finish()
            exchange.received(Data("{}".utf8))
            exchange.finish()
        }
        #expect(text(try await tx.body(of: id, .response)) == "{}")
    }
}
