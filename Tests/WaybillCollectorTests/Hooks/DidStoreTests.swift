#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillQueries
import WaybillStore

/// The host of a collector is notified of stored facts, and can't delay or fail a request.
@Suite(.timeLimit(.minutes(5))) struct DidStoreTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()
    private let notices = Locked<[Collector.Stored]>([])

    init() throws { folder = try TemporaryDirectory() }

    private func heard(_ count: Int) async throws -> [Collector.Stored] {
        try await eventually("\(count) notices") { notices.withLock { $0.count } >= count }
        return notices.withLock { $0 }
    }

    /// Breaks when the host is notified of facts that a power cut can still undo, or that a reader doesn't see.
    @Test func theHostHearsOfFactsThatAreCommitted() async throws {
        let (folder, notices, transaction) = (folder, notices, login.transaction)
        let isThere = Locked<[Bool]>([])
        let collector = try Collector(
            folder: folder.url, access: .open,
            didStore: { stored in
                let store = try? StoreReader(.folder(folder.url))
                let record = try? store?.transaction(called: "\(transaction)", now: 0)
                isThere.withLock { $0.append(record != nil) }
                notices.withLock { $0.append(stored) }
            })
        try await CollectorServer.run(collector) { server async throws in
            let set = login.clientSet(1...4)
            #expect(try await server.post(set).acceptedCount == 4)
            var heard = try await heard(1)
            #expect(heard[0].origin.source == login.client.id && heard[0].origin.project == "waybill")
            #expect(heard[0].transactions == [login.transaction] && heard[0].factCount == 4)
            // A repeated set stores nothing.
            #expect(try await server.post(set).knownCount == 4)
            #expect(try await server.post(login.clientSet(3...6)).acceptedCount == 2)
            #expect(try await server.post(login.serverSet()).acceptedCount == 3)
            heard = try await self.heard(3)
            #expect(heard.map(\.factCount) == [4, 2, 3])
            #expect(heard.map(\.transactions) == Array(repeating: [login.transaction], count: 3))
            #expect(heard[2].origin.app == "server")
        }
        #expect(isThere.withLock { $0 } == [true, true, true])
    }

    @Test func theHostHearsNothingOfWithheldFacts() async throws {
        let notices = notices
        let collector = try Collector(
            folder: folder.url, access: .open,
            willStore: { draft, origin in origin.app == "app" ? nil : draft },
            didStore: { stored in notices.withLock { $0.append(stored) } })
        try await CollectorServer.run(collector) { server async throws in
            #expect(try await server.post(login.clientSet()).acceptedCount == 6)
            #expect(try await server.post(login.serverSet()).acceptedCount == 3)
            #expect(try await heard(1).map(\.origin.app) == ["server"])
        }
    }

    /// Breaks when a hanging host delays answers, or its notices fill the memory.
    @Test func aHostThatHangsDelaysNoAnswer() async throws {
        let (gate, notices) = (Gate(), notices)
        let collector = try Collector(
            folder: folder.url, access: .open,
            didStore: { stored in
                _ = gate.wait(within: .seconds(120))
                notices.withLock { $0.append(stored) }
            })
        try await CollectorServer.run(collector) { server async throws in
            for _ in 0..<3 { #expect(try await server.post(LoginHistory().clientSet()).acceptedCount == 6) }
            #expect(notices.withLock { $0.isEmpty })
            gate.open()
            #expect(try await heard(3).count == 3)
        }
        let closed = Gate()
        let queue = StoredNotices { _ in _ = closed.wait(within: .seconds(120)) }
        let stored = Collector.Stored(
            origin: Collector.Origin(login.client, in: .standard), transactions: [], factCount: 1)
        let passed = (0..<StoredNotices.limit + 5).count { _ in queue.pass(stored) }
        #expect(passed == StoredNotices.limit)
        closed.open()
        try await eventually("there is room again") { queue.pass(stored) }
    }
}
#endif
