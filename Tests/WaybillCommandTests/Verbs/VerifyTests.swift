#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct VerifyTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    @Test func aSoundStoreTellsItsLedgersAndGaps() async throws {
        try folder.makeStore(of: login.clientSet(1...2), login.clientSet(5...6), login.serverSet())
        let result = try await Command.waybill("verify", folder.url.path)
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("sound: 1 transaction, 7 facts, 2 sources\n"))
        #expect(
            result.output.contains(
                "remark   Source \(login.client.id): facts 3 to 4 were not taken in, although later ones were.\n"))
        let ledger = try #require(result.output.split(separator: "\n").first { $0.hasPrefix("\(login.client.id)") })
        #expect(ledger.split(separator: " ").dropFirst() == ["6", "4", "0", "0", "2", "0", "3-4"])
    }

    /// Breaks when the tables don't add up to the size of the file, or a table has no share.
    @Test func whatAnEventCostsIsToldByTable() async throws {
        try folder.makeStore(of: login.clientSet(), login.serverSet())
        let result = try await Command.waybill("verify", folder.url.path)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let start = try #require(lines.firstIndex(of: ["TABLE", "WITH", "INDEXES", "BYTES", "PER", "EVENT"]))
        let sizes = lines[(start + 1)...].compactMap { $0.count == 3 ? Int($0[1]) : nil }
        #expect(sizes.count > 10 && sizes.dropLast().reduce(0, +) == sizes.last)
        #expect(lines.contains { $0.first == "events" } && lines.last?.first == "all")
    }

    @Test func aCollectorTellsLedgersAndGaps() async throws {
        try folder.makeStore(of: login.clientSet(2...6))
        let serve = try await ServeProcess.start(folder)
        let result = try await Command.waybill("verify", serve.url)
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("sound: 5 facts, 1 source\n"))
    }

    /// Source X recorded 1,000 facts: 998 have arrived, and the device dropped 2 for lack of room.
    @Test(arguments: [false, true])
    func whatADeviceDroppedIsToldWithTheReason(isServed: Bool) async throws {
        var set = login.clientSet(1...1)
        set.sources[0].facts += (2...998).map {
            Fact(sequence: $0, part: 1, atMicroseconds: $0, content: .event(Fact.Event(code: 1)))
        }
        set.sources[0].dropped = [DroppedRange(first: 999, last: 1000, reason: .quota)]
        set.sources[0].ledger = Ledger(recorded: 1000, dropped: ["quota": 2], pending: 998)
        try folder.makeStore(of: set)
        let serve = isServed ? try await ServeProcess.start(folder) : nil
        let result = try await Command.waybill("verify", serve?.url ?? folder.url.path)
        #expect(result.status == 0)
        let ledger = try #require(result.output.split(separator: "\n").first { $0.hasPrefix("\(login.client.id)") })
        #expect(ledger.split(separator: " ").dropFirst() == ["1000", "998", "0", "2", "quota", "0", "0", "none"])
    }

    @Test func aDamagedFileIsNotSound() async throws {
        try folder.makeStore(of: login.clientSet())
        let file = try FileHandle(forUpdating: folder.file("waybill.sqlite"))
        let size = try file.seekToEnd()
        // Everything after the page with the schema.
        try file.seek(toOffset: 8192)
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 8192))
        try file.close()
        let result = try await Command.waybill("verify", folder.url.path)
        #expect(result.status == 1)
    }

    @Test func aSetFileIsReadRecordByRecord() async throws {
        try folder.write(login.clientSet(), named: "good")
        let good = try await Command.waybill("verify", folder.file("good.waybill-set.json").path)
        #expect(good.status == 0)
        #expect(good.text == "sound: 6 facts, 1 source")

        var set = login.clientSet()
        set.sources[0].facts[1].content = .event(Fact.Event(code: -1))
        try folder.write(set, named: "bad")
        let bad = try await Command.waybill("verify", folder.file("bad.waybill-set.json").path)
        #expect(bad.status == 1)
        #expect(
            bad.output.hasPrefix(
                "not sound: 5 facts, 1 source\nproblem  fact 2 of source \(login.client.id) was rejected: "))
    }

    @Test func whatIsNoSetIsToldWithWhere() async throws {
        try Data(#"{"set": "01890a5d-ac96-774b-bcce-b302099a8057", "sources": 1}"#.utf8).write(
            to: folder.file("set.json"))
        let result = try await Command.waybill("verify", folder.file("set.json").path)
        #expect(result.status == 1)
        #expect(result.text == "not sound\nproblem  This is no transaction set: /sources: an array was expected.")
        let json = try await Command.waybill("verify", folder.file("set.json").path, "--json")
        #expect(json.status == 1)
        #expect(json.output.contains(#""This is no transaction set: /sources: an array was expected.""#))
    }
}
#endif
