import Foundation
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Shows one transaction on one clock, whatever its sources' clocks say.
@Suite(.timeLimit(.minutes(5))) struct ClockAlignmentTests {
    /// A client that calls a server whose clock is an hour ahead. The server calls a database whose clock is a day
    /// behind.
    struct Sources {
        let client = FactWriter("app")
        let server = FactWriter("server", wall: FactWriter.wall + 3_600_000_000)
        let database = FactWriter("database", wall: FactWriter.wall - 86_400_000_000)
        var last = GUID()

        /// A run of 10 s: the server works from 2 to 8, the database from 4 to 6.
        mutating func run(at start: Int) {
            last = GUID()
            let part = client.open(last, at: start)
            let exchange = client.openExchange(part: part, at: start + 1)
            let joined = server.open(
                last, joined: true, cause: FactID(source: client.id, sequence: exchange), at: start + 2)
            let inner = server.openExchange(part: joined, at: start + 3)
            let deep = database.open(
                last, joined: true, cause: FactID(source: server.id, sequence: inner), at: start + 4)
            database.close(deep, .succeeded, at: start + 6)
            server.closeExchange(Fact.ExchangeClosed(exchange: inner, state: .completed), part: joined, at: start + 7)
            server.close(joined, .succeeded, at: start + 8)
            client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part, at: start + 9)
            client.close(part, .succeeded, at: start + 10)
        }

        func reader() throws -> StoreReader {
            let (store, place) = try Store.inMemory()
            for writer in [client, server, database] { try store.ingest(writer.set()) }
            return try StoreReader(place)
        }
    }

    @Test func aServersClockIsMovedToItsClients() throws {
        var sources = Sources()
        for number in 0..<4 { sources.run(at: 60 * number) }
        let reader = try sources.reader()
        let alignment = try #require(try reader.clockAlignment(of: sources.last))
        #expect(alignment.reference == sources.client.id)
        #expect(alignment.offsets.map(\.source) == [sources.server.id, sources.database.id])
        #expect(alignment[sources.client.id] == nil)
        let server = try #require(alignment[sources.server.id])
        #expect(abs(server.microseconds + 3_600_000_000) <= server.uncertaintyMicroseconds)
        #expect(server.sampleCount == 3)
        // One second in each direction, plus the possible drift of the clocks in the meantime.
        #expect((1_000_000...1_010_000).contains(server.uncertaintyMicroseconds))
        let database = try #require(alignment[sources.database.id])
        #expect(abs(database.microseconds - 86_400_000_000) <= database.uncertaintyMicroseconds)
        #expect((2_000_000...2_020_000).contains(database.uncertaintyMicroseconds), "both ways together")
    }

    @Test func anAlignedRecordIsInTheOrderInWhichThingsHappened() throws {
        var sources = Sources()
        for number in 0..<4 { sources.run(at: 60 * number) }
        let reader = try sources.reader()
        let record = try #require(try reader.transaction(sources.last, now: FactWriter.wall))
        let alignment = try #require(try reader.clockAlignment(of: sources.last))
        let aligned = alignment.aligning(record)
        #expect(record.timeline.map(\.id.source).first == sources.database.id, "raw, the database comes first")
        let (client, server, database) = (sources.client.id, sources.server.id, sources.database.id)
        #expect(
            aligned.timeline.map(\.id.source)
                == [client, client, server, server, database, database, server, server, client, client])
        #expect(aligned.exchanges.map(\.id.source) == [client, server])
        #expect(aligned.summary == record.summary && aligned.sources == record.sources)
        for (raw, moved) in zip(record.parts, aligned.parts) {
            let offset = alignment[raw.id.source]?.microseconds ?? 0
            #expect(moved.openedMicroseconds == raw.openedMicroseconds + offset)
            #expect(moved.closedMicroseconds == raw.closedMicroseconds.map { $0 + offset })
        }
    }

    /// A single exchange tells only that it happened between its request and its response.
    @Test func withoutOtherExchangesTheTransactionsOwnSaysSo() throws {
        var sources = Sources()
        sources.run(at: 0)
        let alignment = try #require(try sources.reader().clockAlignment(of: sources.last))
        #expect(alignment.offsets.map(\.sampleCount) == [0, 0])
        let server = try #require(alignment[sources.server.id])
        #expect(abs(server.microseconds + 3_600_000_000) <= server.uncertaintyMicroseconds)
        #expect((1_000_000...1_001_000).contains(server.uncertaintyMicroseconds))
    }

    @Test func aPartWhoseCauseIsUnknownIsNotMoved() throws {
        let (client, server) = (FactWriter("app"), FactWriter("server", wall: FactWriter.wall + 5_000_000))
        let login = GUID()
        let part = client.open(login)
        client.close(part, .succeeded)
        server.close(server.open(login, joined: true, cause: FactID(source: client.id, sequence: 99)), .succeeded)
        server.close(server.open(login, joined: true), .succeeded)
        let (store, place) = try Store.inMemory()
        for writer in [client, server] { try store.ingest(writer.set()) }
        let reader = try StoreReader(place)
        let alignment = try #require(try reader.clockAlignment(of: login))
        #expect(alignment.offsets.isEmpty)
        let record = try #require(try reader.transaction(login, now: FactWriter.wall))
        #expect(alignment.aligning(record) == record)
        #expect(try reader.clockAlignment(of: GUID()) == nil)
    }

    @Test func aRecordCarriesItsClocksAndKeepsItsRawTimes() throws {
        var sources = Sources()
        for number in 0..<4 { sources.run(at: 60 * number) }
        let reader = try sources.reader()
        let record = try #require(try reader.transaction(sources.last, now: FactWriter.wall))
        #expect(record.clocks == (try reader.clockAlignment(of: sources.last)))
        #expect(
            record.parts.map(\.openedMicroseconds).max() == FactWriter.wall + 3_782_000_000,
            "The server's, an hour ahead.")
        let json = try JSONEncoder.waybill().encode(record)
        #expect(try JSONDecoder.waybill().decode(TransactionRecord.self, from: json) == record)
    }

    @Test func whatIsAlignedIsAlignedOnce() throws {
        var sources = Sources()
        for number in 0..<4 { sources.run(at: 60 * number) }
        let record = try #require(try sources.reader().transaction(sources.last, now: FactWriter.wall))
        let aligned = record.aligned
        #expect(aligned != record && aligned.aligned == aligned)
        #expect(aligned.clocks?.offsets.map(\.microseconds) == [0, 0])
        #expect(
            aligned.clocks?.offsets.map(\.uncertaintyMicroseconds)
                == record.clocks?.offsets.map(\.uncertaintyMicroseconds))
    }

    @Test func aSingleSourceHasNothingToBeComparedWith() throws {
        let client = FactWriter("app")
        let login = GUID()
        client.close(client.open(login), .succeeded)
        let (store, place) = try Store.inMemory()
        try store.ingest(client.set())
        let record = try #require(try StoreReader(place).transaction(login, now: FactWriter.wall))
        #expect(record.clocks == nil && record.aligned == record)
    }

    /// Sets each source's clock from one limit of the format to the other between its request and its answer. The
    /// offsets of 700 sources add up. Breaks when looking at such a transaction ends the process.
    @Test func whatManyWrongClocksAddUpToStaysWithinTheFormat() throws {
        let (store, place) = try Store.inMemory()
        let login = GUID()
        var cause: FactID?
        for _ in 0..<700 {
            let writer = FactWriter("app")
            writer.clocks = [
                ClockAnchor(atMicroseconds: 0, offsetMicroseconds: -Limits.largestInteger),
                ClockAnchor(atMicroseconds: 1_000_000, offsetMicroseconds: Limits.largestInteger),
            ]
            let part = writer.open(login, joined: cause != nil, cause: cause, at: 0)
            let exchange = writer.openExchange(part: part, at: 1)
            writer.close(part, .succeeded, at: 2)
            writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part, at: 3)
            try store.ingest(writer.set())
            cause = FactID(source: writer.id, sequence: exchange)
        }
        let record = try #require(try StoreReader(place).transaction(login, now: FactWriter.wall))
        let offsets = try #require(record.clocks?.offsets)
        #expect(offsets.count == 699 && offsets.last?.microseconds.magnitude == Limits.largestInteger.magnitude)
        #expect(record.aligned.timeline.allSatisfy { $0.timeMicroseconds.magnitude <= Limits.largestInteger })
    }

    /// Breaks when a part that took nine seconds is shown with a negative duration of an hour.
    @Test func aPartKeepsItsDurationWhereTheWallClockWasSetBack() throws {
        let client = FactWriter("app")
        client.clocks.append(
            ClockAnchor(atMicroseconds: 5_000_000, offsetMicroseconds: FactWriter.wall - 3_600_000_000))
        let login = GUID()
        client.close(client.open(login, at: 1), .succeeded, at: 10)
        let (store, place) = try Store.inMemory()
        try store.ingest(client.set())
        let record = try #require(try StoreReader(place).transaction(login, now: FactWriter.wall))
        #expect(record.parts.map(\.durationMicroseconds) == [9_000_000])
    }
}
