#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct AddSetTests {
    private let folder: TemporaryDirectory
    private let collector: Collector
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        collector = try Collector(folder: folder.url)
    }

    @Test func theSameSetTwiceIsKnownTheSecondTime() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let set = login.clientSet()
            #expect(try await server.post(set) == Receipt(set: set.id, acceptedCount: 6))
            #expect(try await server.post(set) == Receipt(set: set.id, acceptedCount: 0, knownCount: 6))
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions")
            #expect(page.rows.map(\.eventCount) == [2])
        }
    }

    @Test func ofOverlappingSetsOnlyWhatIsNewIsAccepted() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let (first, second) = (login.clientSet(1...4), login.clientSet(3...6))
            #expect(try await server.post(first) == Receipt(set: first.id, acceptedCount: 4))
            #expect(try await server.post(second) == Receipt(set: second.id, acceptedCount: 2, knownCount: 2))
        }
    }

    @Test(arguments: [false, true])
    func twoSourcesInEitherOrderMakeOneTransaction(isServerFirst: Bool) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let sets = [login.clientSet(), login.serverSet()]
            for set in isServerFirst ? sets.reversed() : sets { _ = try await server.post(set) }
            let record: TransactionRecord = try await server.value("/v1/transactions/\(login.transaction)")
            #expect(record.summary.outcome == .failed)
            #expect(record.summary.sourceCount == 2)
            #expect(!record.summary.isWaitingForBeginner)
            #expect(record.sources.map(\.app) == ["app", "server"])
            #expect(record.parts.map(\.isJoined) == [false, true])
            #expect(
                record.timeline.map(\.label) == [
                    "begun", "requestSent", "POST /login", "joined", "serverRejected", "succeeded", "401", "event 2",
                    "failed",
                ])
        }
    }

    @Test func aServersPartAloneWaitsForItsBeginner() async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(login.serverSet())
            var page: RecordPage<TransactionSummary> =
                try await server.value("/v1/transactions?filter=beginner:unknown")
            #expect(page.rows.map(\.isWaitingForBeginner) == [true])
            page = try await server.value("/v1/transactions")
            #expect(page.rows.isEmpty, "anybody can make up a header field")
            let record: TransactionRecord = try await server.value("/v1/transactions/\(login.transaction)")
            #expect(record.summary.isWaitingForBeginner, "who has its ID sees it")
        }
    }

    @Test func aBadRecordIsRejectedAlone() async throws {
        try await CollectorServer.run(collector) { server async throws in
            var set = login.clientSet()
            set.sources[0].facts[1].content = .event(Fact.Event(code: -1))
            let receipt = try await server.post(set)
            #expect(receipt.acceptedCount == 5)
            #expect(receipt.rejections.map(\.sequence) == [2])
            #expect(receipt.rejections.map(\.source) == [login.client.id])

            let again = try await server.post(login.clientSet())
            #expect(
                again == Receipt(set: again.set, acceptedCount: 1, knownCount: 5),
                "What was rejected can be sent again, put right.")
        }
    }

    @Test func theFactsAreInTheFileWhenTheAnswerComes() async throws {
        try await CollectorServer.run(collector) { server async throws in
            for set in [login.serverSet(), login.clientSet(1...2), login.clientSet(3...6)] {
                let receipt = try await server.post(set)
                let reader = try StoreReader(.folder(folder.url))
                let delivered = try reader.sources().first { $0.id == set.sources[0].source.id }?.ledger.delivered
                #expect(delivered == set.sources[0].facts.map(\.sequence).max())
                #expect(receipt.acceptedCount == set.factCount)
            }
        }
    }

    @Test func commitsWaitForTheDisk() async throws {
        // `PRAGMA synchronous` returns 2 for FULL: sqlite.org/pragma.html#pragma_synchronous.
        let store = try #require(try await collector.projects.project(.standard).store as? SQLiteStore)
        #expect(
            try await store.writer.run { store throws(WaybillError) in
                try store.connection.integer("PRAGMA synchronous")
            } == 2)
    }

    @Test func manySetsAtOnceAreAllKept() async throws {
        try await CollectorServer.run(collector) { server async throws in
            let histories = (0..<40).map { _ in LoginHistory() }
            let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
                for history in histories {
                    group.addTask { try await server.post(history.clientSet()).acceptedCount }
                    group.addTask { try await server.post(history.serverSet()).acceptedCount }
                }
                return try await group.reduce(0, +)
            }
            #expect(accepted == 40 * 9)
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions?limit=100")
            #expect(Set(page.rows.map(\.id)) == Set(histories.map(\.transaction)))
        }
    }
}
#endif
