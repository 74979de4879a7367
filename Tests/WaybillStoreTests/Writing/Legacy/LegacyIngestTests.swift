import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillLegacy
@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct LegacyIngestTests {
    private let store: Store
    private let reader: StoreReader
    private let transaction = GUID()

    init() throws {
        let (store, place) = try Store.inMemory()
        self.store = store
        reader = try StoreReader(place)
    }

    /// - Parameter seconds: The seconds after `FactWriter.wall`, which is 2025-10-09T08:53:20Z.
    private func log(_ event: Int, _ seconds: Int = 0) -> LegacySet.Log {
        LegacySet.Log(event: event, timestamp: "Thu, 09 Oct 2025 08:53:\(20 + seconds) GMT")
    }

    private func set(_ logs: LegacySet.Log...) -> LegacySet {
        LegacySet(transactions: [
            LegacySet.Transaction(id: transaction, useCase: 17, deviceMake: "iPhone6,1", logs: logs)
        ])
    }

    /// Ingests a set. By default, its bytes differ from those of every other set.
    @discardableResult
    private func ingest(_ set: LegacySet, body: String = UUID().uuidString, after seconds: Int64 = 60) throws -> Receipt
    {
        try store.ingest(set, digest: Array(body.utf8), receivedAt: FactWriter.wall + seconds * 1_000_000)
    }

    private func record() throws -> TransactionRecord {
        try #require(try reader.transaction(transaction, now: FactWriter.wall + 100_000_000))
    }

    private var duplicates: [Bool] {
        get throws { try record().parts.map { $0.attributes["possibleDuplicate"] == true } }
    }

    @Test func aSetBecomesAPartWithItsEventsAtTheirTimes() throws {
        #expect(try ingest(set(log(0, 5), log(3, 7))).acceptedCount == 3)
        let record = try record()
        #expect(record.summary.useCase == 17 && record.summary.outcome == .open && record.summary.eventCount == 2)
        #expect(record.timeline.map(\.timeMicroseconds) == [5, 5, 7].map { FactWriter.wall + $0 * 1_000_000 })
        #expect(record.parts.map(\.attributes) == [["deviceMake": "iPhone6,1"]])
        #expect(record.sources.map(\.app) == ["apptxnset-v0.0.1"])
        #expect(try reader.verify().isSound)
    }

    @Test func theSameBytesWithinADayAreTheSameSet() throws {
        #expect(try ingest(set(log(0)), body: "a", after: 0).acceptedCount == 2)
        #expect(try ingest(set(log(0)), body: "a", after: 86_399).knownCount == 2)
        #expect(try record().parts.count == 1)
        #expect(try ingest(set(log(0)), body: "a", after: 86_400).acceptedCount == 2)
        #expect(try duplicates == [false, true])
    }

    @Test func aLogThatMayHaveComeBeforeIsKeptAndMarked() throws {
        try ingest(set(log(0, 1), log(1, 1)))
        // A flush that is repeated because its answer was lost, with new times and one more log.
        try ingest(set(log(0, 2), log(1, 2), log(2, 2)))
        try ingest(set(log(3, 3)))
        #expect(try duplicates == [false, true, false])
        #expect(try record().summary.eventCount == 6)
        #expect(try record().parts.map(\.isJoined) == [false, true, true])
        #expect(try reader.all().count == 1)
    }

    @Test func logsDifferByTheirErrorsToo() throws {
        try ingest(set(log(1)))
        var failed = log(1)
        failed.errorCode = .number(7)
        try ingest(set(failed))
        #expect(try duplicates == [false, false])
        try ingest(set(failed))
        #expect(try duplicates == [false, false, true])
    }

    @Test func aTransactionThatStandsTwiceInASetIsMarked() throws {
        var set = set(log(1))
        set.transactions += set.transactions
        try ingest(set)
        #expect(try duplicates == [false, true])
    }

    @Test func aTimeThatCannotBeToldIsKeptAsItIs() throws {
        try ingest(set(LegacySet.Log(event: 1, timestamp: "ven., 06 févr. 2015 06:59:27 IST")))
        let event = try #require(try record().timeline.last)
        #expect(event.timeMicroseconds == FactWriter.wall + 60_000_000)
        #expect(event.attributes == ["unreadableTimestamp": "ven., 06 févr. 2015 06:59:27 IST"])
    }

    @Test func errorsAreKeptInWhateverFormTheyCome() throws {
        var logs = [log(0), log(1), log(2)]
        logs[0].errorCode = .number(42)
        logs[0].errorDescription = "too late"
        logs[1].errorCode = .text("E_TIMEOUT")
        logs[1].errorDescription = "too late"
        logs[2].errorDescription = "password=hunter2"
        try ingest(set(logs[0], logs[1], logs[2]))
        let events = try record().timeline.dropFirst()
        #expect(events.map(\.error) == [RecordedError(code: 42, text: "too late"), nil, nil])
        #expect(events.map(\.attributes)[1] == ["errorCode": "E_TIMEOUT", "errorDescription": "too late"])
        #expect(events.last?.attributes["errorDescription"] == "password=[redacted]")
    }

    @Test func anEmptyListOfLogsIsATransactionThatWasBegun() throws {
        #expect(try ingest(set()).acceptedCount == 1)
        #expect(try record().timeline.map(\.timeMicroseconds) == [FactWriter.wall + 60_000_000])
        #expect(try ingest(LegacySet(transactions: [])).acceptedCount == 0)
    }

    @Test func oneSourceStandsForAllSendersAndItsSequenceHasNoGap() throws {
        for _ in 0..<3 { try ingest(set(log(0), log(1))) }
        let other = LegacySet(transactions: [LegacySet.Transaction(id: GUID(), useCase: 1, logs: [log(0)])])
        try ingest(other)
        let sources = try reader.sources()
        #expect(sources.count == 1)
        #expect(sources[0].ledger.recorded == 11 && sources[0].ledger.isBalanced && sources[0].gaps.isEmpty)
    }

    /// Returns a set with `json` as an unreadable transaction.
    private func badSet(_ json: String, id: GUID? = nil) -> LegacySet {
        var set = set(log(1))
        set.unread = [LegacySet.Unread(transaction: id, reason: "/apptxns/1: no use case", json: Array(json.utf8))]
        return set
    }

    @Test func aBadTransactionIsKeptWithItsReasonAndTheGoodOnesAreTaken() throws {
        let receipt = try ingest(badSet(#"{"apptxn/id":"TXN-1","password":"hunter2"}"#))
        #expect(receipt.acceptedCount == 2 && receipt.rejections.map(\.reason) == ["/apptxns/1: no use case"])
        #expect(try record().summary.eventCount == 1)
        let kept = try reader.legacyQuarantine(limit: 9)
        #expect(kept.count == 1 && kept.rows.map(\.reason) == ["/apptxns/1: no use case"])
        #expect(kept.rows.map(\.json) == [#"{"apptxn/id":"TXN-1","password":"[redacted]"}"#])
        #expect(kept.rows.map(\.receivedMicroseconds) == [FactWriter.wall + 60_000_000])
        let state = try reader.delivery(now: FactWriter.wall, hours: 1)
        #expect(state.legacyQuarantine == kept.rows && state.legacyQuarantinedCount == 1)
        let verification = try reader.verify()
        #expect(verification.isSound)
        #expect(
            verification.remarks == [
                "A transaction of a set 0.0.1 could not be read and is in quarantine: /apptxns/1: no use case."
            ])
    }

    @Test func aSetOfWhichNothingCanBeReadIsKeptOnceForTheSameBytes() throws {
        var set = badSet("{}")
        set.transactions = []
        for _ in 0..<2 { try ingest(set, body: "a") }
        #expect(try reader.legacyQuarantine(limit: 9).count == 1)
    }

    /// Breaks when a person whose transactions were erased can still be found in unreadable data.
    @Test func whatIsErasedOrOldGoesFromQuarantineToo() throws {
        let id = GUID()
        func count() throws -> Int { try reader.legacyQuarantine(limit: 0).count }
        try ingest(badSet("{}", id: id))
        try ingest(badSet("{}"))
        _ = try store.erase(.transactions([id]), at: FactWriter.wall)
        #expect(try count() == 1)
        try ingest(badSet("{}", id: id))
        #expect(try count() == 1, "nothing is taken in any more of what was erased")
        _ = try store.erase(.begunBefore(Date(microseconds: FactWriter.wall + 60_000_001)), at: FactWriter.wall)
        #expect(try count() == 0)
        try ingest(badSet("{}"))
        _ = try store.retire(receivedBefore: FactWriter.wall + 61_000_000)
        #expect(try count() == 0)
        try ingest(badSet("{}"))
        _ = try store.erase(.all, at: FactWriter.wall)
        #expect(try count() == 0)
    }

    /// Breaks when old clients that send nonsense fill the disk.
    @Test func quarantineKeepsTheLatestWithinItsLimits() throws {
        try Schema.makeLegacyTables(store.connection)
        let quarantine = LegacyQuarantine(connection: store.connection)
        let long = Array("[\(String(repeating: "\"ü\",", count: 20_000))0]".utf8)
        try quarantine.add(LegacySet.Unread(transaction: nil, reason: "long", json: long), redactor: Redactor(), at: 1)
        #expect(
            try reader.legacyQuarantine(limit: 1).rows.first?.json.unicodeScalars.count == LegacyQuarantine.lengthLimit)
        try store.connection.execute("UPDATE legacy_quarantine SET id = \(1 << 40)")
        for number in 1...3 {
            let one = LegacySet.Unread(transaction: nil, reason: "\(number)", json: [])
            try quarantine.add(one, redactor: Redactor(), at: Int64(number))
            try store.connection.execute(
                "UPDATE legacy_quarantine SET id = id + \(LegacyQuarantine.limit - 1) WHERE reason = '\(number)'")
        }
        #expect(try reader.legacyQuarantine(limit: 9).rows.map(\.reason) == ["3", "2"])
    }

    /// Breaks when anyone who knows the ID of a transaction can make it grow endlessly with sets of that version.
    @Test func whatIsMoreThanATransactionMayHaveIsRejected() throws {
        func ingest(_ logs: LegacySet.Log...) throws -> Receipt {
            let set = LegacySet(transactions: [LegacySet.Transaction(id: transaction, useCase: 17, logs: logs)])
            return try store.ingest(set, digest: Array(UUID().uuidString.utf8), receivedAt: FactWriter.wall)
        }
        store.factsPerTransaction = 4
        #expect(try ingest(log(0), log(1)).rejections.isEmpty)
        let receipt = try ingest(log(2), log(3))
        #expect(receipt.acceptedCount == 1 && receipt.rejections.map(\.sequence) == [5, 6])
        #expect(try record().summary.eventCount == 2)
        #expect(try reader.verify().isSound)
    }
}
