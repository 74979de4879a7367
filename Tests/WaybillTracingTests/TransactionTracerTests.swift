#if Tracing
import Foundation
import TestSupport
import Testing
import Tracing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting
import WaybillTracing

/// The tracer records reports of libraries through swift-distributed-tracing in their transaction. Requests of these
/// libraries tell no host more than they should.
@Suite(.timeLimit(.minutes(5))) struct TransactionTracerTests {
    let tx = TransactionManager.tracing()
    let server = TransactionManager.tracing()

    // MARK: Events

    @Test func aSpanIsAnEventOfTheTransactionItIsMadeIn() throws {
        withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { _ in
                withSpan("SELECT orders", at: Moment(1_000_000), ofKind: .client) { span in
                    span.updateAttributes { attributes in
                        attributes["db.system"] = "postgresql"
                        attributes["rows"] = 3
                        attributes["hosts"] = ["a", "b"]
                    }
                    span.end(at: Moment(3_500_000))
                }
                #expect(throws: Broken.self) {
                    try withSpan("charge") { _ in throw Broken() }
                }
            }
        }
        let events = try tx.reported
        #expect(events.map(\.label) == ["SELECT orders", "charge"])
        #expect(
            events.first?.attributes
                == ["db.system": "postgresql", "rows": 3, "hosts": "a, b", "duration_us": 2_500])
        #expect(events.last?.error?.domain.hasSuffix("Broken") == true)
        #expect(events.last?.attributes["otel.status_code"] == "ERROR")
    }

    @Test func outsideAnyTransactionNothingIsRecorded() throws {
        withTracer(TransactionTracer(tx)) {
            withSpan("alone") { span in
                #expect(!span.isRecording)
                span.addEvent("nothing")
                #expect(UseCaseTransaction.current == nil)
            }
        }
        #expect(try tx.allRecords().isEmpty)
    }

    @Test func whatIsSaidOfASpanIsRecordedWithIt() throws {
        withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { login in
                let other = tx.perform(Purchase.self, parent: nil) { _ in startSpan("other") }
                withSpan("charge") { span in
                    span.addEvent(SpanEvent(name: "retry", attributes: ["attempt": 2]))
                    span.addLink(SpanLink(context: other.context, attributes: ["kind": "follows"]))
                    span.setStatus(SpanStatus(code: .ok, message: "fine"))
                    span.operationName = "charge card"
                }
                other.end()
            }
        }
        let events = try tx.transactions(Login.self).flatMap { $0.timeline.filter { $0.kind == .event } }
        #expect(events.map(\.label) == ["retry", "link", "charge card"])
        #expect(events[0].attributes == ["attempt": 2])
        #expect(
            events[1].attributes["transaction"]
                == (try tx.transactions(Purchase.self).first.map { .string("\($0.summary.id)") }))
        #expect(events[1].attributes["kind"] == "follows")
        #expect(events[2].attributes["otel.status_code"] == "OK")
        #expect(events[2].attributes["otel.status_description"] == "fine")
        #expect(try tx.transactions(Purchase.self).first?.timeline.contains { $0.label == "other" } == true)
    }

    /// Breaks when a library that reports endlessly fills the store, or omitted reports are not counted.
    @Test func whatComesInHasLimits() throws {
        withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { _ in
                withSpan("noisy") { span in
                    for _ in 0..<200 { span.addEvent("again") }
                    span.updateAttributes { attributes in
                        for number in 0..<100 { attributes["name\(number)"] = "value" }
                        attributes["password"] = "s3cret"
                    }
                }
                for _ in 0..<2_000 { withSpan("many") { _ in } }
            }
        }
        #expect(try tx.reported.count == 1_000)
        #expect(tx.health.omittedReports == 72 + 1_129)
        #expect(tx.health.truncated == 71)
        let noisy = try tx.reported.first { $0.label == "noisy" }
        #expect(noisy?.attributes.count == 31 && noisy?.attributes["duration_us"] != nil)
        #expect(noisy?.attributes["password"] != "s3cret")
    }

    // MARK: Current transaction

    @Test func aSpanKeepsItsTransactionAndWhatIsPerformedInsideWins() throws {
        withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { login in
                withSpan("outer") { _ in
                    #expect(UseCaseTransaction.current?.id == login.id)
                    tx.perform(Purchase.self) { purchase in
                        withSpan("inner") { _ in #expect(UseCaseTransaction.current?.id == purchase.id) }
                    }
                    #expect(UseCaseTransaction.current?.id == login.id)
                }
            }
        }
        #expect(try tx.transactions(Purchase.self).first?.timeline.contains { $0.label == "inner" } == true)
    }

    /// Breaks when the transaction is lost in a framework that moves a context to its own thread, as most do.
    @Test func aContextCarriesTheTransactionWhereTheTaskDoesNot() async throws {
        let context = withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { _ in startSpan("outer").context }
        }
        await Task.detached { [tx] in
            withTracer(TransactionTracer(tx)) {
                ServiceContext.withValue(context) {
                    Login.current?.log(.initiated)
                    withSpan("below") { _ in }
                }
            }
        }.value
        #expect(try tx.reported.map(\.label) == ["initiated", "below"])
    }

    // MARK: Clients

    private func request(_ host: String = "api.example.com", path: String = "/items") -> SpanAttributes {
        [
            "http.request.method": "POST", "url.full": .string("https://\(host)\(path)"),
            "http.request.body.size": 7,
        ]
    }

    @Test func aClientsSpanIsAnExchangeThatCarriesTheTransaction() throws {
        let fields = try withTracer(TransactionTracer(tx)) {
            try tx.perform(Login.self) { _ in
                try withSpan("POST", ofKind: .client) { span in
                    span.attributes = request(path: "/items?token=s3cret")
                    let fields = try #require(Fields.injected())
                    span.attributes["http.status_code"] = 201
                    return fields
                }
            }
        }
        let exchange = try #require(tx.exchanges.first)
        #expect((exchange.method, exchange.status, exchange.state) == ("POST", 201, .completed))
        #expect(exchange.url == "https://api.example.com/items?token=[redacted]")
        #expect(exchange.sentByteCount == 7)
        let told = try #require(fields.values["waybill-transaction"]?.first.flatMap { TransactionHeader(parsing: $0) })
        #expect(told.exchange == exchange.id.sequence)
        #expect(try tx.reported.isEmpty, "an exchange is no event besides")
    }

    @Test(
        arguments: [
            ["http.method": "GET", "http.url": "https://api.example.com/old"],
            [
                "http.request.method": "GET", "server.address": "api.example.com", "url.scheme": "https",
                "url.path": "/old",
            ],
            ["http.method": "GET", "net.peer.name": "api.example.com", "http.scheme": "https", "http.target": "/old"],
        ] as [SpanAttributes]) func theOldNamesAreReadAsWell(_ attributes: SpanAttributes) throws
    {
        withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { _ in
                withSpan("GET", ofKind: .client) { span in
                    span.attributes = attributes
                    #expect(Fields.injected()?.values.isEmpty == false)
                    span.attributes["http.response.status_code"] = 200
                }
            }
        }
        #expect(try tx.exchanges.map(\.url) == ["https://api.example.com/old"])
    }

    @Test func anRPCIsAnExchangeWithItsOwnCodes() throws {
        withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { _ in
                for (method, code) in [("shop.Orders/Place", SpanAttribute.string("UNAVAILABLE")), ("Place", 0)] {
                    withSpan("shop.Orders/Place", ofKind: .client) { span in
                        span.attributes = [
                            "rpc.system": "grpc", "rpc.method": .string(method), "rpc.service": "shop.Orders",
                            "server.address": "api.example.com", "server.port": 50_051,
                        ]
                        #expect(Fields.injected()?.values["waybill-transaction"] != nil)
                        if case .string = code {
                            span.attributes["rpc.response.status_code"] = code
                        } else {
                            span.attributes["rpc.grpc.status_code"] = code
                        }
                    }
                }
            }
        }
        #expect(
            try tx.exchanges.map(\.url) == Array(repeating: "http://api.example.com:50051/shop.Orders/Place", count: 2))
        #expect(try tx.exchanges.map { $0.error?.name } == ["UNAVAILABLE", nil])
        #expect(try tx.exchanges.first?.error == RecordedError(domain: "grpc", code: 14, name: "UNAVAILABLE"))
    }

    /// async-http-client follows a redirect to any host, and asks for the fields again; it removes only four on its
    /// own. Breaks when that host learns of the transaction.
    @Test func aRedirectToAnotherHostCarriesNothing() throws {
        var hops: [Fields] = []
        withTracer(TransactionTracer(tx, traceContext: .propagate)) {
            tx.perform(Login.self) { _ in
                withSpan("GET", ofKind: .client) { span in
                    span.attributes = request()
                    for _ in 0..<3 { hops.append(Fields.injected() ?? Fields()) }
                    span.attributes["http.status_code"] = 200
                }
            }
        }
        #expect(hops.map(\.values.count) == [3, 0, 0])
        #expect(try tx.exchanges.count == 1)
    }

    @Test func aHostThatIsNotOnTheListGetsNothingAndIsRecordedAllTheSame() throws {
        withTracer(TransactionTracer(tx, traceContext: .propagate)) {
            tx.perform(Login.self) { _ in
                withSpan("GET", ofKind: .client) { span in
                    span.attributes = request("www.example.com")
                    #expect(Fields.injected()?.values == [:])
                }
            }
            withSpan("GET", ofKind: .client) { span in
                span.attributes = request()
                #expect(Fields.injected()?.values == [:], "outside any transaction")
            }
        }
        #expect(try tx.exchanges.map(\.url) == ["https://www.example.com/items"])
    }

    /// Breaks when a wrapper around a tracing client sends two header fields, which no server can read, or records two
    /// exchanges.
    @Test func aSpanOfARequestThatIsAnExchangeAddsNothing() async throws {
        let url = try #require(URL(string: "https://api.example.com/items"))
        await withTracer(TransactionTracer(tx, traceContext: .propagate)) {
            await tx.perform(Login.self) { login in
                let exchange = tx.openExchange(ExchangeRequest(url: url), in: login)
                await exchange.sending {
                    withSpan("GET", ofKind: .client) { span in
                        span.attributes = request()
                        #expect(Fields.injected()?.values == [:])
                    }
                }
                exchange.finish()
            }
        }
        #expect(try tx.exchanges.count == 1)
        #expect(try tx.reported.isEmpty)
    }

    @Test func anErrorIsTheExchanges() throws {
        withTracer(TransactionTracer(tx)) {
            tx.perform(Login.self) { _ in
                try? withSpan("GET", ofKind: .client) { span in
                    span.attributes = request()
                    _ = Fields.injected()
                    throw CancellationError()
                }
            }
        }
        #expect(try tx.exchanges.map(\.state) == [.cancelled])
    }

    // MARK: Both

    /// Breaks when the span is locked while the app's code runs, whose thread then waits for itself.
    @Test(arguments: [SpanKind.client, .server], [false, true])
    func theCodeThatAnExchangeCallsCanUseTheSpan(_ kind: SpanKind, ends: Bool) async throws {
        let fields = tx.perform(Login.self) { login in
            Fields(tx.openExchange(ExchangeRequest(method: "POST", url: .items), in: login).headers)
        }
        let asking = TransactionManager.tracing { draft in
            if case .exchangeOpened = draft { Curious.useSpan(ends: ends) }
            return draft
        }
        let isOver = Gate()
        Thread.detachNewThread {
            let host = SpanAttribute.stringConvertible(Curious(text: "api.example.com", ends: ends))
            withTracer(TransactionTracer(asking)) {
                if kind == .server {
                    Fields.receive(fields, host: ["server.address": host]) { span in
                        span.attributes["http.response.status_code"] = 201
                    }
                } else {
                    asking.perform(Login.self) { _ in
                        withSpan("POST", ofKind: kind) { span in
                            span.attributes = [
                                "http.request.method": "POST", "server.address": host, "url.path": "/items",
                            ]
                            _ = Fields.injected()
                            span.attributes["http.response.status_code"] = 201
                        }
                    }
                }
            }
            isOver.open()
        }
        try await eventually("the span ends", within: .seconds(30)) { isOver.isOpen }
        let record = try #require(asking.allRecords().first)
        #expect(record.exchanges.map(\.status) == [ends ? nil : 201])
        #expect(record.exchanges.map(\.state) == [.completed])
        #expect(record.parts.map(\.outcome) == [.succeeded])
        #expect(try asking.reported.isEmpty, "an exchange is no event besides")
    }

    // MARK: Servers

    @Test(
        arguments: [
            (["http.host": "127.0.0.1:8091", "net.host.port": 8091], "127.0.0.1:8091"),
            (["server.address": "::1", "server.port": 8091], "[::1]:8091"),
            (["http.host": "[::1]:80", "net.host.port": 80], "[::1]:80"),
        ] as [(SpanAttributes, String)])
    func aHostWithItsPortHasOnePort(_ host: SpanAttributes, _ authority: String) throws {
        let fields = tx.perform(Login.self) { login in
            Fields(tx.openExchange(ExchangeRequest(method: "POST", url: .items), in: login).headers)
        }
        withTracer(TransactionTracer(server)) { Fields.receive(fields, host: host) { _ in } }
        let exchange = try #require(server.allRecords().first?.exchanges.first)
        #expect(exchange.url == "\(authority)/items?page=2")
    }

    @Test(arguments: [(200, TransactionOutcome.succeeded), (404, .succeeded), (500, .failed)])
    func aServersSpanJoins(_ status: Int, _ outcome: TransactionOutcome) throws {
        let fields = tx.perform(Login.self) { login in
            Fields(tx.openExchange(ExchangeRequest(method: "POST", url: .items), in: login).headers)
        }
        withTracer(TransactionTracer(server)) {
            Fields.receive(fields) { span in
                #expect(Login.current != nil)
                Login.current?.log(.initiated)
                span.attributes["http.response.status_code"] = SpanAttribute.int64(Int64(status))
            }
            Fields.receive(Fields()) { _ in #expect(UseCaseTransaction.current == nil) }
        }
        let record = try #require(server.allRecords().first)
        #expect(record.summary.id == (try tx.transactions(Login.self).first?.summary.id))
        #expect(record.parts.map(\.cause) == (try [tx.exchanges.first?.id]))
        #expect(record.parts.map(\.outcome) == [outcome])
        #expect(record.exchanges.map(\.status) == [status])
        #expect(record.exchanges.first?.url.hasSuffix("/items?page=2") == true)
        #expect(record.timeline.map(\.kind) == [.joined, .exchangeBegun, .event, .exchangeFinished, .finished])
    }

    @Test func aTraceAloneJoinsWhereThatIsAskedForAndWhatIsMalformedIsCounted() throws {
        let transaction = GUID()
        let trace = transaction.description.filter { $0 != "-" }
        let fields = Fields(["traceparent": "00-\(trace)-b7ad6b7169203331-01"])
        withTracer(TransactionTracer(server, traceContext: .join)) { Fields.receive(fields) { _ in } }
        withTracer(TransactionTracer(server)) { Fields.receive(fields) { _ in } }
        #expect(try server.allRecords().map(\.summary.id) == [transaction])
        #expect(try server.allRecords().first?.parts.count == 1)
        withTracer(TransactionTracer(server)) { Fields.receive(Fields(["waybill-transaction": "?"])) { _ in } }
        #expect(server.health.malformedHeaders == 1)
    }

    /// Breaks when a service that records nothing splits another team's trace in two.
    @Test(arguments: [true, false]) func aForeignTraceIsPassedOnAsItCame(isRecording: Bool) throws {
        let manager = isRecording ? server : TransactionManager.tracing(recording: .off)
        let came = Fields([
            "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "v=1,w=2",
        ])
        let asked = Locked<[Fields?]>([])
        withTracer(TransactionTracer(manager)) {
            Fields.receive(came) { _ in
                withSpan("GET", ofKind: .client) { span in
                    span.attributes = ["http.request.method": "GET", "url.full": .string(URL.items.absoluteString)]
                    asked.withLock { $0.append(Fields.injected()) }
                }
            }
            Fields.receive(Fields(["traceparent": "00-?", "tracestate": "v=1"])) { _ in
                asked.withLock { $0.append(Fields.injected()) }
            }
            Fields.receive(Fields()) { _ in asked.withLock { $0.append(Fields.injected()) } }
        }
        #expect(asked.withLock { $0.map { $0?.values } } == [came.values, [:], [:]])
        #expect(try server.allRecords().isEmpty)
    }
}
#endif
