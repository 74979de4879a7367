import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct NameConflictTests {
    private let store: Store
    private let place: ResolvedLocation

    init() throws { (store, place) = try Store.inMemory() }

    private func record(_ app: String, _ version: String, _ names: RecordedName...) throws {
        let writer = FactWriter(app, version: version)
        writer.names = names
        writer.open(GUID())
        try store.ingest(writer.set())
    }

    /// Breaks when a code that was renamed in a later version, or has another name in another app, goes unnoticed; or
    /// when a code with a single name is reported.
    @Test func aCodeWithSeveralNamesIsToldWithItsVersions() throws {
        try record(
            "shop", "1.9", RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "sent"))
        try record(
            "shop", "1.2", RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "sent"))
        try record(
            "shop", "1.10", RecordedName(useCase: 0, name: "login"),
            RecordedName(useCase: 0, event: 1, name: "requestSent"))
        try record(
            "accounts", "4", RecordedName(useCase: 0, name: "login"),
            RecordedName(useCase: 0, event: 1, name: "checked"))
        try record(
            "accounts", "4", RecordedName(useCase: 1, event: 1, name: "begun"), RecordedName(useCase: 3, name: "sync"))
        try record("accounts", "5", RecordedName(useCase: 3, name: "synchronize"))
        let conflicts = try StoreReader(place).nameConflicts()
        #expect(
            conflicts == [
                NameConflict(
                    useCase: 0, event: 1,
                    names: [
                        NameConflict.Use(name: "checked", app: "accounts", versions: ["4"]),
                        NameConflict.Use(name: "sent", app: "shop", versions: ["1.2", "1.9"]),
                        NameConflict.Use(name: "requestSent", app: "shop", versions: ["1.10"]),
                    ]),
                NameConflict(
                    useCase: 3, event: nil,
                    names: [
                        NameConflict.Use(name: "sync", app: "accounts", versions: ["4"]),
                        NameConflict.Use(name: "synchronize", app: "accounts", versions: ["5"]),
                    ]),
            ])
        #expect(
            try StoreReader(place).verify().remarks == [
                "Event 1 of use case 0 has several names: checked (accounts 4), sent (shop 1.2, 1.9), requestSent (shop 1.10).",
                "Use case 3 has several names: sync (accounts 4), synchronize (accounts 5).",
            ])
    }

    /// Breaks when a launch whose enum changed renames the facts of others, in any order of arrival; or when exported
    /// names belong to another launch.
    @Test(arguments: [false, true]) func aNameBelongsToTheLaunchWhereItsVersionHasAnother(isReversed: Bool) throws {
        let launches = [["typed", "sent"], ["asked", "typed"], ["typed", "sent"]].map { names in
            let writer = FactWriter("shop", version: "")
            writer.names =
                [RecordedName(useCase: 0, name: "form")]
                + names.enumerated().map { RecordedName(useCase: 0, event: $0.offset, name: $0.element) }
            let part = writer.open(GUID())
            for code in names.indices { writer.event(code, part: part) }
            return writer
        }
        for writer in isReversed ? launches.reversed() : launches { try store.ingest(writer.set()) }
        let reader = try StoreReader(place)
        func labels(_ reader: StoreReader) throws -> [[String]] {
            try launches.map { writer in
                try #require(try reader.transaction(writer.transaction, now: FactWriter.wall)).timeline
                    .filter { $0.kind == .event }.map(\.label)
            }
        }
        let expected = [["typed", "sent"], ["asked", "typed"], ["typed", "sent"]]
        #expect(try labels(reader) == expected)

        let (other, otherPlace) = try Store.inMemory()
        try reader.export(.everything, redactor: Redactor()) { set in
            for share in set.sources { #expect(share.names.count == 3) }
            try other.ingest(set)
        }
        #expect(try labels(StoreReader(otherPlace)) == expected)
        // A launch's names are removed with it, and a version's names with its last launch.
        _ = try store.erase(.all, at: FactWriter.wall)
        #expect(try store.connection.integer("SELECT count(*) FROM names") == 0)
    }

    /// Breaks when the second of a launch's two names for a code is shown, or is not reported after an export.
    @Test func ofTwoNamesInOneLaunchTheFirstIsShownAndBothAreReported() throws {
        let writer = FactWriter("shop", version: "1")
        writer.names = [RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, name: "checkout")]
        writer.open(GUID())
        try store.ingest(writer.set())
        let (other, otherPlace) = try Store.inMemory()
        try StoreReader(place).export(.everything, redactor: Redactor()) { set in
            #expect(set.sources.first?.names == writer.names)
            try other.ingest(set)
        }
        for place in [place, otherPlace] {
            let reader = try StoreReader(place)
            #expect(
                try reader.verify().remarks == [
                    "Use case 0 has several names: checkout (shop 1), login (shop 1)."
                ])
            #expect(try reader.transaction(writer.transaction, now: FactWriter.wall)?.summary.useCaseName == "login")
        }
    }

    @Test func aStoreWithoutConflictsHasNone() throws {
        try record(
            "shop", "1", RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "sent"))
        try record(
            "shop", "2", RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 1, event: 1, name: "begun"))
        #expect(try StoreReader(place).nameConflicts() == [])
    }

    /// Breaks when a client that sends endless names makes lists of names, and sentences with names, equally long.
    @Test func ofVeryManyNamesListsHaveTheFirstAndFiltersFindAll() throws {
        let (store, place) = try Store.inMemory()
        let client = FactWriter()
        for version in 0..<3 {
            client.source.id = GUID()
            client.source.appVersion = "\(version)"
            client.names = (0..<6_000).map { (code: Int) in
                RecordedName(useCase: 7, event: code, name: "event \(code) \(version)")
            }
            try store.ingest(client.set())
        }
        let honest = FactWriter("honest")
        honest.names = [RecordedName(useCase: 9, name: "login"), RecordedName(useCase: 9, event: 1, name: "sent")]
        honest.open(GUID(), useCase: 9)
        try store.ingest(honest.set())

        let reader = try StoreReader(place)
        #expect(try reader.names() == honest.names, "others have no transactions")
        #expect(try reader.names(including: ["event 5999 2"]).contains { $0.event == 5_999 })
        #expect(try reader.nameConflictCount() == 6_000)
        #expect(try reader.nameConflicts().count == 100)
    }

    /// Breaks when clients fill a store with endless names; when a name without room causes its facts or known names to
    /// be refused; when names without room are not counted; or when freed room is not used.
    @Test func aStoreTakesSoManyNamesOfOthersAndCountsTheOthers() throws {
        store.nameLimit = 5
        func set(_ version: String, _ codes: Range<Int>) -> TransactionSet {
            let writer = FactWriter("shop", version: version)
            writer.names = codes.map { RecordedName(useCase: $0, name: "use case \($0)") }
            writer.open(GUID(), useCase: 0)
            return writer.set()
        }
        func names() throws -> Int { try store.connection.integer("SELECT count(*) FROM names") }
        #expect(try store.ingest(set("1", 0..<3)).refusedNameCount == 0)
        #expect(try store.ingest(set("2", 0..<3)).refusedNameCount == 1)
        let receipt = try store.ingest(set("2", 0..<4))
        #expect(receipt.refusedNameCount == 2 && receipt.acceptedCount == 1)
        #expect(try names() == 5)
        #expect(try store.ingest(set("1", 0..<3)).refusedNameCount == 0, "known ones are no new ones")

        #expect(throws: WaybillError.self) {
            try store.write { () throws(WaybillError) -> Void in throw WaybillError(.store, "full") }
        }
        #expect(try store.ingest(set("3", 0..<1)).refusedNameCount == 1, "nor is anything forgotten by a failure")
        _ = try store.erase(.all, at: FactWriter.wall)
        #expect(try names() == 0)
        #expect(try store.ingest(set("3", 0..<5)).refusedNameCount == 0)
        #expect(try names() == 5)
    }

    /// Breaks when one code with endless names makes the list of conflicts equally long.
    @Test func ofOneCodeWithVeryManyNamesTheFirstAreToldAndTheOthersCounted() throws {
        let (store, place) = try Store.inMemory()
        let client = FactWriter()
        for version in 1...30 {
            client.source.id = GUID()
            client.source.appVersion = "\(version)"
            client.names = (0..<12).map { RecordedName(useCase: 7, name: "name \($0)") }
            try store.ingest(client.set())
        }
        let conflict = try #require(try StoreReader(place).nameConflicts().first)
        #expect(conflict.names.count == 10 && conflict.furtherNames == 2)
        #expect(conflict.names.allSatisfy { $0.versions == (1...20).map(String.init) && $0.furtherVersions == 10 })
        #expect(conflict.description.hasSuffix(" and 2 more."))
    }

    /// Breaks when the names of a version outlive all of its facts, or are removed while any of its facts exist or may
    /// still arrive.
    @Test func namesGoWhenNothingIsLeftOfWhatTheyAreOf() throws {
        let (store, place) = try Store.inMemory()
        let (old, young) = (FactWriter(version: "1"), FactWriter(version: "2"))
        let transaction = GUID()
        old.names = [RecordedName(useCase: 0, name: "old")]
        young.names = [RecordedName(useCase: 0, name: "young")]
        old.open(transaction)
        young.open(GUID())
        _ = try store.ingest(old.set(), receivedAt: FactWriter.wall)
        _ = try store.ingest(young.set(), receivedAt: FactWriter.wall + 1_000)
        func names() throws -> [String] { try StoreReader(place).names().map(\.name) }

        #expect(try store.retire(receivedBefore: FactWriter.wall) == 0)
        #expect(try names() == ["old", "young"])
        #expect(try store.retire(receivedBefore: FactWriter.wall + 1) == 1)
        #expect(try store.retire(receivedBefore: FactWriter.wall + 1) == 0)
        #expect(try names() == ["young"])
        _ = try store.erase(.all, at: FactWriter.wall + 2_000)
        #expect(try names() == [])
    }
}

extension FactWriter {
    /// The transaction of its first opening.
    fileprivate var transaction: GUID {
        guard case .opened(let opened)? = facts.first?.content else { return GUID(high: 0, low: 0) }
        return opened.transaction
    }
}
