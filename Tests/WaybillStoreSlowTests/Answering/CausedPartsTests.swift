import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// The parts that exchanges caused are the same whether they are read at once or looked up one by one.
@Suite(.timeLimit(.minutes(5))) struct CausedPartsTests {
    /// Reads with one thread and with several. Each thread reads a share of every source. Some exchanges are named by
    /// two parts, some parts have no answer, and some name an exchange of another transaction.
    @Test(arguments: seeds(0..<8)) func partsReadAtOnceAreThoseThatAreLookedUp(seed: Int) throws {
        var network = SimulatedNetwork(seed: seed)
        for _ in 0..<30 { network.runTransaction(around: Int64.random(in: 0...900_000_000, using: &network.random)) }
        let (store, place) = try Store.inMemory()
        var sets = SetMaker(random: network.random)
        for set in sets.sets(of: network.histories()) { try store.ingest(set) }
        let before = try Self.answered(try StoreReader(place))
        try Self.harm(store.connection)
        let readers = try (0..<3).map { _ in try StoreReader(place) }
        let after = try Self.answered(readers[0])
        #expect(after > 10, "seed \(seed): too few for the check to mean anything")
        #expect(after < before, "seed \(seed): nothing was harmed")
        for count in 1...3 {
            let caused = try CausedParts(by: readers.prefix(count).map(\.connection))
            for source in try Self.sources(readers[0]) {
                let (atOnce, lookedUp) = (
                    try Self.found(of: source, among: caused, readers[0]), try Self.found(of: source, readers[0])
                )
                #expect(atOnce == lookedUp, "seed \(seed), \(count) threads")
            }
        }
    }

    /// Copies some parts, which makes two parts name one exchange. Removes the answer of some, and moves some into a
    /// separate transaction.
    private static func harm(_ connection: Connection) throws {
        try connection.execute(
            """
            CREATE TEMP TABLE chosen AS SELECT source, sequence, row_number() OVER (ORDER BY guid, source) AS number \
            FROM parts WHERE cause IS NOT NULL;
            INSERT INTO parts(source, sequence, guid, use_case, joined, at_us, cause_source, cause, closed, closed_at_us, outcome, settled) \
            SELECT p.source, p.sequence + 500000, guid, use_case, joined, at_us, cause_source, cause, closed, closed_at_us, outcome, settled \
            FROM parts p JOIN chosen c USING(source, sequence) WHERE number % 5 = 0;
            UPDATE parts SET closed = NULL, closed_at_us = NULL WHERE (source, sequence) IN (SELECT source, sequence FROM chosen WHERE number % 5 = 1);
            DELETE FROM exchanges WHERE (source, part) IN (SELECT source, sequence FROM chosen WHERE number % 5 = 1);
            UPDATE parts SET guid = randomblob(16) WHERE (source, sequence) IN (SELECT source, sequence FROM chosen WHERE number % 5 = 2);
            """)
    }

    private static func sources(_ reader: StoreReader) throws -> [(row: Int64, id: GUID)] {
        try reader.connection.statement("SELECT id, uuid FROM sources").rows { row in (row.int(0), row.guid(1)) }
    }

    /// Returns a description of each exchange, ordered by sequence.
    private static func found(
        of source: (row: Int64, id: GUID), among caused: CausedParts? = nil, _ reader: StoreReader
    ) throws -> [String] {
        try OffsetExchanges.found(
            of: source.row, id: source.id, opened: .min ... .max, among: caused, reader.connection
        ).sorted { $0.sequence < $1.sequence }.map { "\($0)" }
    }

    private static func answered(_ reader: StoreReader) throws -> Int {
        try sources(reader).reduce(0) { count, source in
            try count
                + OffsetExchanges.found(of: source.row, id: source.id, opened: .min ... .max, reader.connection)
                .count { $0.server != nil }
        }
    }
}
