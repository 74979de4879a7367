import Foundation
import Testing
import WaybillCore

@testable import WaybillLegacy
@testable import WaybillStore

/// The part of a set that version 0.0.1 can carry, and the handling of the rest.
@Suite(.timeLimit(.minutes(5))) struct LegacyRenditionTests {
    private let app = FactWriter()
    private let transaction = GUID()

    private func rendition(_ sequences: ClosedRange<Int64>? = nil) -> LegacyRendition {
        LegacyRendition(of: app.set(sequences))
    }

    /// Breaks when servers of the first framework receive something other than the published format. A separate program
    /// made the golden files.
    @Test(arguments: ["login-from-client-and-server", "every-kind-and-member"])
    func thePublishedExamplesAreWhatIsWritten(name: String)
        throws
    {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../../Schemas/examples"
        )
        .standardizedFileURL
        func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: examples.appending(path: path))) }
        let set = try TransactionSet.decode(bytes("valid/\(name).json"))
        let golden = try LegacySet.decode(bytes("legacy/from-\(name).json"))
        #expect(LegacyRendition(of: set).set == golden)
    }

    @Test func aTransactionHasItsEventsAtTheirOwnTimesAndItsDevice() {
        let part = app.open(transaction, useCase: 17, attributes: ["variant": "B"])
        app.event(0, part: part, at: 10)
        app.event(
            3, part: part, error: RecordedError(domain: "Net", code: -1001, text: "Too late."), attributes: ["try": 2],
            at: 11)
        app.event(4, part: part, error: RecordedError(domain: "Net", code: -1004), at: 12)
        app.event(5, part: part, error: RecordedError(code: 401), at: 13)
        let time = "Thu, 09 Oct 2025 08:53:"
        #expect(
            rendition().set
                == LegacySet(transactions: [
                    LegacySet.Transaction(
                        id: transaction, useCase: 17, deviceMake: "device", deviceOS: "Linux", deviceOSVersion: "6",
                        logs: [
                            LegacySet.Log(event: 0, timestamp: time + "30 GMT"),
                            LegacySet.Log(
                                event: 3, timestamp: time + "31 GMT", errorCode: .number(-1001),
                                errorDescription: "Too late."),
                            LegacySet.Log(
                                event: 4, timestamp: time + "32 GMT", errorCode: .number(-1004), errorDescription: "Net"
                            ),
                            LegacySet.Log(event: 5, timestamp: time + "33 GMT", errorCode: .number(401)),
                        ])
                ]))
        #expect(rendition().rejections.isEmpty)
    }

    /// Breaks when a transaction without events is unknown to the server until one happens.
    @Test func aPartWithoutEventsIsATransactionWithoutLogs() {
        app.open(transaction, useCase: 4)
        #expect(rendition().set.transactions.map(\.logs) == [[]])
    }

    @Test func partsOfOneTransactionAreOneTransactionOfEachDevice() {
        let server = FactWriter("server")
        let parts = [
            app.open(transaction), app.open(transaction, joined: true), server.open(transaction, joined: true),
        ]
        app.event(1, part: parts[1])
        app.event(2, part: parts[0])
        server.event(10, part: parts[2])
        let both = LegacyRendition(of: TransactionSet(id: GUID(), sources: [app.share(), server.share()]))
        #expect(both.set.transactions.map(\.id) == [transaction, transaction])
        #expect(both.set.transactions.map { $0.logs.map(\.event) } == [[1, 2], [10]])
    }

    /// Breaks when facts disappear without a trace, neither at the server nor in any ledger.
    @Test func whatThatVersionHasNoPlaceForIsRejectedWithTheReason() {
        let part = app.open(transaction)
        let exchange = app.openExchange(part: part)
        app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part)
        app.event(1, part: part)
        app.close(part, .failed, error: RecordedError(code: 1))
        app.openExchange(part: 0)
        let rendition = rendition()
        #expect(rendition.rejections.map(\.sequence) == [2, 3, 5, 6])
        #expect(rendition.rejections.map(\.index) == [1, 2, 4, 5])
        #expect(rendition.rejections.allSatisfy { $0.source == app.id })
        #expect(rendition.rejections.map { $0.reason.contains("exchanges") } == [true, true, false, true])
        #expect(rendition.rejections[2].reason.contains("ended"))
        #expect(rendition.set.factCount == 2)
    }

    // MARK: Parts that earlier sets have opened

    /// Breaks when events logged after a flush belong to no transaction.
    @Test func anEventOfAPartThatAnEarlierSetOpenedFindsItsTransaction() throws {
        let (store, _) = try Store.inMemory()
        let part = app.open(transaction, useCase: 17)
        app.event(1, part: part)
        let other = app.open(GUID(), useCase: 4)
        app.event(2, part: other)
        app.event(3, part: part)
        try app.record(into: store)
        let first = try #require(try store.lease(LeaseLimit(factCount: 2)))
        #expect(try store.settle(first.id, rejections: [], at: 0))

        let second = try #require(try store.lease())
        let rendition = LegacyRendition(of: second)
        #expect(rendition.set.transactions.map(\.useCase) == [4, 17])
        #expect(rendition.set.transactions.map { $0.logs.map(\.event) } == [[2], [3]])
        #expect(rendition.set.transactions.last?.id == transaction)
        #expect(rendition.rejections.isEmpty)
    }

    @Test func anEventWhoseOpeningIsGoneIsRejectedWithTheReason() throws {
        let part = app.open(transaction)
        app.event(1, part: part)
        let rendition = rendition(2...2)
        #expect(rendition.set.transactions.isEmpty)
        #expect(rendition.rejections.map(\.sequence) == [2])
        #expect(rendition.rejections.first?.reason.contains("opening") == true)
    }
}
