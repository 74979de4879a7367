import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

/// The proofs that stop others from impersonating an app. Whatever happens to its store, the collector must recognize
/// the app.
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

    /// Replays all sent sets to a collector that knows no installation.
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

    /// Breaks when the proof identifies a user who asked to be forgotten, or when the user's earlier facts are refused.
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

    /// Breaks when the collector refuses an app that had to begin in memory, e.g. before the device was unlocked.
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

    /// Breaks when an app whose files were deleted while it ran is refused from then on.
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

    /// Breaks when the logs of an app's sets let a reader impersonate the app.
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
