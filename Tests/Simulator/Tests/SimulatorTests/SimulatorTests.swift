import Foundation
import Testing
import Waybill
import WaybillTesting

enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0, requestSent = 1, responseReceived = 2
}

/// The path of a fact through a store on the device's disk, and what the system is told about the store's files.
@Suite(.timeLimit(.minutes(5))) struct SimulatorTests {
    private let folder = URL.temporaryDirectory.appending(
        path: "waybill-\(UUID().uuidString)", directoryHint: .isDirectory)

    @Test func whatIsRecordedIsStoredAndDelivered() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let transport = InMemoryTransport()
        let transactions = TransactionManager(store: .directory(folder), delivery: .transport(transport))
        try transactions.perform(Login.self) { login in
            #expect(login.log(.initiated) != .refused)
            try Task.checkCancellation()
        }
        try await transactions.sync()
        #expect(transactions.health.problems.isEmpty)
        let report = await transactions.flush(deadline: .seconds(30))
        #expect(report.isComplete)
        #expect(report.delivered == 3)
        #expect(try transactions.last(Login.self)?.events.map(\.event) == [.initiated])
        #expect(try transactions.last(Login.self)?.outcome == .succeeded)
    }

    /// Broken, an app that shares a store with its extensions would not be let write, or be ended for a lock that it has
    /// when it is suspended.
    @Test func aStoreThatOthersUseIsWrittenAndDeliveredWithTheSystemsLeave() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let shared = folder.appending(path: "shared")
        let transport = InMemoryTransport()
        let transactions = TransactionManager(
            store: .directory(shared, journals: folder.appending(path: "own")), delivery: .transport(transport))
        transactions.begin(Login.self).finish()
        #expect(await transactions.flush().delivered == 2)
        #expect(transactions.health.problems.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: shared.path)
        #expect(names.contains("waybill.sqlite"))
        #expect(!names.contains { $0.hasPrefix("journal-") })
    }

    #if canImport(Darwin)
    @Test func theDefaultStoreIsInTheAppsContainer() async throws {
        let transactions = TransactionManager()
        transactions.begin(Login.self).finish()
        try await transactions.sync()
        #expect(transactions.health.problems.isEmpty)
    }

    @Test func theStoreIsNotBackedUp() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(store: .directory(folder))
        transactions.begin(Login.self).finish()
        try await transactions.sync()
        #expect(try folder.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup == true)
    }

    /// Broken, the system would raise an exception, as such a session takes no bytes from memory.
    @Test func aConfigurationForTheBackgroundEndsNoApp() async throws {
        let transactions = TransactionManager(store: .inMemory)
        let session = transactions.session(configuration: .background(withIdentifier: UUID().uuidString))
        var request = try URLRequest(url: #require(URL(string: "http://127.0.0.1:1/")))  // where nobody listens
        request.httpMethod = "POST"
        await #expect(throws: URLError.self) { _ = try await session.upload(for: request, from: Data("x".utf8)) }
    }

    /// Broken, all Macs and simulators would be one device, `arm64`.
    @Test func theDeviceIsAModelAndNoProcessor() async throws {
        let transactions = TransactionManager(store: .inMemory)
        transactions.begin(Login.self).finish()
        try await transactions.sync()
        let device = try #require(transactions.transactions(Login.self).first?.sources.first?.device)
        #expect(!["", "arm64", "x86_64"].contains(device))
    }

    #if os(iOS) && !targetEnvironment(simulator)
    /// A simulator's files have no protection.
    @Test func theStoreIsProtectedUntilFirstUnlock() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(store: .directory(folder))
        transactions.begin(Login.self).finish()
        try await transactions.sync()
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        #expect(attributes[.protectionKey] as? FileProtectionType == .completeUntilFirstUserAuthentication)
    }
    #endif
    #endif
}
