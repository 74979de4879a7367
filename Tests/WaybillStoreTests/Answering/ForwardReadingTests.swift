import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// Reading by steps, by searches, or all at once finds the same rows as a lookup.
@Suite(.timeLimit(.minutes(5))) struct ForwardReadingTests {
    private let reader: StoreReader

    init() throws {
        let (store, place) = try Store.inMemory()
        var maker = HistoryMaker(seed: 17)
        for _ in 0..<12 {
            let histories = maker.histories()
            var sets = SetMaker(random: maker.random)
            for set in sets.sets(of: histories) { try store.ingest(set) }
            maker.random = sets.random
        }
        reader = try StoreReader(place)
    }

    /// Uses existing and missing keys, near and far. Like the keys of answers, they mostly move forward, and sometimes
    /// back.
    @Test func theRowThatIsFoundIsTheFirstThatDoesNotComeBefore() throws {
        let connection = reader.connection
        let keys = try connection.statement("SELECT source, part, after FROM events ORDER BY 1, 2, 3").rows { row in
            [row.int(0), row.int(1), row.int(2)]
        }
        #expect(keys.count > 100, "else there is nothing far")
        var rows = try RowCursor("SELECT part, after, source FROM events AS e", key: ("source", "part"), connection)
        defer { rows.stop() }
        var random = RandomNumbers(seed: 4)
        var place = 0
        for _ in 0..<3_000 {
            place +=
                random.oneIn(20)
                ? -Int.random(in: 0...place, using: &random)
                : Int.random(in: 0...(random.oneIn(9) ? 60 : 3), using: &random)
            if place >= keys.count { place = 0 }
            let wanted = (keys[place][0], keys[place][1] + Int64.random(in: -1...1, using: &random))
            let ofSource = keys.filter { $0[0] == wanted.0 }
            var found = try rows.row(from: wanted.0, wanted.1)
            #expect(found.map { [$0.int(2), $0.int(0), $0.int(1)] } == ofSource.first { $0[1] >= wanted.1 })
            // Reads to the end of one part's events, as answers do.
            while let row = found, row.int(0) == wanted.1 { found = try rows.next() }
            #expect(found?.int(0) == ofSource.first { $0[1] > wanted.1 }?[1])
        }
    }

    /// SQLite skips rows without any of the wanted values, and no wanted row.
    @Test func onlyRowsWithOneOfTheValuesAreFound() throws {
        let connection = reader.connection
        let keys = try connection.statement("SELECT source, part, code FROM events ORDER BY source, part, after").rows {
            row in
            [row.int(0), row.int(1), row.int(2)]
        }
        var rows = try RowCursor(
            "SELECT part, code FROM events AS o", key: ("source", "part"), only: ("code", [1, 3]), connection)
        defer { rows.stop() }
        var left = 0
        for key in keys {
            let expected = keys.first { $0[0] == key[0] && $0[1] >= key[1] && [1, 3].contains($0[2]) }
            #expect(
                try rows.row(from: key[0], key[1]).map { [$0.int(0), $0.int(1)] } == expected?.dropFirst().map(\.self))
            if ![1, 3].contains(key[2]) { left += 1 }
        }
        #expect(left > 0 && left < keys.count, "else nothing is left out")
    }

    /// A reader finds codes that are close together as bits of one number, and others one by one. The cases are codes
    /// slightly apart, codes apart by a whole number's width, the largest codes, and codes below 0, which mark
    /// attributes that were set.
    @Test(arguments: [
        [0], [5, 3], [-2], [-2, 0], [0, 62], [0, 63], [1, 63, 64], [2, 64], [3, 65, 130], [62], [63], [64], [127, 128],
        [Limits.largestCode], [Limits.largestCode - 62, Limits.largestCode],
        [Limits.largestCode - 63, Limits.largestCode],
        [0, Limits.largestCode],
    ]) func everyCodeIsToldFromAllOthers(wanted: [Int]) throws {
        let codes =
            Array(-2...200) + [Limits.largestCode, Limits.largestCode - 62, Limits.largestCode - 63, 1 << 20]
        let (store, _) = try Store.inMemory()
        for (number, code) in codes.enumerated() {
            try store.connection.statement(
                "INSERT INTO events(source, part, after, at_us, code) VALUES (1, ?, 0, 0, ?)"
            ).run(Int64(number), code)
        }
        var rows = try RowCursor(
            "SELECT part, code FROM events AS a", key: ("source", "part"), only: ("code", wanted), store.connection)
        defer { rows.stop() }
        var found: [Int] = []
        var row = try rows.row(from: 1, 0)
        while let one = row {
            found.append(one.int(1))
            row = try rows.next()
        }
        #expect(found == codes.filter { wanted.contains($0) })
    }

    @Test func partsWithoutAWantedEventAreNotJoined() throws {
        let connection = reader.connection
        let wanted = try JoinedParts(ofTransactions: .max, with: [2], connection)
        let all = try JoinedParts(ofTransactions: .max, with: nil, connection)
        let holds = try connection.statement("SELECT DISTINCT source, part FROM events WHERE code = 2").rows { row in
            [row.int(0), row.int(1)]
        }
        let transactions = try connection.statement("SELECT DISTINCT guid FROM parts WHERE guid IS NOT NULL").rows {
            row in row.guid(0)
        }
        var left = 0
        for guid in transactions {
            let parts = try all.parts(of: guid)
            let expected = parts.filter { part in holds.contains([part.source, part.sequence]) }
            #expect(try wanted.parts(of: guid) == expected)
            left += parts.count - expected.count
        }
        #expect(left > 0 && !wanted.isEmpty, "else nothing is left out")
    }

    @Test func partsThatAreReadAtOnceAreThoseThatAreLookedUp() throws {
        let connection = reader.connection
        let atOnce = try JoinedParts(ofTransactions: .max, with: nil, connection)
        let lookedUp = try JoinedParts(ofTransactions: 1, with: nil, connection)
        let transactions = try connection.statement("SELECT DISTINCT guid FROM parts WHERE guid IS NOT NULL").rows {
            row in row.guid(0)
        }
        var several = 0
        for guid in transactions + [GUID()] {
            let parts = try lookedUp.parts(of: guid)
            #expect(try atOnce.parts(of: guid) == parts)
            if parts.count > 1 { several += 1 }
        }
        #expect(several > 0, "else their order is not tried")
    }
}
