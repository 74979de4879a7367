import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

/// Broken surroundings must not throw, block or crash the host: recording degrades, continues, and says so once.
@Suite(.timeLimit(.minutes(5))) struct DegradationTests {
    private func records(_ transactions: TransactionManager, _ result: LogResult? = .inMemory) throws {
        transactions.perform(Login.self) { login in
            let said = login.log(.initiated)
            #expect(said == result ?? said)
        }
        #expect(try transactions.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.initiated])
    }

    @Test func aFolderThatCannotBeMadeDegradesToMemory() throws {
        // Under /proc not even root can make a folder.
        let transactions = TransactionManager(store: .directory(URL(filePath: "/proc/waybill")))
        try records(transactions)
        let problem = try #require(transactions.health.problems.first)
        #expect(problem.code == .store)
        #expect(problem.message.contains("/proc/waybill"))
    }

    @Test func aStoreThatIsADirectoryDegradesToMemory() throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(at: folder.file("waybill.sqlite"), withIntermediateDirectories: true)
        let transactions = TransactionManager(store: .directory(folder.url))
        try records(transactions, nil)
        #expect(transactions.health.problems.count == 1)
    }

    /// Breaks when journaled facts are lost because the only store then was one in memory, or when erased facts come
    /// back.
    @Test(arguments: [true, false]) func whatWasJournaledWithoutAStoreIsStoredByTheNextLaunch(isErased: Bool)
        async throws
    {
        let folder = try TemporaryDirectory()
        let obstacle = folder.file("waybill.sqlite")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        do {
            let transactions = TransactionManager(store: .directory(folder.url))
            try records(transactions, nil)
            try? await transactions.sync()
            let late = transactions.begin(Login.self)
            #expect(late.log(.requestSent) == .inMemory, "only memory has it")
            if isErased { _ = try await transactions.erase(.all) }
        }
        try await eventually("the first manager has gone away, and its lock with it") {
            try folder.names().filter { $0.hasPrefix("journal-") }.allSatisfy { name in
                let descriptor = open(folder.file(name).path, O_RDWR)
                defer { close(descriptor) }
                return flock(descriptor, LOCK_SH | LOCK_NB) == 0
            }
        }
        try FileManager.default.removeItem(at: obstacle)
        let next = TransactionManager(store: .directory(folder.url))
        #expect(try next.transactions(Login.self).map(\.summary.outcome) == (isErased ? [] : [.succeeded]))
        #expect(next.health.isGood)
    }

    @Test func aFileThatIsNotSQLiteIsMovedAsideWhole() throws {
        let folder = try TemporaryDirectory()
        let bytes = Data(repeating: 0x41, count: 5000)
        try bytes.write(to: folder.file("waybill.sqlite"))
        let transactions = TransactionManager(store: .directory(folder.url))
        try records(transactions, nil)
        #expect(transactions.health.problems.map(\.code) == [.damaged])
        let aside = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            $0.hasPrefix("waybill.sqlite.damaged-")
        }
        #expect(try aside.map { try Data(contentsOf: folder.file($0)) } == [bytes])
    }

    /// Breaks when a store that couldn't be opened once is given up for the life of the process, or the facts in memory
    /// are, or when facts that were delivered from memory are sent again.
    @Test func whatMemoryKeptComesIntoTheStoreOnceItCanBeOpened() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.file("store")
        try Data().write(to: folder)  // a file where the folder should be
        let transport = InMemoryTransport()
        let transactions = TransactionManager(store: .directory(folder), delivery: .transport(transport))
        transactions.perform(Login.self) { $0.log(.initiated) }
        #expect(await transactions.flush().delivered == 3)
        transactions.perform(Login.self) { $0.log(.requestSent) }
        #expect(transactions.health.problems.count == 1)

        try FileManager.default.removeItem(at: folder)
        transactions.perform(Login.self) { $0.log(.responseReceived) }
        try await transactions.sync()
        #expect(transactions.health.isGood)
        #expect(
            try transactions.transactions(Login.self).flatMap { $0.events.map(\.event) } == [
                .initiated, .requestSent, .responseReceived,
            ])
        #expect(await transactions.flush().delivered == 6)

        let reader = try StoreReader(.folder(folder))
        #expect(try reader.verify().problems == [])
        #expect(try reader.sources().map(\.ledger) == [Ledger(recorded: 9, delivered: 9)])
    }

    /// Breaks when each piece of work waits five seconds for the lock: a first look at `health` took minutes.
    @Test(.timeLimit(.minutes(1))) func aStoreThatAnotherProcessWritesToIsWaitedForOnce() async throws {
        let folder = try TemporaryDirectory()
        let lock = open(folder.file("waybill.sqlite-lock").path, O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let transactions = TransactionManager(store: .directory(folder.url))
        transactions.perform(Login.self) { $0.log(.initiated) }
        for _ in 0..<8 {
            #expect(transactions.health.problems.map(\.code) == [.store])
            _ = await transactions.flush()
        }
        flock(lock, LOCK_UN)
        try await transactions.sync()
        #expect(transactions.health.isGood)
        #expect(try StoreReader(.folder(folder.url)).sources().map(\.ledger) == [Ledger(recorded: 3, pending: 3)])
    }

    /// Breaks when SQLite goes on writing to deleted files, which can never be read.
    @Test func aStoreThatIsDeletedUnderTheProcessIsMadeAnewAndWhatIsGoneIsBooked() async throws {
        let folder = try TemporaryDirectory()
        let transport = InMemoryTransport()
        let transactions = TransactionManager(store: .directory(folder.url), delivery: .transport(transport))
        transactions.perform(Login.self) { $0.log(.initiated) }
        try await transactions.sync()
        for suffix in ["", "-wal", "-shm", "-lock"] {
            try FileManager.default.removeItem(at: folder.file("waybill.sqlite" + suffix))
        }

        transactions.perform(Login.self) { $0.log(.requestSent) }
        let report = await transactions.flush()
        #expect(report.delivered == 3)
        #expect(report.error == nil)
        #expect(transactions.health.isGood)
        let reader = try StoreReader(.folder(folder.url))
        #expect(try reader.verify().problems == [])
        #expect(try reader.sources().map(\.ledger) == [Ledger(recorded: 6, delivered: 3, dropped: ["damaged": 3])])
    }

    @Test func impossibleSettingsAreReplacedAndTold() async throws {
        let told = Locked<[String]>([])
        let transactions = TransactionManager(
            store: .directory(try #require(URL(string: "https://example.com/store"))),
            correlatedHosts: ["https://api.example.com", ""]
        ) { options in
            options.diagnostics = { sentence in told.withLock { $0.append(sentence) } }
            options.memoryCapacity = -1
            options.header = .standard(name: "not a name\r\n")
        }
        try records(transactions)
        #expect(transactions.health.problems.count == 5)
        transactions.diagnostics.settle()
        #expect(told.withLock { $0 }.count == 5, "each is told once")
    }

    /// A field with both forms would have neither.
    @Test func theOldFormOfTheHeaderFieldNeedsANameOfItsOwn() throws {
        let transactions = TransactionManager.testing(correlatedHosts: ["api.example.com"]) { options in
            options.diagnostics = { _ in }
            options.header = .legacy(name: "waybill-transaction")
        }
        #expect(transactions.health.problems.count == 1)
        let fields = transactions.begin(Login.self).headers(for: try #require(URL(string: "https://api.example.com")))
        #expect(Array(fields.keys) == [TransactionHeader.fieldName])
    }

    @Test func whatIsTooLongIsCutAndCounted() throws {
        let transactions = TransactionManager.testing()
        transactions.begin(
            Login.self, attributes: ["long": .string(String(repeating: "x", count: 5000)), "nan": .double(.nan)]
        ).finish()
        #expect(transactions.health.truncated == 2)
        let attributes = try #require(transactions.transactions(Login.self).first).summary.attributes
        #expect(attributes["long"] == .string(String(repeating: "x", count: Limits.valueLength)))
    }

    @Test func secretsInAttributesAndErrorsAreNotRecorded() throws {
        let transactions = TransactionManager.testing { options in
            options.privacy.keepsErrorTexts = true
            options.privacy.additionalSecretNames = ["nickname"]
        }
        let login = transactions.begin(
            Login.self, attributes: ["password": "hunter2", "nickname": "sunny", "note": "Bearer abc.def.ghi"])
        login.log(.initiated, error: RecordedError(code: 1, text: "card 4111 1111 1111 1111 was refused"))
        login.finish()
        let dump = try "\(transactions.transactions(Login.self))"
        for secret in ["hunter2", "sunny", "abc.def.ghi", "4111"] { #expect(!dump.contains(secret), "\(secret)") }
        #expect(dump.contains("was refused"))
    }
}
