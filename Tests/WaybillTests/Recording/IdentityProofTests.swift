import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

/// What an app shows to the collector, so that nobody else can speak for it: whatever becomes of its store, it must never
/// be taken for somebody else.
@Suite(.timeLimit(.minutes(5))) struct IdentityProofTests {
    private let folder: TemporaryDirectory
    private let transport = InMemoryTransport()

    init() throws { folder = try TemporaryDirectory() }

    private func launch(_ place: URL? = nil) -> TransactionManager {
        TransactionManager(store: .directory(place ?? folder.file("store")), delivery: .transport(transport))
    }

    private func record(_ transactions: TransactionManager) async {
        transactions.perform(Login.self) { $0.log(.initiated) }
        let report = await transactions.flush()
        #expect(report.error == nil && report.pending == 0)
    }

    private var shares: [TransactionSet.Share] { transport.transactionSets.flatMap(\.sources) }

    /// Plays all that was sent to a collector that has heard of nobody.
    private func expectThatACollectorTakesEverything() throws {
        let collector = try Store(.memory(name: GUID().description))
        for set in transport.transactionSets {
            let receipt = try collector.ingest(try TransactionSet.decode(set.encoded()), receivedAt: 5)
            #expect(receipt.refusedSources == [] && receipt.rejections == [])
        }
    }

    @Test func theInstallationKeepsItsProofAndEachLaunchHasOneOfItsOwn() async throws {
        for _ in 0..<3 { await record(launch()) }
        #expect(Set(shares.map(\.installationProof)).count == 1 && shares[0].installationProof != nil)
        #expect(Set(shares.map(\.sourceProof)).count == 3 && !shares.map(\.sourceProof).contains(nil))
        try expectThatACollectorTakesEverything()
        await record(launch(folder.file("another store")))
        #expect(Set(shares.map(\.installationProof)).count == 2, "a new store is another installation")
    }

    /// Broken, whoever asked to be forgotten is known again by the proof; or what they recorded before is not taken.
    @Test func aResetInstallationHasAnotherProof() async throws {
        let transactions = launch()
        await record(transactions)
        let login = transactions.begin(Login.self)
        try await transactions.resetInstallation()
        login.finish()
        await record(transactions)
        let proofs = Dictionary(grouping: shares, by: \.source.installation).mapValues {
            Set($0.map(\.installationProof))
        }
        #expect(proofs.count == 2 && proofs.values.allSatisfy { $0.count == 1 && !$0.contains(nil) })
        #expect(Set(proofs.values).count == 2)
        try expectThatACollectorTakesEverything()
    }

    /// Broken, the collector refuses what an app sends that had to begin in memory, e.g. before the device was unlocked.
    @Test(arguments: [true, false]) func whoBeganInMemoryIsTheSameInTheStore(wasSent: Bool) async throws {
        await record(launch())
        let (store, hidden) = (folder.file("store"), folder.file("hidden"))
        try FileManager.default.moveItem(at: store, to: hidden)
        try Data().write(to: store)  // a file where the folder should be
        let transactions = launch()
        transactions.perform(Login.self) { $0.log(.initiated) }
        if wasSent { await record(transactions) }
        #expect(transactions.health.problems.count == 1)
        try FileManager.default.removeItem(at: store)
        try FileManager.default.moveItem(at: hidden, to: store)
        await record(transactions)
        #expect(transactions.health.isGood)
        try expectThatACollectorTakesEverything()
    }

    /// Broken, an app whose files were deleted under it is refused from then on.
    @Test func whoseStoreIsDeletedStaysTheSame() async throws {
        let transactions = launch()
        await record(transactions)
        for suffix in ["", "-wal", "-shm", "-lock"] {
            try FileManager.default.removeItem(at: folder.file("store/waybill.sqlite" + suffix))
        }
        await record(transactions)
        #expect(Set(shares.map(\.sourceProof)).count == 1 && Set(shares.map(\.installationProof)).count == 1)
        await record(launch())
        try expectThatACollectorTakesEverything()
    }

    /// Broken, whoever finds what an app logs about its sets can speak for it.
    @Test func whatIsPrintedAndReadHasNoProof() async throws {
        let transactions = launch()
        await record(transactions)
        let proofs = try [#require(shares.first?.sourceProof), #require(shares.first?.installationProof)]
        #expect(!"\(transport.transactionSets)".contains(proofs[0].text), "it is not printed")
        var dumped = ""
        dump(transport.transactionSets, to: &dumped)
        #expect(proofs.allSatisfy { !dumped.contains($0.text) })
        let record = try #require(try await transactions.transactions().page().rows.first)
        #expect(!"\(try #require(try await transactions.transaction(record.id)))".contains(proofs[0].text))
    }
}
