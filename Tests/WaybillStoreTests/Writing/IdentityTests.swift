import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillLegacy
@testable import WaybillQueries
@testable import WaybillStore

/// A sender of sets tries to speak for others: for sources whose IDs the header field carries, for installations, and
/// about transactions that others began.
@Suite(.timeLimit(.minutes(5))) struct IdentityTests {
    private let store: Store
    private let place: ResolvedLocation
    private let victim = FactWriter("victim")
    private let transaction = GUID()

    init() throws {
        (store, place) = try Store.inMemory()
        victim.source.installation = GUID()
        let part = victim.open(transaction)
        victim.event(1, part: part)
        victim.event(2, part: part)
    }

    private func expectSound() throws { #expect(try StoreReader(place).verify().problems == []) }

    private func shownFacts() throws -> Int { try store.facts(of: victim.id).count }

    /// Returns a set that names the victim's source but has no fact of it.
    private func forged(
        proof: IdentityProof?, dropped: DroppedRange? = nil, ended: Bool = false
    ) -> TransactionSet {
        let share = TransactionSet.Share(
            source: victim.source, clocks: victim.clocks, hasEnded: ended, ledger: Ledger(recorded: 1 << 50),
            dropped: [dropped].compactMap(\.self), sourceProof: proof,
            installationProof: proof)
        return TransactionSet(id: GUID(), sources: [share])
    }

    private static let proofs: [IdentityProof?] = [nil, IdentityProof()]

    // MARK: Sources

    /// Breaks when anyone who knows the ID of a source can remove its facts, or prevent it from recording more.
    @Test(arguments: Ledger.DropReason.allCases) func nobodyErasesOrDropsWhatAnotherSourceRecorded(
        reason: Ledger.DropReason
    ) throws {
        try store.ingest(victim.set(1...2))
        let before = try store.dump()
        for proof in Self.proofs {
            let receipt = try store.ingest(
                forged(proof: proof, dropped: DroppedRange(first: 1, last: 1 << 40, reason: reason), ended: true))
            #expect(receipt.refusedSources.map(\.source) == [victim.id])
        }
        #expect(try store.dump() == before)
        #expect(try store.ingest(victim.set(ended: true)).acceptedCount == 1)
        #expect(try StoreReader(place).sources().map(\.hasEnded) == [true])
        try expectSound()
    }

    /// Breaks when a forged fact is stored, rejects the rest of its set, or replaces a genuine one.
    @Test func factsWithoutTheProofAreRejectedAndTheOtherSourcesOfTheSetAreTaken() throws {
        try store.ingest(victim.set(1...1))
        let other = FactWriter("other")
        other.open(GUID())
        var foisted = victim.share(2...3)
        foisted.sourceProof = IdentityProof()
        let set = TransactionSet(id: GUID(), sources: [foisted, other.share()])
        let receipt = try store.ingest(set)
        #expect(receipt.acceptedCount == 1 && receipt.factCount == 3)
        #expect(receipt.rejections.map(\.index) == [0, 1])
        #expect(receipt.rejections.allSatisfy { $0.reason.contains("`source_proof`") })
        #expect(receipt.refusedSources.count == 1)
        #expect(try shownFacts() == 1)
        #expect(try store.ingest(victim.set()).acceptedCount == 2)
        try expectSound()
    }

    /// Breaks when older clients are shut out; when anyone can remove their facts; or when the first sender with a
    /// secret owns their facts and shuts them out.
    @Test func aSourceThatNeverHadAProofGoesOnAndLosesNothing() throws {
        victim.proof = nil
        victim.installationProof = nil
        try store.ingest(victim.set(1...2))
        for proof in Self.proofs {
            for reason in Ledger.DropReason.allCases {
                try store.ingest(
                    forged(proof: proof, dropped: DroppedRange(first: 1, last: 1 << 40, reason: reason), ended: true))
            }
        }
        #expect(try shownFacts() == 2)
        #expect(try store.ingest(victim.set(2...3)).acceptedCount == 1)
        // The same client after an update.
        victim.proof = IdentityProof()
        let receipt = try store.ingest(victim.set(ended: true))
        #expect(receipt.knownCount == 3 && receipt.refusedSources.isEmpty)
        let record = try #require(try StoreReader(place).source(victim.id))
        #expect(!record.hasEnded && record.ledger.dropped.isEmpty)
        try expectSound()
    }

    /// Breaks when numbers reported by a few sources make the sum of many sources overflow.
    @Test func aSourceIsBelievedToHaveRecordedSoMuchAndNoMore() throws {
        let limit: Int64 = 1 << 40
        var share = victim.share()
        share.ledger.recorded = Limits.largestInteger
        share.ledger.refused = Limits.largestInteger
        share.facts.append(
            Fact(sequence: limit, part: 1, atMicroseconds: 9, content: .event(Fact.Event(code: 3))))
        share.facts.append(
            Fact(sequence: limit + 1, part: 1, atMicroseconds: 9, content: .event(Fact.Event(code: 4))))
        let receipt = try store.ingest(TransactionSet(id: GUID(), sources: [share]))
        #expect(receipt.acceptedCount == 4 && receipt.rejections.map(\.sequence) == [limit + 1])
        let ledger = try #require(try StoreReader(place).source(victim.id)).ledger
        #expect(ledger.recorded == limit && ledger.refused == limit && ledger.pending == limit - 4)
    }

    // MARK: Installations

    /// Breaks when others can act as someone's installation, or when its next launch cannot.
    @Test func onlyWhoHasItsProofIsOfAnInstallation() throws {
        try store.ingest(victim.set())
        for proof in Self.proofs {
            let liar = FactWriter("liar")
            (liar.source.installation, liar.installationProof) = (victim.source.installation, proof)
            liar.open(GUID())
            let receipt = try store.ingest(liar.set())
            #expect(
                receipt.rejections.count == 1 && receipt.refusedSources.first?.reason.contains("installation") == true)
        }
        let launch = FactWriter("victim")
        (launch.source.installation, launch.installationProof) = (victim.source.installation, victim.installationProof)
        launch.open(GUID())
        #expect(try store.ingest(launch.set()).acceptedCount == 1)
        #expect(try StoreReader(place).sources().count == 2)
    }

    /// Breaks when an update of the app locks it out because its installation first appeared without a proof; or when
    /// someone else can lock it out by sending a proof first.
    @Test func anInstallationThatNeverHadAProofIsBoundToNone() throws {
        (victim.proof, victim.installationProof) = (nil, nil)
        try store.ingest(victim.set())
        for name in ["liar", "the same app, up to date"] {
            let launch = FactWriter(name)
            launch.source.installation = victim.source.installation
            launch.open(GUID())
            #expect(try store.ingest(launch.set()).acceptedCount == 1)
        }
    }

    // MARK: Erasing an installation

    /// Breaks when an erased installation removes others' transactions by claiming that it began them, before or after
    /// its erasure.
    @Test(arguments: [true, false]) func anErasedInstallationErasesWhatItBeganAndNothingElse(claimsBefore: Bool) throws
    {
        let (liar, server) = (FactWriter("liar"), FactWriter("server"))
        liar.source.installation = GUID()
        let its = GUID()
        liar.open(its)
        if claimsBefore { liar.open(transaction) }
        for id in [its, transaction] { server.open(id, joined: true) }
        for set in [victim.set(1...2), server.set(), liar.set()] { try store.ingest(set) }
        _ = try store.erase(.installation(try #require(liar.source.installation)), at: 0)
        let reader = try StoreReader(place)
        #expect(try reader.all().map(\.id) == [transaction])
        if !claimsBefore { liar.open(transaction) }
        let receipt = try store.ingest(liar.set())
        #expect(receipt.acceptedCount == 0 && receipt.rejections.map(\.reason) == ["erased", "erased"])
        let record = try #require(try reader.transaction(transaction, now: 0))
        #expect(Set(record.parts.map(\.id.source)) == [victim.id, server.id])
        #expect(try store.ingest(victim.set()).acceptedCount == 1, "it goes on")
        try expectSound()
    }

    /// Breaks when the first claim to a transaction prevents its real beginner from reporting it.
    @Test func whoBeganATransactionCanTellOfItAfterAnErasedInstallationClaimedIt() throws {
        let (liar, server) = (FactWriter("liar"), FactWriter("server"))
        liar.source.installation = GUID()
        liar.open(transaction)
        server.open(transaction, joined: true)
        server.open(transaction, joined: true)
        _ = try store.erase(.installation(try #require(liar.source.installation)), at: 0)
        try store.ingest(liar.set())
        #expect(try store.ingest(server.set(1...1)).rejections.map(\.reason) == ["erased"], "nobody else began it")
        #expect(try store.ingest(victim.set()).acceptedCount == 3)
        #expect(try store.ingest(server.set(2...2)).acceptedCount == 1)
        try expectSound()
    }

    /// Breaks when another sender speaks for an erased installation. Transactions that this sender claims to have begun
    /// would be erased.
    @Test func nobodySpeaksForAnErasedInstallation() throws {
        try store.ingest(victim.set())
        _ = try store.erase(.installation(try #require(victim.source.installation)), at: 0)
        let (server, liar) = (FactWriter("server"), FactWriter("liar"))
        let others = GUID()
        server.open(others, joined: true)
        try store.ingest(server.set())
        liar.source.installation = victim.source.installation
        liar.open(others)
        #expect(try store.ingest(liar.set()).refusedSources.count == 1)
        #expect(try StoreReader(place).all().map(\.id) == [others])
    }

    // MARK: What is kept

    /// Breaks when anyone who obtains a collector's files can speak for all of its senders.
    @Test func aCollectorKeepsHashesAlone() throws {
        let folder = try TemporaryDirectory()
        let collector = try Store(.folder(folder.url))
        try collector.ingest(victim.set())
        let proofs = [try #require(victim.proof), try #require(victim.installationProof)]
        for name in try folder.names() {
            let bytes = try Data(contentsOf: folder.file(name))
            for proof in proofs { #expect(bytes.range(of: Data(proof.text.utf8)) == nil, "\(name)") }
        }
        #expect(
            try collector.connection.integer(
                "SELECT count(*) FROM sources WHERE proof IS NULL AND proof_hash = ?",
                ColumnValue.blob(proofs[0].digest)) == 1)
        #expect(!"\(victim.set())".contains(proofs[0].text), "nor is it in what is printed")
    }

    /// Breaks when a current set names the source that represents all clients of version 0.0.1, and numbers facts in
    /// its place.
    @Test func nobodySpeaksForTheSendersOfVersion001() throws {
        let set = LegacySet(transactions: [
            LegacySet.Transaction(id: transaction, useCase: 17, deviceMake: "iPhone6,1", logs: [])
        ])
        #expect(try store.ingest(set, digest: [1], receivedAt: 5).acceptedCount == 1)
        let liar = FactWriter("liar")
        liar.source.id = try #require(try StoreReader(place).sources().first?.id)
        liar.open(GUID())
        liar.open(GUID())
        #expect(try store.ingest(liar.set()).refusedSources.count == 1)
        #expect(try store.ingest(set, digest: [2], receivedAt: 5).acceptedCount == 1)
    }
}
