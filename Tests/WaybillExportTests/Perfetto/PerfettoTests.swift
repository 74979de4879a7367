import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillExport
@testable import WaybillStore

/// Traces in the format of Chrome and Perfetto: one JSON object with the member `traceEvents`.
@Suite(.timeLimit(.minutes(5))) struct PerfettoTests {
    private struct Event: Decodable {
        var ph, name: String
        var pid, tid: Int
        var ts, dur, id: Int64?
        var args: [String: Value]?

        var end: Int64 { (ts ?? 0) + (dur ?? 0) }
    }

    private enum Value: Decodable, Equatable {
        case text(String)
        case other

        init(from decoder: any Decoder) throws {
            self = (try? decoder.singleValueContainer().decode(String.self)).map(Self.text) ?? .other
        }
    }

    private struct Trace: Decodable { var traceEvents: [Event] }

    private func events(of records: [TransactionRecord]) throws -> [Event] {
        var writer = PerfettoWriter()
        let bytes = records.flatMap { writer.next(Redactor().redacted($0)) } + PerfettoWriter.end
        return try JSONDecoder().decode(Trace.self, from: Data(bytes)).traceEvents
    }

    private func record(_ login: LoginHistory = LoginHistory()) throws -> TransactionRecord {
        let folder = try TemporaryDirectory()
        let store = try Store(.folder(folder.url))
        for set in [login.clientSet(), login.serverSet()] {
            _ = try store.ingest(set, receivedAt: LoginHistory.begun)
        }
        let reader = try StoreReader(.folder(folder.url))
        return try #require(try reader.transaction(login.transaction, now: LoginHistory.begun))
    }

    /// Breaks when a part is in another process, or an exchange or event is outside its part or at another time.
    @Test func aPartHoldsItsExchangesAndEvents() throws {
        let record = try record()
        let events = try events(of: [record])
        let parts = events.filter { $0.ph == "X" }
        #expect(parts.map(\.name) == ["login", "login"] && Set(parts.map(\.pid)).count == 2)
        #expect(parts[0].ts == LoginHistory.begun && parts[0].dur == 15_000)
        #expect(parts[0].args?["support_code"] == .text(record.summary.id.supportCode.description))
        #expect(parts[0].args?["outcome"] == .text("failed") && parts[1].args?["outcome"] == .text("succeeded"))

        let (begun, ended) = (events.filter { $0.ph == "b" }, events.filter { $0.ph == "e" })
        #expect(begun.map(\.name) == ["POST https://api.example.com/login"] && ended.map(\.name) == begun.map(\.name))
        #expect(begun.map(\.id) == ended.map(\.id) && begun.map(\.tid) == [parts[0].tid])
        #expect(begun[0].ts == LoginHistory.begun + 1_000 && ended[0].ts == LoginHistory.begun + 14_000)
        // The client's part contains the exchange, which contains the server's part.
        #expect(try #require(parts[1].ts) >= begun[0].ts ?? 0 && parts[1].end <= ended[0].ts ?? 0)

        let instants = events.filter { $0.ph == "i" }
        #expect(instants.map(\.name) == ["requestSent", "serverRejected", "event 2"])
        for instant in instants {
            let part = try #require(parts.first { $0.tid == instant.tid && $0.pid == instant.pid })
            #expect(try #require(instant.ts) >= part.ts ?? 0 && instant.ts ?? 0 <= part.end)
        }
        let names = events.filter { $0.ph == "M" && $0.name == "process_name" }.compactMap { $0.args?["name"] }
        #expect(
            names
                == [record.sources[0], record.sources[1]].map {
                    .text("\($0.app) \($0.appVersion) \($0.id.supportCode)")
                })
    }

    /// Breaks when two transactions of a source share a track, or a source has two names.
    @Test func numbersOfProcessesThreadsAndExchangesAreUnique() throws {
        let login = LoginHistory()
        let record = try record(login)
        let events = try events(of: [record, record, try self.record()])
        let processes = events.filter { $0.name == "process_name" }.map(\.pid)
        let threads = events.filter { $0.name == "thread_name" }.map(\.tid)
        let exchanges = events.filter { $0.ph == "b" }.compactMap { $0.id.map { Int($0) } }
        #expect(processes.count == 4 && threads.count == 6 && exchanges.count == 3)
        #expect(Set(processes + threads + exchanges).count == 13)
    }

    /// Breaks when a name ends its string, an extreme time traps, or an open part is drawn as ended.
    @Test func hostileNamesAndTimesStayInTheirStrings() throws {
        let hostile = "\"},{\"ph\":\"X\"\\\u{0}\u{1F}\u{2028}</script>\u{202E}"
        var record = try record()
        record.summary.useCaseName = hostile
        record.sources[0].app = hostile
        record.timeline[1].label = hostile
        record.timeline[1].attributes = [hostile: .string(hostile), "ratio": .double(.infinity)]
        record.parts[0].openedMicroseconds = .min
        record.parts[0].closedMicroseconds = .max
        record.parts[1].openedMicroseconds = .max
        record.parts[1].closedMicroseconds = nil
        record.exchanges[0].url = hostile
        record.exchanges[0].closedMicroseconds = .min
        let events = try events(of: [record])
        #expect(events.filter { $0.ph == "X" }.map(\.name) == [hostile] && events.contains { $0.ph == "B" })
        #expect(events.contains { $0.ph == "i" && $0.name == hostile })
        #expect(events.allSatisfy { (0...Limits.largestInteger).contains($0.ts ?? 0) && $0.dur ?? 0 >= 0 })
        let exchange = events.filter { $0.ph == "b" || $0.ph == "e" }
        #expect(exchange.count == 2 && exchange[0].ts == exchange[1].ts)
    }

    /// Breaks when an empty trace looks like a result.
    @Test func anAppWritesATrace() async throws {
        let folder = try TemporaryDirectory()
        let transactions = TransactionManager.testing()
        let file = folder.file("trace.json")
        let error = await #expect(throws: WaybillError.self) { try await transactions.export(as: .perfetto, to: file) }
        #expect(error?.code == .notFound)
        transactions.begin(useCase: 0).finish()
        let open = transactions.begin(useCase: 1)
        let summary = try await transactions.export(as: .perfetto, to: file)
        #expect(summary.factCount == 3)
        let trace = try JSONDecoder().decode(Trace.self, from: try Data(contentsOf: file))
        #expect(trace.traceEvents.filter { $0.ph == "X" || $0.ph == "B" }.map(\.name) == ["use case 1", "use case 0"])
        open.finish()
    }
}
