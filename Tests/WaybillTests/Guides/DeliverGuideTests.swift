import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The guide on delivery: its table matches the policy, and its snippets compile.
@Suite(.timeLimit(.minutes(5))) struct DeliverGuideTests {
    private let guide: String

    init() throws {
        let guides = URL(filePath: #filePath).appending(path: "../../../../Sources/Waybill/Waybill.docc")
            .standardizedFileURL
        let file = guides.appending(path: "Deliver.md")
        guide = try String(contentsOf: file, encoding: .utf8)
    }

    /// Breaks when the guide promises behavior that the library does not have.
    @Test func theTableHasEveryRowOfThePolicyInItsWords() {
        let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| ") }
        for policy in ResponsePolicy.rows {
            let row = rows.first { $0.contains("*\(policy.sentence)*") }
            #expect(row != nil, "\(policy.sentence)")
            switch policy.remedy {
            case .retry: #expect(row?.contains("a pause") == true, "\(policy.sentence)")
            case .sendLess: #expect(row?.contains("half as many") == true)
            case .waitForNewDelivery: #expect(row?.contains("set anew") == true)
            }
        }
        let bounds = [1, 1_000].map { Backoff().bound(afterFailures: $0) }
        #expect(bounds == [.seconds(10), .seconds(3_600)] && guide.contains("10 seconds after the first failure"))
    }

    private struct Network: Sendable {
        var isUnmetered: Bool { get async { true } }
    }

    private struct Keys: Sendable {
        func signature(of body: Data?) async throws -> String { "\(body?.count ?? 0)" }
    }

    @Test func theSnippetsDoWhatTheGuideSays() async throws {
        let (place, network, keys) = (try TemporaryDirectory(), Network(), Keys())
        let collector = try ScriptedCollector([{ _ in .init(status: 401) }])
        let (url, token, folder, archive): (URL, String?, URL, URL) = (
            collector.server.url(), nil, place.url, place.file("archive")
        )
        let isAsked = Gate()
        @Sendable func askForToken(because error: WaybillError) { isAsked.open() }
        let transactions = TransactionManager.testing { options in
            options.canFlush = { await network.isUnmetered }  // asked before each set, whoever asked for the flush
            options.diagnostics = { _ in }
        }
        let transport = URLSessionTransport(collector: url) { request in
            var request = request
            request.setValue(try await keys.signature(of: request.httpBody), forHTTPHeaderField: "Signature")
            return request
        }
        transactions.delivery = .transport(transport)
        // Subscribed before anything is sent, to miss no event.
        let watching = Task { [events = transactions.deliveryEvents] in
            let transactions = (deliveryEvents: events, of: ())
            for await event in transactions.deliveryEvents {
                if case .stopped(let error) = event { askForToken(because: error) }
            }
        }
        transactions.perform(Login.self) { _ in }
        transactions.startDelivery(every: .seconds(30))
        await isAsked.opened()
        #expect(collector.server.requests.first?.header("Signature") != nil)

        let both = TwoPlaces(
            main: Delivery.collector(url, token: token), copy: Delivery.files(in: archive))
        transactions.delivery = .transport(both)
        let report = await transactions.flush(deadline: .seconds(5))
        #expect(report.error == nil && report.pending == 0)
        await transactions.flush()
        for fact in try await transactions.quarantined() { print(fact.id.sequence, fact.reason) }
        try await transactions.resendQuarantined()
        try await transactions.exportQuarantined(to: folder)
        #expect(try place.names() == ["archive"])
        watching.cancel()
        await watching.value
    }

    @Test func aManagerHasACollector() throws {
        let (url, token) = (try refusedURL(), "secret")
        let transactions = TransactionManager(
            delivery: .collector(url, token: token),
            correlatedHosts: ["api.example.com"])
        #expect(transactions.delivery != nil)
    }

    @Test func aShareIsDeliveredAsTheGuideSays() {
        var options = TransactionManager.Options()
        options.sampling.setRate(0.1, for: Login.self, slowerThan: .seconds(5))
        options.sampling.setRate(0.5)
        options.sampling.acceptsRatesFromCollector = true
        let login = options.sampling.sampling(of: Login.code, root: GUID())
        #expect(login?.perMillion == 100_000 && login?.slowMicroseconds == 5_000_000)
        #expect(options.sampling.sampling(of: Purchase.code, root: GUID())?.perMillion == 500_000)
    }

    /// A stand-in for a queue.
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

    @Test func theGuideShowsWhatIsTested() throws {
        #expect(try Guide.linesOfSnippets("Deliver.md", notIn: [URL(filePath: #filePath)]) == [])
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
