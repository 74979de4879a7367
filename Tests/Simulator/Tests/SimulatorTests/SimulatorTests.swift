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
        #expect(transactions.events(Login.self) == [.initiated])
        #expect(transactions.outcome(Login.self) == .succeeded)
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
