import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

/// The context is set once for everything from now on. A transaction also gets attributes while open.
@Suite(.timeLimit(.minutes(5))) struct ContextTests {
    private let transactions = TransactionManager.testing()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func record<Event>(_ handle: UseCaseTransaction<Event>) throws -> TransactionRecord {
        try #require(try transactions.allRecords().first { $0.summary.id == handle.id })
    }

    /// A launch of an app that keeps its store.
    private func launch(_ options: TransactionManager.Options = TransactionManager.Options()) -> TransactionManager {
        var options = options
        options.diagnostics = { _ in }
        return TransactionManager(store: .directory(folder.file("store"))) { $0 = options }
    }

    private var file: URL { folder.file("store").appending(path: "context.json") }

    // MARK: New transactions

    @Test func whatBeginsHasTheContextAndItsOwnAttributesWin() throws {
        transactions.context["tenant"] = "acme"
        transactions.context["plan"] = "free"
        let login = transactions.begin(Login.self, attributes: ["plan": "paid", "step": 1])
        login.finish()
        #expect(try record(login).summary.attributes == ["tenant": "acme", "plan": "paid", "step": 1])
        transactions.context["tenant"] = nil
        #expect(transactions.context.attributes == ["plan": "free"])
        let next = transactions.begin(Login.self)
        next.finish()
        #expect(try record(next).summary.attributes == ["plan": "free"])
    }

    /// Breaks when a server's part has the client's context, or none.
    @Test func aJoinedPartHasTheContextOfItsServer() throws {
        let client = TransactionManager.testing(correlatedHosts: ["api.example.com"])
        client.context["user"] = "client"
        let login = client.begin(Login.self)
        let fields = login.headers(for: try #require(URL(string: "https://api.example.com/")))
        transactions.context["region"] = "eu"
        let joined = transactions.join(Login.self) { fields[$0] }
        joined.finish()
        #expect(try record(joined).parts.map(\.attributes) == [["region": "eu"]])
    }

    @Test func whereThereIsNoRoomForAllTheCallersOwnStay() throws {
        transactions.context.set(
            Attributes(Dictionary(uniqueKeysWithValues: (10..<40).map { ("a\($0)", .integer($0)) })))
        let own = Attributes(Dictionary(uniqueKeysWithValues: (10..<20).map { ("z\($0)", .integer($0)) }))
        let login = transactions.begin(Login.self, attributes: own)
        login.finish()
        let attributes = try record(login).summary.attributes
        #expect(attributes.count == 32)
        #expect(own.allSatisfy { attributes[$0.key] == $0.value })
    }

    // MARK: Open transactions

    /// Breaks when a user who logs in during a transaction is known only from the next one on, or when events before
    /// the login count as the user's.
    @Test func aChangeIsStampedOnWhatIsOpenAsOfTheMoment() throws {
        let login = transactions.begin(Login.self)
        login.log(.initiated)
        transactions.context["user"] = "u-1"
        login.log(.responseReceived)
        login.finish()
        let record = try record(login)
        #expect(record.timeline.map(\.kind) == [.begun, .event, .attributesSet, .event, .finished])
        #expect(record.timeline[0].attributes.isEmpty && record.timeline[2].attributes == ["user": "u-1"])
        #expect(record.summary.attributes == ["user": "u-1"])
        #expect(record.parts.map(\.attributes) == [["user": "u-1"]])
        #expect(record.summary.eventCount == 2, "it is no event")
        #expect(
            try transactions.transactions(Login.self).flatMap { $0.events.map(\.event) } == [
                .initiated, .responseReceived,
            ])
    }

    @Test func whatIsClosedIsNotTold() throws {
        let login = transactions.begin(Login.self)
        login.finish()
        transactions.context["user"] = "u-1"
        #expect(try record(login).timeline.map(\.kind) == [.begun, .finished])
    }

    @Test func theSameValueAgainIsNoChange() throws {
        transactions.context["user"] = "u-1"
        let login = transactions.begin(Login.self)
        transactions.context["user"] = "u-1"
        transactions.context.remove("never set")
        login.finish()
        #expect(try record(login).timeline.map(\.kind) == [.begun, .finished])
    }

    @Test func aNameThatGoesIsRecordedToo() throws {
        transactions.context["user"] = "u-1"
        let login = transactions.begin(Login.self)
        transactions.context["user"] = nil
        login.finish()
        let record = try record(login)
        #expect(record.timeline.map(\.label) == ["begun", "removed user", "succeeded"])
        #expect(record.summary.attributes.isEmpty)
    }

    @Test func theContextDoesNotTouchWhatTheCallerSaid() throws {
        let login = transactions.begin(Login.self, attributes: ["plan": "paid"])
        login.set("SUMMER", forKey: "coupon")
        transactions.context.set(["plan": "free", "coupon": "none", "tenant": "acme"])
        login.finish()
        let record = try record(login)
        #expect(record.summary.attributes == ["plan": "paid", "coupon": "SUMMER", "tenant": "acme"])
        #expect(record.timeline.map(\.attributes)[2] == ["tenant": "acme"])
    }

    /// Breaks when a part that is being opened on one thread misses a change of the context on another.
    @Test func noPartMissesAChangeThatComesWhileItIsOpened() throws {
        var options = TransactionManager.Options()
        options.diagnostics = { _ in }
        let late = Locked<TransactionManager?>(nil)
        // Called after the context is read and before the part is known.
        options.willRecord = { draft in
            if case .opened = draft { late.withLock { $0 }?.context["user"] = "u-1" }
            return draft
        }
        let transactions = TransactionManager.testing { $0 = options }
        late.withLock { $0 = transactions }
        let login = transactions.begin(Login.self)
        login.finish()
        let record = try #require(try transactions.allRecords().first)
        #expect(record.summary.attributes == ["user": "u-1"])
    }

    @Test func aThousandOpenPartsAreToldAndTheOthersAreNamed() throws {
        let told = Locked<[String]>([])
        let transactions = TransactionManager.testing { options in
            options.diagnostics = { sentence in told.withLock { $0.append(sentence) } }
        }
        let open = (0..<1_002).map { _ in transactions.begin(Login.self) }
        transactions.context["user"] = "u-1"
        let records = try transactions.allRecords()
        #expect(records.count == open.count)
        #expect(records.count { $0.summary.attributes == ["user": "u-1"] } == 1_000)
        transactions.diagnostics.settle()
        #expect(told.withLock { $0 }.contains { $0.contains("1000 transactions were open") })
    }

    // MARK: Attributes after the beginning

    @Test func aTransactionIsSaidSomethingOfAfterItsBeginning() throws {
        let login = transactions.begin(Login.self, attributes: ["variant": "A"])
        #expect(login.set("B", forKey: "variant") == .inMemory)
        #expect(login.set(["coupon": "SUMMER", "items": 3]) == .inMemory)
        #expect(login.set(nil, forKey: "coupon") == .inMemory)
        login.finish()
        let record = try record(login)
        #expect(record.summary.attributes == ["variant": "B", "items": 3])
        #expect(record.timeline.map(\.kind) == [.begun, .attributesSet, .attributesSet, .attributesSet, .finished])
        login.set(true, forKey: "late")
        #expect(try self.record(login).timeline.last?.isLate == true)
    }

    @Test func nothingIsRecordedWhereNothingIs() {
        #expect(TransactionManager.disabled.begin(Login.self).set(1, forKey: "a") == .off)
        let login = transactions.begin(Login.self)
        transactions.recording = .off
        #expect(login.set(1, forKey: "a") == .off)
        transactions.context["b"] = 1
        transactions.recording = .on
        #expect(transactions.begin(Login.self).part.canRecord)
        #expect(transactions.context.attributes == ["b": 1], "it is kept for what begins later")
        TransactionManager.disabled.context["a"] = 1
        #expect(TransactionManager.disabled.context.attributes.isEmpty)
    }

    @Test func secretsAreRedactedAndTheHookIsAsked() throws {
        let transactions = TransactionManager.testing { options in
            options.diagnostics = { _ in }
            options.willRecord = { draft in
                guard case .attributesSet(var set) = draft else { return draft }
                if set.attributes["withheld"] != nil { return nil }
                set.attributes["seen"] = true
                return .attributesSet(set)
            }
        }
        let login = transactions.begin(Login.self)
        login.set("hunter2", forKey: "password")
        #expect(login.set(1, forKey: "withheld") == .withheld)
        transactions.context["apiKey"] = "k-123456"
        login.finish()
        let record = try #require(try transactions.allRecords().first)
        #expect(
            record.summary.attributes == ["password": "[redacted]", "apiKey": "[redacted]", "seen": true])
    }

    // MARK: The user

    @Test func aUsersIDIsHashedUnlessTheAppSaysOtherwise() throws {
        transactions.context.setUser("u-4711")
        let hash = try #require(transactions.context["user"])
        #expect("\(hash)".count == 16 && !"\(hash)".contains("4711"))
        transactions.context.setUser("u-4712")
        #expect(transactions.context["user"] != hash)
        transactions.context.setUser("u-4711")
        #expect(transactions.context["user"] == hash, "the same user is the same")
        let other = TransactionManager.testing()
        other.context.setUser("u-4711")
        #expect(other.context["user"] != hash, "but not on another device")
        transactions.context.set("u-4711", forKey: "user")
        #expect(transactions.context["user"] == "u-4711")
        transactions.context.setUser(nil)
        #expect(transactions.context["user"] == nil)
        // No hash looks like a secret, whatever its input.
        for number in 0..<2_000 {
            let hash = transactions.sources.context.hash("\(number)")
            #expect(Redactor().value(hash, named: "user") == hash)
        }
    }

    // MARK: Across launches

    @Test func whatIsToBeRememberedIsThereInTheNextLaunch() async throws {
        do {
            let first = launch()
            first.context.set(["tenant": "acme", "password": "hunter2"], remembered: true)
            first.context["once"] = true
            first.context.setUser("u-4711", remembered: true)
            first.begin(Login.self).finish()
            try await first.sync()
        }
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(!text.contains("hunter2") && !text.contains("4711"))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path())[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let second = launch()
        let user = try #require(second.context["user"])
        #expect(second.context.attributes == ["tenant": "acme", "password": "[redacted]", "user": user])
        second.context.setUser("u-4711", remembered: true)
        #expect(second.context["user"] == user, "the same user in every launch")
        second.context.remove("tenant", "password")
        second.begin(Login.self).finish()
        try await second.sync()
        #expect(launch().context.attributes == ["user": user])
    }

    @Test func erasingEverythingOrStartingOverTakesItAway() async throws {
        for forget in [
            { (tx: TransactionManager) in _ = try await tx.erase(.all) },
            { tx in _ = try await tx.erase(.installation) }, { tx in try await tx.resetInstallation() },
        ] {
            let first = launch()
            first.context.setUser("u-4711", remembered: true)
            let user = first.context["user"]
            let login = first.begin(Login.self)
            try await first.sync()
            #expect(FileManager.default.fileExists(atPath: file.path()))
            try await forget(first)
            #expect(first.context.attributes.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: file.path()))
            #expect(launch().context.attributes.isEmpty)
            first.context.setUser("u-4711")
            #expect(first.context["user"] != user, "nothing ties what follows to what was before")
            login.finish()
            try await first.sync()
        }
    }

    @Test func aFileThatIsNoneIsPassedOver() throws {
        try FileManager.default.createDirectory(at: folder.file("store"), withIntermediateDirectories: true)
        for text in ["", "{", "[]", "{\"attributes\": 1}", String(repeating: "x", count: 1 << 19)] {
            try Data(text.utf8).write(to: file)
            #expect(launch().context.attributes.isEmpty)
        }
    }
}
