import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillExport
@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

@Suite(.timeLimit(.minutes(10))) struct SpanExportTests {
    /// Exports random histories in several runs while their sets arrive in random order. Together, the runs contain
    /// each closed part, and each ended exchange of a closed part, exactly once, whichever fact arrived last.
    @Test(arguments: seeds(0..<60)) func runsHaveEachSpanOnce(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        let histories = maker.histories()
        let (store, place) = try Store.inMemory()
        let reader = try StoreReader(place)
        var sets = SetMaker(random: maker.random)
        var cursor = ExportCursor()
        var found: [SpanLine] = []
        for set in sets.sets(of: histories) {
            try store.ingest(set)
            guard maker.random.oneIn(2) else { continue }
            let export = try reader.export(.after(ExportCursor(cursor.description)), as: .otlp)
            found += try export.spans()
            cursor = export.cursor
        }
        found += try reader.spans(.after(cursor))
        let expected = histories.flatMap(expectedSpans)
        #expect(found.map(\.spanId).sorted() == expected.sorted())
        #expect(try reader.spans(.everything).map(\.spanId).sorted() == expected.sorted())
        #expect(found.allSatisfy { (UInt64($0.startTimeUnixNano) ?? .max) <= (UInt64($0.endTimeUnixNano) ?? 0) })
    }

    /// Breaks when a piece includes facts that arrived after the export began, which the next export repeats.
    @Test func whatArrivesBetweenTwoPiecesWaitsForTheNextExport() throws {
        let writer = FactWriter()
        for _ in 0..<400 {
            let part = writer.open(GUID())
            writer.event(1, part: part, attributes: ["note": "a rather long text, so that there are pieces"])
            let exchange = writer.openExchange(part: part)
            writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: part)
            writer.close(part, .succeeded)
        }
        let (store, place) = try Store.inMemory()
        let closings = Set(stride(from: Int64(5), through: 2_000, by: 5))
        var early = writer.set()
        early.sources[0].facts.removeAll { closings.contains($0.sequence) && $0.sequence > 1_000 }
        try store.ingest(early)
        let reader = try StoreReader(place)
        let export = try reader.export(.after(ExportCursor()), as: .otlp)
        var found = try SpanLine.spans(#require(try export.piece()))
        #expect(found.count < 300)
        try store.ingest(writer.set())  // would block if a transaction were open
        found += try export.spans()
        #expect(found.count == 400)
        found += try reader.spans(.after(export.cursor))
        #expect(found.count == 800 && Set(found.map(\.spanId)).count == 800)
    }

    @Test func anExchangeThatEndsAfterItsPartIsASpanOfItsOwnRun() throws {
        let writer = FactWriter()
        let part = writer.open(GUID())
        let exchange = writer.openExchange(part: part)
        writer.close(part, .cancelled)
        writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .cancelled), part: part)
        let (store, place) = try Store.inMemory()
        let reader = try StoreReader(place)
        try store.ingest(writer.set(1...3))
        let first = try reader.export(.after(ExportCursor()), as: .otlp)
        #expect(try SpanLine.spans(first.piece() ?? []).map(\.name) == ["use case 0"])
        try store.ingest(writer.set(4...4))
        let second = try reader.spans(.after(first.cursor))
        #expect(second.map(\.name) == ["GET"])
        #expect(second.first?.parentSpanId == SpanID(FactID(source: writer.id, sequence: part)).description)
    }

    @Test func aJoinedPartIsAChildOfItsCauseAndElseOfTheBeginner() throws {
        let (client, told, untold) = (FactWriter("client"), FactWriter("told"), FactWriter("untold"))
        let transaction = GUID()
        let part = client.open(transaction)
        let exchange = client.openExchange(part: part)
        client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 204), part: part)
        client.close(part, .succeeded)
        told.close(
            told.open(transaction, joined: true, cause: FactID(source: client.id, sequence: exchange)), .succeeded)
        untold.close(untold.open(transaction, joined: true), .succeeded)
        let (store, place) = try Store.inMemory()
        for writer in [client, told, untold] { try store.ingest(writer.set()) }
        let spans = try StoreReader(place).spans(.everything)
        #expect(spans.map(\.traceId) == Array(repeating: transaction.traceID, count: 4))
        #expect(spans.map(\.parentSpanId) == [nil, spans[0].spanId, spans[1].spanId, spans[0].spanId])
        #expect(spans.map(\.flags) == [0x101, 0x101, 0x301, 0x301])
    }

    /// Breaks when the span of a service of another language, between client and server, has no place in the trace.
    @Test func aPartThatWasJoinedByATraceAloneIsAChildOfTheSpanThatSentIt() throws {
        let (client, server, both) = (FactWriter("client"), FactWriter("server"), FactWriter("both"))
        let transaction = GUID()
        let part = client.open(transaction)
        let exchange = client.openExchange(part: part)
        client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 204), part: part)
        client.close(part, .succeeded)
        let trace = try #require(transaction.traceID)
        let told = Attributes(["traceparent": .string("00-\(trace)-b7ad6b7169203331-01")])
        server.close(server.open(transaction, joined: true, attributes: told), .succeeded)
        let cause = FactID(source: client.id, sequence: exchange)
        both.close(both.open(transaction, joined: true, cause: cause, attributes: told), .succeeded)
        let (store, place) = try Store.inMemory()
        for writer in [client, server, both] { try store.ingest(writer.set()) }
        let spans = try StoreReader(place).spans(.everything)
        #expect(spans.map(\.parentSpanId) == [nil, spans[0].spanId, "b7ad6b7169203331", spans[1].spanId])
        let link = SpanLine.Link(traceId: trace, spanId: "b7ad6b7169203331", flags: 0x301)
        #expect(spans.map { $0.links ?? [] } == [[], [], [], [link]])
    }

    @Test func aWallClockThatIsSetBackMakesNoSpanEndBeforeItsStart() throws {
        let writer = FactWriter()
        let part = writer.open(GUID(), at: 10)
        writer.event(1, part: part, at: 12)
        writer.close(part, .succeeded, at: 15)
        writer.clocks.append(
            ClockAnchor(atMicroseconds: 11_000_000, offsetMicroseconds: FactWriter.wall - 3_600_000_000))
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set())
        let span = try #require(try StoreReader(place).spans(.everything).first)
        #expect(span.startTimeUnixNano == "\(FactWriter.wall + 10_000_000)000")
        #expect(span.endTimeUnixNano == "\(FactWriter.wall + 15_000_000)000")
    }

    @Test func aTransactionWithoutAnIDThatATraceCanHaveIsLeftOut() throws {
        let writer = FactWriter()
        writer.close(writer.open(GUID(high: 0, low: 0)), .succeeded)
        let (store, place) = try Store.inMemory()
        try store.ingest(writer.set())
        #expect(try StoreReader(place).spans(.everything).isEmpty)
    }

    /// Returns the span IDs expected from a history once all of it has arrived.
    private func expectedSpans(_ history: SourceHistory) -> [String] {
        let closedParts = Set(
            history.facts.compactMap { fact in if case .closed = fact.content { fact.part } else { nil } })
        return history.facts.compactMap { fact in
            let start: Int64
            switch fact.content {
            case .closed: start = fact.part
            case .exchangeClosed(let content) where closedParts.contains(fact.part): start = content.exchange
            default: return nil
            }
            return SpanID(FactID(source: history.source.id, sequence: start)).description
        }
    }
}

/// The members of a span that the tests check.
private struct SpanLine: Decodable {
    var traceId: String
    var spanId: String
    var parentSpanId: String?
    var flags: Int
    var name: String
    var startTimeUnixNano: String
    var endTimeUnixNano: String
    var links: [Link]?

    struct Link: Decodable, Equatable {
        var traceId: String
        var spanId: String
        var flags: Int
    }

    static func spans(_ lines: [UInt8]) throws -> [SpanLine] {
        struct Traces: Decodable { var resourceSpans: [Resource] }
        struct Resource: Decodable { var scopeSpans: [Scope] }
        struct Scope: Decodable { var spans: [SpanLine] }
        return try lines.split(separator: 0x0A).flatMap { line in
            try JSONDecoder().decode(Traces.self, from: Data(line)).resourceSpans.flatMap {
                $0.scopeSpans.flatMap(\.spans)
            }
        }
    }
}

extension StoreReader {
    fileprivate func spans(_ scope: ExportScope) throws -> [SpanLine] {
        try SpanLine.spans(Array(text(scope, .otlp).utf8))
    }
}

extension TextExport {
    /// Returns the remaining spans of the export.
    fileprivate func spans() throws -> [SpanLine] {
        var found: [SpanLine] = []
        try eventually("the last piece comes") {
            guard let piece = try piece() else { return true }
            found += try SpanLine.spans(piece)
            return false
        }
        return found
    }
}
