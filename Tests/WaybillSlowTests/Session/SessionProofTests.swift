import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillTests

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Many requests at once, large ones, and ones cancelled at any moment.
@Suite(.timeLimit(.minutes(10)))
struct SessionProofTests {
    /// 640 exchanges, 32 at a time, in 320 transactions with two concurrent ones each.
    @Test func everyRequestCarriesItsOwnTransactionAndExchange() async throws {
        let tx = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])
        let server = try LoopbackServer { .text($0.path) }
        let base = server.url()
        let logins = (0..<320).map { _ in tx.begin(Login.self) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<16 {
                group.addTask {
                    for index in stride(from: worker, to: logins.count, by: 16) {
                        try await logins[index].withCurrent {
                            async let first = send(
                                base.appending(path: "\(index)/0"), by: WayIn.session[index % WayIn.session.count], tx)
                            async let second = send(
                                base.appending(path: "\(index)/1"),
                                by: WayIn.session[(index + 1) % WayIn.session.count], tx)
                            _ = try await (first, second)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let records = try tx.allRecords()
        #expect(records.count == 320)
        #expect(server.requests.count == 640)
        let exchanges = Dictionary(
            uniqueKeysWithValues: records.flatMap { record in record.exchanges.map { ($0.id, (record.summary.id, $0)) }
            })
        var pathsByTransaction: [GUID: Set<String>] = [:]
        for request in server.requests {
            let told = try #require(request.header("Waybill-Transaction").flatMap { TransactionHeader(parsing: $0) })
            let source = try #require(told.source)
            let (transaction, exchange): (GUID, TransactionRecord.Exchange) = try #require(
                exchanges[FactID(source: source, sequence: told.exchange ?? 0)])
            #expect(transaction == told.transaction)
            #expect(exchange.url == base.appending(path: String(request.path.dropFirst())).absoluteString)
            #expect(exchange.state == .completed)
            pathsByTransaction[transaction, default: []].insert(request.path)
        }
        for (index, login) in logins.enumerated() {
            #expect(pathsByTransaction[login.id] == ["/\(index)/0", "/\(index)/1"])
        }
    }

    private func send(_ url: URL, by way: WayIn, _ tx: TransactionManager) async throws {
        let (data, _) = try await way.send(WayIn.Call(request: URLRequest(url: url)), tx)
        #expect(data == Data(url.path.utf8))
    }

    /// The short run; `TestProcess cancel 8000` is the long one.
    @Test func cancellingAtAnyMomentNeitherHangsNorTrapsAndEveryRecordIsClosed() async throws {
        let child = try ChildProcess("TestProcess", ["cancel", "1600"])
        let (output, status) = await child.finished(within: .seconds(90))
        #expect(status == 0)
        let words = output.split(whereSeparator: \.isWhitespace)
        let numbers = words.compactMap { Int($0) }
        try #require(numbers.count == 4)
        #expect(numbers[0] + numbers[1] == 1600)
        #expect(numbers[1] > 0, "nothing was cancelled: this proved nothing")
        #expect(numbers[2] == 0)
        #expect(numbers[3] == 0, "left in progress")
    }

    #if os(Linux)
    @Test func aDownloadOf256MegabytesTakesNoMoreMemoryWithCaptureThanWithout() async throws {
        let body = Data(repeating: 7, count: 1 << 20)
        let server = try LoopbackServer { _ in LoopbackServer.Response(body: body).repeated(256) }
        func peakMegabytes(_ kind: String) async throws -> Int {
            let child = try ChildProcess("TestProcess", [kind, server.url().absoluteString])
            let output = await child.finished().output
            let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            try #require(numbers.count == 2)
            #expect(numbers[0] == 256 << 20)
            #expect(numbers[1] > 1_024)
            return numbers[1] / 1024
        }
        let captured = try await peakMegabytes("download-captured")
        let off = try await peakMegabytes("download-off")
        let bare = try await peakMegabytes("download-bare")
        #expect(captured <= off + 16)
        #expect(captured <= bare + 16)
        // Buffering the body would take all 256 MB.
        #expect(captured < 200)
    }
    #endif
}
