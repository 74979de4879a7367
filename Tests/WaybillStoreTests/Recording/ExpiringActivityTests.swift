import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillStore

/// A shared store is open only while the system lets the process run.
@Suite(.timeLimit(.minutes(5))) struct ExpiringActivityTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// A system that grants or denies activities, and counts them.
    private final class System: Sendable {
        private let state = Locked((isWilling: true, running: 0, begun: 0))
        var isWilling: Bool {
            get { state.withLock { $0.isWilling } }
            set { state.withLock { $0.isWilling = newValue } }
        }
        var running: Int { state.withLock { $0.running } }
        var begun: Int { state.withLock { $0.begun } }

        var activity: ExpiringActivity {
            ExpiringActivity { [state] _, body in
                Thread.detachNewThread {
                    guard state.withLock({ $0.isWilling }) else { return body(true) }
                    state.withLock { ($0.running, $0.begun) = ($0.running + 1, $0.begun + 1) }
                    body(false)
                    state.withLock { $0.running -= 1 }
                }
            }
        }
    }

    private func writer(_ system: System) -> SourceWriter {
        SourceWriter(
            source: SourceIdentity(id: GUID(), app: "test"),
            place: .folder(folder.url.appending(path: "shared"), own: folder.url.appending(path: "own")),
            clock: SystemClock(), capacity: 100, activity: system.activity, writesByItself: false)
    }

    /// Breaks when the system suspends the process with the writer's lock, and ends it for that.
    @Test func theSystemIsAskedForEachPieceOfWorkAndToldOfItsEnd() async throws {
        let system = System()
        let writer = writer(system)
        _ = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        let running = try await writer.run { _, store in
            try store.write { () throws(WaybillError) in system.running }
        }
        #expect(running >= 1)
        #expect(system.begun > 0)
        try await eventually("the last piece of work is told to be over") { system.running == 0 }
    }

    /// Breaks when the system suspends the process with a reader's locks, and ends it for that.
    @Test func aReaderOfASharedStoreHoldsOffTheSuspensionWhileItLives() async throws {
        let system = System()
        let writer = writer(system)
        _ = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        try await writer.drain()
        let before = system.begun
        #expect(try await writer.read { _ in system.begun } == before + 2, "The writer asks once, and the reader once.")
        try await eventually("the work is told to be over") { system.running == 0 }

        var reader: StoreReader? = try StoreReader(writer.place, patience: nil, activity: system.activity)
        #expect(system.running == 1)
        withExtendedLifetime(reader) {}
        reader = nil
        try await eventually("the reader is told to be closed") { system.running == 0 }
        system.isWilling = false
        #expect(throws: WaybillError.self) {
            try StoreReader(writer.place, patience: nil, activity: system.activity)
        }
        _ = try StoreReader(.folder(folder.url.appending(path: "shared")), patience: nil, activity: system.activity)
    }

    /// Breaks when a store opened by its URL is locked in a group's container.
    @Test func aGroupsContainerIsKnownByItsPath() {
        let device = "/private/var/mobile/Containers/Shared/AppGroup/0F4C1A7E-6D9C-4B0E-9A53-8D6F1C1F2B3A/Waybill"
        #expect(ResolvedLocation.isInGroupContainer(device))
        #expect(!ResolvedLocation.isInGroupContainer("/private/var/mobile/Containers/Data/Application/0F4C/Documents"))
    }

    /// Breaks when a process that may not continue takes the lock nevertheless, or loses its recorded facts.
    @Test func whereTheSystemSaysNoTheStoreStaysClosedAndTheJournalKeepsAll() async throws {
        let system = System()
        let writer = writer(system)
        _ = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        try await writer.drain()
        system.isWilling = false
        _ = writer.recorder.record(.event(Fact.Event(code: 1)), part: 1)
        await #expect(throws: WaybillError.self) { try await writer.drain() }
        #expect(writer.problem?.message.contains("about to suspend") == true)
        system.isWilling = true
        try await writer.drain()
        #expect(try await writer.run { _, store in try store.pendingCount() } == 2)
    }
}
