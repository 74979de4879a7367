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

/// The app's own hook runs before redaction, which has the last word.
@Suite(.timeLimit(.minutes(5))) struct RecordingHookTests {
    // MARK: Limits of the hook

    /// Breaks when an app can take out one secret and put in another.
    @Test func whatTheHookAddsIsRedacted() async throws {
        let tx = TransactionManager.hooked(bodies: BodyPolicy()) { draft in
            switch draft {
            case .opened(var opened):
                opened.attributes = ["password": "hunter2"]
                return .opened(opened)
            case .event(var event):
                event.error = RecordedError(code: 1, text: "Bearer abcdefgh12345678")
                return .event(event)
            case .attributesSet(var set):
                set.attributes = ["password": "hunter2"]
                return .attributesSet(set)
            case .closed(var closed):
                closed.attributes = ["note": "token=abcdefgh12345678"]
                return .closed(closed)
            case .exchangeOpened(var request):
                request.url += "?token=abcdefgh12345678"
                request.headerFields.append(.init(name: "Authorization", value: "hunter2"))
                return .exchangeOpened(request)
            case .exchangeClosed(var response):
                response.headerFields.append(.init(name: "Set-Cookie", value: "hunter2"))
                return .exchangeClosed(response)
            case .body(var body):
                body.bytes = Array(#"{"password":"hunter2"}"#.utf8)
                return .body(body)
            }
        }
        let login = tx.begin(Login.self)
        login.log(.initiated)
        let exchange = tx.openExchange(try ExchangeRequest.correlated(), in: login)
        exchange.responded(
            ExchangeResponse(status: 200, headerFields: [.init(name: "Content-Type", value: "text/json")]))
        exchange.received(Data("{}".utf8))
        exchange.finish()
        login.finish()
        let record = try #require(tx.transactions(Login.self).first)
        let body = try await tx.body(of: try #require(record.exchanges.first?.id), .response)
        #expect(body.map { String(decoding: $0.bytes, as: UTF8.self) } == #"{"password":"[redacted]"}"#)
        let all = "\(record)"
        #expect(!all.contains("hunter2") && !all.contains("abcdefgh"), "\(all)")
        #expect(all.components(separatedBy: "[redacted]").count > 5)
    }

    /// Breaks when an app's mistake puts an event of one transaction into another.
    @Test func whichEventItIsCannotBeChanged() throws {
        let first = Locked<RecordingDraft?>(nil)
        let tx = TransactionManager.hooked { draft in
            guard case .event = draft else { return draft }
            return first.withLock { first in
                first = first ?? draft
                return first
            }
        }
        let (one, other) = (tx.begin(Login.self), tx.begin(Login.self))
        one.log(.initiated, attributes: ["of": "one"])
        other.log(.requestSent, attributes: ["of": "other"])
        let records = try tx.transactions(Login.self)
        let events = records.map { $0.timeline.filter { $0.kind == .event } }
        #expect(events.map { $0.map(\.code) } == [[0], [1]])
        #expect(events.map { $0.map(\.attributes) } == [[["of": "one"]], [["of": "one"]]])
    }

    /// Breaks when a draft of another kind is recorded as the hook's answer.
    @Test func aDraftOfAnotherCaseCountsAsWithheld() throws {
        let tx = TransactionManager.hooked { draft in
            guard case .event(let event) = draft else { return draft }
            return .closed(
                .init(transaction: event.transaction, useCase: event.useCase, outcome: .failed, attributes: [:]))
        }
        let login = tx.begin(Login.self)
        #expect(login.log(.initiated) == .withheld)
        #expect(tx.health.withheld == 1)
        #expect(try tx.transactions(Login.self).first?.timeline.map(\.kind) == [.begun])
    }

    // MARK: Counting

    /// Breaks when a collector looks for facts that never existed, or calls them lost.
    @Test func whatIsWithheldLeavesNoGapInTheSequence() async throws {
        let transport = InMemoryTransport()
        let tx = TransactionManager.hooked { draft in
            guard case .event(let event) = draft else { return draft }
            return event.code == Login.requestSent.rawValue ? nil : draft
        }
        tx.delivery = .transport(transport)
        tx.perform(Login.self) { login in
            for event in [Login.initiated, .requestSent, .responseReceived, .requestSent] { login.log(event) }
        }
        #expect(await tx.flush().error == nil)
        let share = try #require(transport.transactionSets.first?.sources.first)
        #expect(share.facts.map(\.sequence) == [1, 2, 3, 4])
        #expect(share.ledger.recorded == 4 && share.ledger.isBalanced && share.ledger.refused == 0)
        #expect(share.dropped.isEmpty)
        #expect(tx.health.withheld == 2 && tx.health.isGood)
    }

    @Test func ofATransactionThatIsWithheldNothingIsRecordedAndNothingTellsOfIt() throws {
        let tx = TransactionManager.hooked { draft in if case .opened = draft { nil } else { draft } }
        let login = tx.begin(Login.self)
        #expect(login.log(.initiated) == .withheld)
        let exchange = tx.openExchange(try ExchangeRequest.correlated(), in: login)
        #expect(!exchange.isRecorded && exchange.headers.isEmpty)
        let url = try ExchangeRequest.correlated().url
        #expect(login.headers(for: url).isEmpty)
        login.finish()
        #expect(try tx.allRecords().isEmpty)
        #expect(tx.health.withheld == 3)
        #expect(tx.health.refused == 0)
    }

    /// Breaks when each ending that an app withholds takes room for ever, until recording stops.
    @Test func whatIsWithheldHoldsNoRoom() async throws {
        var options = TransactionManager.Options.hooked { draft in if case .closed = draft { nil } else { draft } }
        options.maximumOpen = 16
        let tx = TransactionManager.testing { $0 = options }
        for number in 1...40 {
            let login = tx.begin(Login.self)
            login.log(.initiated)
            login.finish()
            try await tx.sync()
            #expect(tx.health.refused == 0, "after \(number)")
        }
        #expect(tx.health.withheld == 40)
    }

    @Test func nothingIsAskedWhileRecordingIsOff() throws {
        let asked = Locked(0)
        let tx = TransactionManager.hooked { draft in
            asked.withLock { $0 += 1 }
            return draft
        }
        let login = tx.begin(Login.self)
        tx.recording = .off
        #expect(login.log(.initiated) == .off)
        login.finish()
        #expect(asked.withLock { $0 } == 1)
        #expect(tx.health.withheld == 0)
    }

    // MARK: Threads

    /// Breaks when a hook that records calls itself without end, or waits for itself.
    @Test func aHookCanRecord() async throws {
        let (manager, asked, tasks) = (
            Locked<TransactionManager?>(nil), Locked(0), Locked<[Task<LogResult, Never>]>([])
        )
        let tx = TransactionManager.hooked { draft in
            asked.withLock { $0 += 1 }
            guard let tx = manager.withLock({ $0 }) else { return draft }
            _ = tx.health
            tx.perform(Purchase.self) { purchase in
                purchase.log(.started)
                guard let request = ExchangeRequest(URLRequest(url: URL(filePath: "/"))) else { return }
                let exchange = tx.openExchange(request)
                exchange.responded(ExchangeResponse(status: 200))
                exchange.finish()
            }
            let purchase = tx.begin(Purchase.self)
            tasks.withLock { $0.append(Task { purchase.log(.paid) }) }
            return draft
        }
        manager.withLock { $0 = tx }
        let login = tx.begin(Login.self)
        login.log(.initiated)
        let exchange = tx.openExchange(try ExchangeRequest.correlated(), in: login)
        exchange.finish()
        login.finish()
        for task in tasks.withLock({ $0 }) { #expect(await task.value != .off) }
        #expect(asked.withLock { $0 } == 5)
        #expect(try tx.transactions(Login.self).first?.timeline.count == 5)
        #expect(try tx.transactions(Purchase.self).flatMap(\.events).count == 10, "what the hook records is recorded")
        manager.withLock { $0 = nil }
    }

    /// Breaks when an app's slow hook in one place holds up all others.
    @Test func aSlowHookHoldsUpNobodyElse() async throws {
        let (isInside, goOn) = (Gate(), Gate())
        let tx = TransactionManager.hooked { draft in
            guard case .event(let event) = draft, event.code == Login.requestSent.rawValue else { return draft }
            isInside.open()
            _ = goOn.wait(within: .seconds(120))
            return draft
        }
        let login = tx.begin(Login.self)
        let isOver = Gate()
        Thread.detachNewThread {
            login.log(.requestSent)
            isOver.open()
        }
        await isInside.opened()
        #expect(login.log(.initiated) == .inMemory)
        #expect(tx.begin(Purchase.self).log(.started) == .inMemory)
        #expect(!isOver.isOpen)
        goOn.open()
        await isOver.opened()
        #expect(
            try tx.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.initiated, .requestSent],
            "it is recorded when the hook has answered")
    }

    /// Breaks when the Swift runtime ends a server that works on several things at once.
    @Test func theHookRunsInTheBodyOfATaskGroup() async throws {
        let tx = TransactionManager.hooked { $0 }
        let login = tx.begin(Login.self)
        await withTaskGroup(of: Void.self) { group in
            login.log(.initiated)
            group.addTask { login.log(.requestSent) }
            login.log(.responseReceived)
        }
        #expect(try tx.transactions(Login.self).flatMap(\.events).count == 3)
    }
}
