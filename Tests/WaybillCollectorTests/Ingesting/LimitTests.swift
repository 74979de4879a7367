#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

/// The collector refuses oversized bodies before they cost memory.
@Suite(.timeLimit(.minutes(5))) struct LimitTests {
    private let folder: TemporaryDirectory
    private let set = LoginHistory().clientSet()

    init() throws { folder = try TemporaryDirectory() }

    private func serving(
        _ limits: CollectorLimits = CollectorLimits(), _ body: (CollectorServer) async throws -> Void
    ) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url, limits: limits), body)
    }

    private func limits(_ change: (inout CollectorLimits) -> Void) -> CollectorLimits {
        var limits = CollectorLimits()
        change(&limits)
        return limits
    }

    private func gzip(_ bytes: [UInt8]) throws -> Data {
        let gzip = try Gzip()
        return Data(gzip.compress(bytes) + gzip.finish())
    }

    private let compressed = ["Content-Encoding": "gzip"]

    @Test(arguments: ["gzip", "GZIP", "x-gzip"])
    func aCompressedSetIsTakenIn(coding: String) async throws {
        try await serving { server in
            let answer = try await server.post(gzip(set.encoded()), headers: ["Content-Encoding": coding])
            #expect(answer.status == 200)
            #expect(try Receipt.decode(Array(answer.body)).acceptedCount == 6)
        }
    }

    @Test func aSetOfSeveralGzipMembersIsTakenIn() async throws {
        try await serving { server in
            let bytes = set.encoded()
            let answer = try await server.post(
                gzip(Array(bytes[..<100])) + gzip([]) + gzip(Array(bytes[100...])), headers: compressed)
            #expect(answer.status == 200)
        }
    }

    @Test func whatIsNoGzipOrNotWholeIsA400() async throws {
        try await serving { server in
            let whole = try gzip(set.encoded())
            for body in [Data(set.encoded()), whole.dropLast(1), whole + Data([1]), Data(), Data(whole.reversed())] {
                try await server.post(body, headers: compressed).expectProblem(400, "Bad Request")
            }
            #expect(try await server.value("/v1/sources", as: RecordPage<SourceRecord>.self).rows.isEmpty)
        }
    }

    @Test func aCompressedBodyThatUnpacksToTheLimitIsTaken() async throws {
        let bytes = set.encoded()
        try await serving(limits { $0.decompressedByteCount = bytes.count }) { server in
            #expect(try await server.post(gzip(bytes), headers: compressed).status == 200)
            let answer = try await server.post(gzip(bytes + [UInt8(ascii: " ")]), headers: compressed)
            answer.expectProblem(413, "Content Too Large")
            #expect(answer.json?["limit"] as? Int == bytes.count)
        }
    }

    /// Breaks when 64 KB take 64 MB of memory, and a thousand such bodies a thousand times as much.
    @Test func aGzipBombIsA413OnceItIsTooLarge() async throws {
        try await serving(limits { $0.decompressedByteCount = 1 << 20 }) { server in
            let bomb = try gzip([UInt8](repeating: UInt8(ascii: " "), count: 64 << 20))
            #expect(bomb.count < 100_000)
            let answer = try await server.post(bomb, headers: compressed)
            answer.expectProblem(413, "Content Too Large")
            #expect(answer.json?["limit"] as? Int == 1 << 20)
        }
    }

    @Test func moreFactsThanASetMayHaveAreA413() async throws {
        try await serving(limits { $0.factsPerSet = 5 }) { server in
            let answer = try await server.post(Data(set.encoded()))
            answer.expectProblem(413, "Content Too Large")
            #expect(answer.json?["limit"] as? Int == 5)
            #expect(try await server.post(LoginHistory().clientSet(1...5)).acceptedCount == 5)
        }
    }

    @Test func moreThanThereIsRoomForIsA503AndTheRoomComesBack() async throws {
        let length = set.encoded().count
        let collector = try Collector(folder: folder.url, limits: limits { $0.pendingByteCount = length + length / 4 })
        try await CollectorServer.run(collector) { server async throws in
            // Reserves half of the room and keeps it, because its body does not end. Not enough is left for another set
            // of about the same size.
            let slow = try RawClient(port: server.port)
            try await slow.send(
                RawClient.head("POST", "/v1/sets", headers: ["Content-Type": TransactionSet.mediaType], length: length)
                    + Data(set.encoded().prefix(length / 2)))
            try await eventually("half of the set is read") { collector.pendingBytes.count == length / 2 }
            let answer = try await server.post(Data(LoginHistory().clientSet().encoded()))
            answer.expectProblem(503, "Service Unavailable")
            #expect(answer.header("Retry-After") == "1")

            try await slow.send(Data(set.encoded().dropFirst(length / 2)))
            #expect(try await slow.response().status == 200)
            try await eventually("the room comes back") { collector.pendingBytes.count == 0 }
            #expect(try await server.post(Data(LoginHistory().clientSet().encoded())).status == 200)
        }
    }

    @Test func whatIsOlderThanTheAgeGoesAndIsStillKnown() async throws {
        let clock = ManualClock()
        var limits = CollectorLimits()
        limits.maximumAge = .seconds(86_400)
        let collector = try Collector(folder: folder.url, access: .open, limits: limits, clock: clock)
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(set)
            clock.advance(by: .seconds(86_000))
            let project = try await collector.projects.project(.standard)
            #expect(try await project.retire() == 0)
            let later = LoginHistory().clientSet()
            _ = try await server.post(later)
            clock.advance(by: .seconds(86_000))
            #expect(try await project.retire() == 6)
            #expect(try await server.value("/v1/transactions", as: RecordPage<TransactionSummary>.self).rows.count == 1)
            #expect(try await server.post(set).knownCount == 6)
            #expect(
                try await server.value("/v1/sources", as: RecordPage<SourceRecord>.self).rows.map(\.ledger.delivered)
                    == [6, 6])
        }
    }

    @Test func theLargestNumbersAreNoLimits() async throws {
        let forever = Duration.seconds(Int64.max)
        let largest = limits {
            ($0.bodyByteCount, $0.decompressedByteCount, $0.pendingByteCount) = (.max, .max, .max)
            ($0.factsPerSet, $0.factsPerTransaction, $0.requestsPerSecond) = (.max, .max, .max)
            ($0.storeByteCount, $0.transactionCount) = (Int64.max, Int.max)
            ($0.maximumAge, $0.sessionDuration, $0.readDuration) = (forever, forever, forever)
        }
        let collector = try Collector(folder: folder.url, access: .tokens, limits: largest)
        let token = try TokenFile(folder: folder.url).add(role: .admin, project: .standard).secret
        let fields = ["Authorization": token.fieldValue]
        try await CollectorServer.run(collector) { server async throws in
            let set = try gzip(set.encoded())
            #expect(try await server.post(set, headers: fields.merging(compressed) { $1 }).status == 200)
            #expect(try await server.get("/transactions", headers: collector.sessionCookie(token)).status == 200)
            #expect(try await server.get("/v1/transactions", headers: fields).text.contains("login"))
        }
        for project in collector.projects.all { #expect(try await project.retire() == 0) }
    }

    @Test func aProjectWhoseStoreIsGoneDoesNotKeepOthersFromTheirLimits() async throws {
        let clock = ManualClock()
        let names = try (1...8).map { try #require(ProjectName("project-\($0)")) }
        for name in names { _ = try bearer(name) }
        let collector = try Collector(
            folder: folder.url, access: .tokens, limits: limits { $0.maximumAge = .seconds(86_400) }, clock: clock)
        let project = try await collector.projects.project(names[0])
        _ = try await project.store.add(ReceivedSet(set, received: Date(microseconds: clock.wallMicroseconds())))
        for name in names.dropFirst() { try FileManager.default.removeItem(at: folder.file("\(name).sqlite")) }
        clock.advance(by: .seconds(90_000))
        let lines = LogLines()
        let service = Task { try await RetentionService(collector, logger: lines.logger).run() }
        defer { service.cancel() }
        try await eventually("the set is retired") { try await project.store.transactions(ListRequest()).rows.isEmpty }
        try await eventually("each error is in the log") { lines.all.count { $0.contains("nothing was retired") } == 7 }
    }

    private let open = Access.Identity.anyone

    private func bearer(_ project: ProjectName = .standard) throws -> Access.Identity {
        let token = try TokenFile(folder: folder.url).add(role: .ingest, project: project).token
        return Access.Identity(token)
    }

    @Test func whatIsReservedIsGivenBack() throws {
        let room = SharedBudget(limit: 10)
        do {
            let first = room.reservation(for: open)
            try first.grow(by: 6)
            #expect(throws: Problem.overloaded) { try room.reservation(for: open).grow(by: 5) }
            try first.grow(by: 4)
            #expect(room.count == 10)
            first.shrink(by: 3)
            #expect(room.count == 7)
        }
        #expect(room.count == 0)
    }

    /// Breaks when one token, or one project, can keep the collector from accepting the sets of all others.
    @Test func oneTokenHasHalfOfTheRoomAndOneProjectThreeQuarters() throws {
        let room = SharedBudget(limit: 100)
        let (one, second, others) = (try bearer(), try bearer(), try bearer(#require(ProjectName("shop"))))
        let first = room.reservation(for: one)
        try first.grow(by: 50)
        #expect(throws: Problem.overloaded) { try room.reservation(for: one).grow(by: 1) }
        let next = room.reservation(for: second)
        try next.grow(by: 25)
        #expect(throws: Problem.overloaded) { try next.grow(by: 1) }
        let last = room.reservation(for: others)
        try last.grow(by: 25)
        #expect(throws: Problem.overloaded) { try last.grow(by: 1) }
        first.shrink(by: 10)
        try next.grow(by: 10)
        #expect(room.count == 100)
        withExtendedLifetime((first, next, last)) {}
    }

    /// Otherwise an allowed set would never find room.
    @Test func aShareHoldsTheLargestBody() throws {
        let room = SharedBudget(limit: 100, largest: 90)
        try room.reservation(for: bearer()).grow(by: 90)
        let small = SharedBudget(limit: 80, largest: 90)
        try small.reservation(for: bearer()).grow(by: 80)
        #expect(throws: Problem.overloaded) { try small.reservation(for: bearer()).grow(by: 81) }
    }

    /// Breaks when the decompressed size of stalled bodies is reserved: four bodies of a few kilobytes would take all
    /// of the room.
    @Test func aGzipThatStallsHoldsWhatWasSentOfIt() async throws {
        let bomb = try gzip([UInt8](repeating: UInt8(ascii: " "), count: 12 << 20))
        let collector = try Collector(folder: folder.url)
        try await CollectorServer.run(collector) { server async throws in
            let slow = try RawClient(port: server.port)
            let fields = ["Content-Type": TransactionSet.mediaType, "Content-Encoding": "gzip"]
            try await slow.send(RawClient.head("POST", "/v1/sets", headers: fields, length: bomb.count + 1) + bomb)
            try await eventually("all of it has come") { collector.pendingBytes.count == bomb.count }
        }
    }
}
#endif
