import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The snippets of the guides on transports and on what does not arrive, as they stand there.
@Suite(.timeLimit(.minutes(5)))
struct SmallGuidesTests {
    /// Some queue.
    actor MessageQueue {
        nonisolated let largestMessage = 1 << 20
        private(set) var messages: [[UInt8]] = []
        private var isClosed = false

        func add(_ message: [UInt8], type: String) throws {
            if isClosed { throw Refused() }
            messages.append(message)
        }

        func close() { isClosed = true }
    }

    struct QueueTransport: FlushTransport {
        let queue: MessageQueue

        func send(_ set: OutgoingSet) async throws -> Receipt {
            guard set.body.count <= queue.largestMessage else {
                throw Delivery.Failure.sendLess(WaybillError(.refused, "The queue takes no such large messages."))
            }
            try await queue.add(set.body, type: set.mediaType)
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
    }

    private let queue = MessageQueue()

    @Test func theGuidesTransportConforms() async {
        let transport = QueueTransport(queue: queue)
        let conformance = TransportConformance(
            transport, arrived: { await queue.messages }, breakDown: { await queue.close() })
        let findings = await conformance.findings()
        #expect(findings.isEmpty)
    }

    @Test func aManagerDeliversByIt() async {
        let transactions = TransactionManager.testing()
        transactions.delivery = .transport(QueueTransport(queue: queue))
        transactions.startDelivery()
        transactions.perform(Login.self) { _ in }
        #expect(await transactions.flush().error == nil)
        #expect(await !queue.messages.isEmpty)
    }

    @Test func aSetForTwoPlacesIsDeliveredWhenBothHaveIt() async throws {
        let archive = try TemporaryDirectory()
        let collector = try ScriptedCollector()
        let transactions = TransactionManager.testing()
        func deliver(to url: URL, token: String?, archive: URL) {
            let both = TwoPlaces(
                main: Delivery.collector(url, token: token), copy: Delivery.files(in: archive))
            transactions.delivery = .transport(both)
        }
        let file = archive.file("a-file")
        try Data().write(to: file)
        deliver(to: collector.server.url(), token: nil, archive: file)
        transactions.perform(Login.self) { _ in }
        #expect(await transactions.flush().error != nil, "A file is no folder.")
        deliver(to: collector.server.url(), token: nil, archive: archive.file("sets"))
        #expect(await transactions.flush() == FlushReport(delivered: 2))
        #expect(try FileManager.default.contentsOfDirectory(atPath: archive.file("sets").path).count == 1)
    }

    @Test func whatHealthSays() async {
        let transactions = TransactionManager.testing()
        transactions.perform(Login.self) { _ in }
        let report = await transactions.flush()
        print(report.delivered, report.pending, report.error?.message ?? "")
        let health = transactions.health
        for problem in health.problems { print("wrong:", problem.message) }
        for hint in health.hints { print("hint:", hint) }
        #expect(report.pending == 2 && health.hints.count == 1)
    }

    /// Breaks when the guide names a hint that health words otherwise: a reader would search for it in vain.
    @Test func theGuideHasEveryHintInItsWords() throws {
        let guide = try Guide.lines("NothingArrives.md").filter { $0.hasPrefix("| hint") }
        let transactions = TransactionManager.testing()
        var hints = TransactionManager.disabled.health.hints
        transactions.perform(Login.self) { _ in }
        hints += transactions.health.hints
        transactions.delivery = .transport(InMemoryTransport())
        hints += transactions.health.hints
        transactions.recording = .off
        hints += transactions.health.hints.prefix(1)
        transactions.recording = .on
        let login = transactions.begin(Login.self)
        _ = transactions.openExchange(
            ExchangeRequest(url: try #require(URL(string: "https://api.example.com"))), in: login)
        hints += transactions.health.hints.suffix(1)
        let field = "\(TransactionHeader(transaction: GUID(), useCase: Purchase.code))"
        #expect(transactions.join(header: { $0 == "Waybill-Transaction" ? field : nil }) == nil)
        hints += transactions.health.hints.filter { $0.contains("options.server.accepting") }
        hints += try hintsOfMistakes()
        #expect(hints.count == 11)
        for hint in hints {
            #expect(
                guide.contains { $0.split(separator: "*").dropFirst().first.map { hint.contains($0) } == true },
                "\(hint)")
        }
        #expect(guide.count == hints.count)
    }

    private func hintsOfMistakes() throws -> [String] {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(
            clock: clock, correlatedHosts: ["api.example.com"]
        ) { options in
            (options.memoryCapacity, options.diagnostics) = (64, { _ in })
        }
        let login = transactions.begin(Login.self)
        transactions.openExchange(ExchangeRequest(url: try #require(URL(string: "https://api.example.com")))).finish()
        login.finish()
        login.perform { _ in }
        transactions.perform(Login.self) { login in
            login.finish()
            clock.advance(by: .seconds(61))
            #expect(Login.current == nil)
        }
        var attributes: Attributes = [:]
        for number in 1...33 { attributes["a\(number)"] = .integer(Int64(number)) }
        let other = transactions.begin(Login.self, attributes: attributes)
        for _ in 1...100 { other.log(.initiated) }
        return transactions.health.hints.filter { !$0.contains("facts wait") }
    }

    @Test(arguments: ["WriteATransport.md", "NothingArrives.md"]) func theGuidesShowWhatIsTested(guide: String) throws {
        #expect(try Guide.linesOfSnippets(guide, notIn: [URL(filePath: #filePath)]) == [])
    }
}

/// The transport for two places, as the guide shows it.
struct TwoPlaces: FlushTransport {
    let main: any FlushTransport
    let copy: any FlushTransport

    func send(_ set: OutgoingSet) async throws -> Receipt {
        _ = try await copy.send(set)
        return try await main.send(set)
    }
}
