#if Collector
import ArgumentParser
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillCommand
import WaybillQueries
import WaybillCore
import WaybillStore

/// Commands use one clock for "now".
@Suite(.timeLimit(.minutes(5))) struct CommandClockTests {
    private struct Fixed: TransactionClock {
        var wall: Int64
        func uptimeMicroseconds() -> Int64 { 0 }
        func wallMicroseconds() -> Int64 { wall }
    }

    private let folder: TemporaryDirectory
    private let login = LoginHistory()
    private static let day: Int64 = 86_400_000_000

    init() throws { folder = try TemporaryDirectory() }

    /// Breaks when a script that erases uses another clock than the one that lists.
    @Test(arguments: [(1, 1), (3, 0)]) func whatIsErasedBeforeATimeGoesByTheClock(days: Int64, left: Int) async throws {
        try folder.makeStore(of: login.clientSet())
        let erase = try Erase.parse([folder.url.path, "--before", "2d", "--yes"])
        try await CommandClock.$current.withValue(Fixed(wall: LoginHistory.begun + days * Self.day)) {
            try await erase.run()
        }
        let reader = try StoreReader(.folder(folder.url))
        #expect(
            try reader.transactions(matching: TransactionFilter(), limit: 10, after: nil, now: 0).rows.count == left)
    }

    @Test func stretchesOfTimeThatAreComparedGoByTheClock() async throws {
        let compare = try await Ask.Compare.asyncParse([folder.url.path, "--a", "48h..24h", "--b", "24h..0h"])
        let now = LoginHistory.begun
        let query = try CommandClock.$current.withValue(Fixed(wall: now)) { try compare.question() }
        guard case .compare(let question) = query, case .windows(let before, let after) = question.groups else {
            return #expect(Bool(false), "\(query)")
        }
        #expect(
            before.microseconds == now - 2 * Self.day..<now - Self.day && after.microseconds == now - Self.day..<now)
    }

    @Test func aSetThatIsImportedHasBeenHeardOfByTheClock() async throws {
        let set = login.clientSet()
        let file = folder.file("one.waybill-set.v1.json")
        try Data(set.encoded()).write(to: file)
        let store = folder.file("store")
        let command = try Import.parse([file.path, "--to", store.path])
        try await CommandClock.$current.withValue(Fixed(wall: LoginHistory.begun + 7)) { try await command.run() }
        #expect(try StoreReader(.folder(store)).sources().map(\.heardMicroseconds) == [LoginHistory.begun + 7])
    }
}
#endif
