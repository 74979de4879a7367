import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import Waybill

/// The app's hook sees a body once, whole if it fits, and its result stays within the policy.
@Suite(.timeLimit(.minutes(5))) struct HookedBodyTests {
    private func receive(_ body: Data, encoding: String? = nil, by tx: TransactionManager, inPiecesOf size: Int = 7)
        throws
        -> FactID
    {
        let exchange = tx.openExchange(try ExchangeRequest.correlated())
        var fields = [HeaderField(name: "Content-Type", value: "text/plain")]
        if let encoding { fields.append(.init(name: "Content-Encoding", value: encoding)) }
        exchange.responded(ExchangeResponse(status: 200, headerFields: fields))
        for start in stride(from: 0, to: body.count, by: size) {
            exchange.received(body.dropFirst(start).prefix(size))
        }
        exchange.finish()
        return FactID(source: try #require(tx.sources.current?.id), sequence: exchange.sequence)
    }

    /// Breaks when an app has to assemble a body before searching it.
    @Test func aBodyIsSeenOnceAndWholeWhereItFits() async throws {
        var policy = BodyPolicy()
        policy.maximumByteCount = 100
        let seen = Locked<[RecordingDraft.Body]>([])
        let tx = TransactionManager.hooked(bodies: policy) { draft in
            guard case .body(var body) = draft else { return draft }
            seen.withLock { $0.append(body) }
            body.bytes = Array(String(decoding: body.bytes, as: UTF8.self).replacing("Ada", with: "N.N.").utf8)
            return .body(body)
        }
        let line = "Ada was here.\n"
        let whole = try receive(Data(line.utf8), by: tx)
        let long = try receive(Data(String(repeating: line, count: 10).utf8), by: tx)
        let kept = try #require(try await tx.body(of: whole, .response))
        #expect(String(decoding: kept.bytes, as: UTF8.self) == "N.N. was here.\n" && kept.isWhole)
        let cut = try #require(try await tx.body(of: long, .response))
        #expect(cut.omission == .limit && cut.byteCount == 140 && cut.bytes.count <= 100)
        #expect(!String(decoding: cut.bytes, as: UTF8.self).contains("Ada"))
        #expect(cut.hash == nil, "it would tell of what was taken out")
        let bodies = seen.withLock { $0 }
        #expect(bodies.map(\.isWhole) == [true, false] && bodies.map(\.bytes.count) == [14, 100])
        #expect(bodies.map(\.byteCount) == [14, 140] && bodies.map(\.contentType) == ["text/plain", "text/plain"])
        #expect(bodies.allSatisfy { $0.direction == .response && $0.request.url.hasSuffix("/v1/items") })
        #expect(tx.sources.current?.writer.bodies.byteCount == 0, "all room that was reserved is given back")
    }

    /// Breaks when a hook can fill a disk that the policy protects.
    @Test func whatTheHookMakesOfABodyIsCutAtTheLimit() async throws {
        var policy = BodyPolicy()
        policy.maximumByteCount = 100
        let tx = TransactionManager.hooked(bodies: policy) { draft in
            guard case .body(var body) = draft else { return draft }
            body.bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: 1000)
            return .body(body)
        }
        let id = try receive(Data("short\n".utf8), by: tx)
        let body = try #require(try await tx.body(of: id, .response))
        #expect(body.bytes.count == 100 && body.omission == .limit && body.byteCount == 6)
    }

    @Test func aBodyThatIsWithheldGivesItsRoomBack() async throws {
        let tx = TransactionManager.hooked(bodies: BodyPolicy()) { draft in if case .body = draft { nil } else { draft }
        }
        let id = try receive(Data(String(repeating: "line\n", count: 20_000).utf8), by: tx, inPiecesOf: 10_000)
        #expect(try await tx.body(of: id, .response) == nil)
        #expect(tx.health.withheld == 1)
        #expect(tx.sources.current?.writer.bodies.byteCount == 0)
    }

    /// Breaks when an app is asked about bytes that it can't read and that are not kept.
    @Test func aBodyThatIsStillCompressedIsNotAskedAbout() async throws {
        let asked = Locked(0)
        let tx = TransactionManager.hooked(bodies: BodyPolicy()) { draft in
            if case .body = draft { asked.withLock { $0 += 1 } }
            return draft
        }
        let zipped = Data([
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xAB, 0x56, 0x2A, 0xC9, 0xCF, 0x4E,
        ])
        let id = try receive(zipped, encoding: "gzip", by: tx)
        #expect(try await tx.body(of: id, .response)?.omission == .encoding)
        #expect(asked.withLock { $0 } == 0)
        let decoded = try receive(Data("decoded already, as platforms do\n".utf8), encoding: "gzip", by: tx)
        #expect(try await tx.body(of: decoded, .response)?.isWhole == true)
        #expect(asked.withLock { $0 } == 1)
    }
}
