import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request made in one way: the caller's result and the record, checked against each other and against bare
/// `URLSession`.
struct Trial {
    let outcome: Outcome
    let exchange: TransactionRecord.Exchange
    let login: GUID

    /// Makes a request twice: captured, within its own transaction, and bare.
    ///
    /// - Parameters:
    ///   - isCompared: Whether bare `URLSession` gets that far here.
    ///   - isCancelledBeforehand: Whether the task is cancelled before it makes the captured request.
    ///   - cancel: Called with the task that makes the captured request, to cancel it if the case needs that.
    init(
        _ call: WayIn.Call, by way: WayIn, isCompared: Bool = true, isCancelledBeforehand: Bool = false,
        cancel: (@Sendable (Task<Outcome, Never>) async -> Void)? = nil
    ) async throws {
        let tx = TransactionManager(store: .inMemory, correlatedHosts: ["127.0.0.1"]) { options in
            options.diagnostics = { _ in }
        }
        let begun = tx.begin(Login.self)
        let mayBegin = Gate()
        let running = Task {
            await mayBegin.opened()
            return await begun.withCurrent { await Outcome { try await way.send(call, tx) } }
        }
        if isCancelledBeforehand { running.cancel() }
        mayBegin.open()
        await cancel?(running)
        outcome = await running.value
        begun.finish()
        login = begun.id
        if isCompared, !(way.limits.contains(.errors) && outcome.status == nil) {
            #expect(await Outcome { try await BareSession.send(call) } == outcome)
        }
        let exchanges = try tx.exchanges
        try #require(exchanges.count == 1)
        exchange = exchanges[0]
        check(call, by: way)
    }

    /// Checks that hold for every exchange.
    private func check(_ call: WayIn.Call, by way: WayIn) {
        #expect(exchange.method == call.request.httpMethod)
        #expect(exchange.url == call.request.url?.absoluteString)
        switch outcome {
        case .answered(let status, _, let fields, let body):
            #expect(exchange.state == .completed)
            #expect(exchange.status == status)
            #expect(exchange.error == nil)
            if !way.limits.contains(.responseBody) { #expect(exchange.receivedByteCount == Int64(body.count)) }
            for (name, value) in fields where name != "WWW-Authenticate" {
                #expect(exchange.responseHeaderFields.contains(HeaderField(name: name, value: value)))
            }
            if !way.limits.contains(.firstByte) { #expect(exchange.firstByteMicroseconds != nil) }
        case .failed(.cancelled): #expect(exchange.state == .cancelled)
        case .failed(let code):
            #expect(exchange.state == .failed)
            if !way.limits.contains(.errors) {
                #expect(exchange.error == RecordedError(domain: NSURLErrorDomain, code: Int64(code.rawValue)))
            }
        case .strange(let what): Issue.record("No answer to HTTP, and no URLError: \(what)")
        }
        let times = [
            exchange.openedMicroseconds, exchange.transfer.sentAtMicroseconds, exchange.firstByteMicroseconds,
            exchange.closedMicroseconds,
        ].compactMap { $0 }
        #expect(times == times.sorted())
        #expect(exchange.closedMicroseconds != nil)
    }
}
