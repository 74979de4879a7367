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

/// W3C Trace Context: services that know nothing of Waybill take part. All others learn nothing, and gain nothing from
/// invented traces.
@Suite(.timeLimit(.minutes(5))) struct TraceContextTests {
    let url: URL

    init() throws { url = try #require(URL(string: "https://api.example.com/items")) }

    private func manager(
        _ traceContext: TraceContextPolicy, hosts: [String] = ["api.example.com"], useCases: Set<Int>? = [Login.code],
        perMinute: Int = 6_000
    ) -> TransactionManager {
        .testing(correlatedHosts: hosts) { options in
            options.diagnostics = { _ in }
            (options.server.traceContext, options.server.accepting, options.server.joinsPerMinute) = (
                traceContext, .init(codes: useCases), perMinute
            )
        }
    }

    private func field(_ trace: GUID = GUID(), state: String? = nil) -> (String) -> String? {
        let id = trace.description.filter { $0 != "-" }
        return { name in
            switch name {
            case "traceparent": "00-\(id)-b7ad6b7169203331-01"
            case "tracestate": state
            default: nil
            }
        }
    }

    // MARK: Outgoing requests

    /// W3C Trace Context, section 3.3: our own member comes first, and the others follow in their order.
    @Test func whatOtherVendorsSayIsPassedOn() {
        let tx = manager(.join)
        let trace = GUID()
        func told(_ state: String?) -> String? {
            tx.join(header: field(trace, state: state))?.headers(for: url)["tracestate"]
        }
        #expect(
            told("vendor1=abc, rojo=00f067aa0ba902b7\t,waybill=u:\(Login.code),,k@v= a b")
                == "waybill=u:\(Login.code),vendor1=abc,rojo=00f067aa0ba902b7,k@v= a b")
        let many = (0..<40).map { "v\($0)=\($0)" }
        let kept = "waybill=u:\(Login.code),\(many.prefix(31).joined(separator: ","))"
        #expect(told("waybill=u:\(Login.code),\(many.joined(separator: ","))") == kept)
        for malformed in ["", "waybill=u:\(Login.code)", "a=1,b", "a=1\r\nX-Evil: 1"] {
            let state = malformed.isEmpty ? "waybill=u:\(Login.code)" : "waybill=u:\(Login.code),\(malformed)"
            #expect(told(state) == "waybill=u:\(Login.code)", "\(malformed)")
        }
    }

    @Test func whatIsBelowAJoinedTransactionPassesOnWhatOtherVendorsSay() {
        let tx = manager(.join)
        let login = tx.join(Login.self, header: field(state: "vendor=1"))
        let purchase = tx.begin(Purchase.self, parent: .transaction(login))
        #expect(
            tx.openExchange(ExchangeRequest(url: url), in: purchase).headers["tracestate"]
                == "waybill=u:\(Purchase.code),vendor=1")
        let other = tx.begin(Purchase.self, parent: nil)
        #expect(other.headers(for: url)["tracestate"] == "waybill=u:\(Purchase.code)", "of another trace")
    }

    @Test func aRequestCarriesTheTransactionAsATrace() throws {
        let tx = manager(.propagate)
        let login = tx.begin(Login.self)
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: login)
        let id = try #require(tx.exchanges.first?.id)
        let trace = login.id.description.filter { $0 != "-" }
        #expect(exchange.headers["traceparent"] == "00-\(trace)-\(SpanID(id))-03")
        #expect(exchange.headers["tracestate"] == "waybill=u:\(Login.code)")
        #expect(exchange.headers["Waybill-Transaction"] != nil)
        #expect(login.headers(for: url)["traceparent"]?.contains(trace) == true)
    }

    @Test func whatIsBelowAnotherTransactionBelongsToItsTrace() {
        let tx = manager(.propagate)
        tx.perform(Login.self) { login in
            let purchase = tx.begin(Purchase.self)
            let told = tx.openExchange(ExchangeRequest(url: url), in: purchase).headers["traceparent"]
            #expect(told?.dropFirst(3).prefix(32) == login.id.description.filter { $0 != "-" }.prefix(32))
        }
    }

    @Test func itIsSentOnlyWhereItIsAskedForAndOnlyToHostsOnTheList() throws {
        let (off, on) = (manager(.off), manager(.propagate))
        #expect(off.openExchange(ExchangeRequest(url: url), in: off.begin(Login.self)).headers.count == 1)
        let login = on.begin(Login.self)
        let foreign = try #require(URL(string: "https://www.example.com/"))
        #expect(on.openExchange(ExchangeRequest(url: foreign), in: login).headers.isEmpty)
        #expect(on.openExchange(ExchangeRequest(url: url)).headers.isEmpty, "outside any transaction")
        #expect(on.openExchange(ExchangeRequest(url: url), in: login, traceContext: .off).headers.count == 1)
        #expect(
            off.openExchange(ExchangeRequest(url: url), in: off.begin(Login.self), traceContext: .join).headers.count
                == 3)
    }

    @Test func theCallersOwnIsKept() {
        let tx = manager(.propagate)
        let login = tx.begin(Login.self)
        let own = [HeaderField(name: "Traceparent", value: "00-\(GUID())-b7ad6b7169203331-01")]
        #expect(tx.openExchange(ExchangeRequest(url: url, headerFields: own), in: login).headers.count == 1)
        let state = [HeaderField(name: "tracestate", value: "vendor=1")]
        let headers = tx.openExchange(ExchangeRequest(url: url, headerFields: state), in: login).headers
        #expect(headers["traceparent"] != nil && headers["tracestate"] == nil)
    }

    /// Breaks when another host learns of the transaction because the first one redirects to it.
    @Test func itDoesNotGoAlongToAnotherHost() async throws {
        let other = try LoopbackServer { _ in .text("there") }
        let there = other.url(host: "localhost")
        let first = try LoopbackServer { _ in .redirect(to: there) }
        let tx = manager(.propagate, hosts: ["127.0.0.1"])
        _ = try await tx.session.data(from: first.url(), in: tx.begin(Login.self))
        #expect(first.requests.first?.header("traceparent") != nil)
        #expect(other.requests.count == 1)
        let fields = ["traceparent", "tracestate", "waybill-transaction"]
        #expect(fields.compactMap { other.requests.first?.header($0) } == [])
    }

    @Test func aSessionMayBeToldOtherwise() async throws {
        let server = try LoopbackServer { _ in .text("here") }
        let tx = manager(.propagate, hosts: ["127.0.0.1"])
        let session = tx.session(configuration: .ephemeral, traceContext: .off)
        _ = try await session.data(from: server.url(), in: tx.begin(Login.self))
        #expect(server.requests.first?.header("waybill-transaction") != nil)
        #expect(server.requests.first?.header("traceparent") == nil)
    }

    /// Breaks when a flush is part of the transaction that it delivers.
    @Test func aFlushCarriesNothing() async throws {
        let server = try LoopbackServer { _ in .text("no", status: 503) }
        let tx = manager(.propagate, hosts: ["127.0.0.1"])
        tx.delivery = .collector(server.url("/v1/transactions"), token: "secret")
        await tx.perform(Login.self) { login in
            login.log(.initiated)
            _ = await tx.flush(deadline: .seconds(20))
        }
        let request = try #require(server.requests.first)
        #expect(["traceparent", "tracestate", "waybill-transaction"].compactMap { request.header($0) } == [])
    }

    // MARK: Incoming requests

    @Test func aRequestThatHasOnlyATraceJoinsWhereThatIsAskedFor() throws {
        let server = manager(.join)
        let transaction = GUID()
        let joined = try #require(server.join(header: field(transaction)))
        joined.finish()
        server.join(Login.self, header: field(transaction)).finish()
        #expect(joined.id == transaction)
        let record = try #require(server.transactions(Login.self).first)
        #expect(record.parts.map(\.isJoined) == [true, true])
        let trace = transaction.description.filter { $0 != "-" }
        #expect(record.parts.first?.attributes == ["traceparent": .string("00-\(trace)-b7ad6b7169203331-01")])
        for policy in [TraceContextPolicy.off, .propagate] {
            #expect(manager(policy).join(header: field()) == nil)
            #expect(server.join(traceContext: policy, header: field()) == nil)
        }
    }

    @Test func theUseCaseIsWhatTheStateSaysOrTheOnlyOneThereIs() throws {
        let server = manager(.join, useCases: [Login.code, Purchase.code])
        #expect(server.join(header: field()) == nil, "it may be either")
        #expect(server.health.unknownUseCases == 1)
        server.join(header: field(state: "vendor=x,waybill=u:\(Purchase.code)"))?.finish()
        #expect(try server.transactions(Purchase.self).count == 1)
        #expect(server.join(header: field(state: "waybill=u:4711")) == nil)
        #expect(server.health.unknownUseCases == 2)
    }

    /// Breaks when invented traces can fill a store.
    @Test func whatIsMadeUpGainsNothing() throws {
        let server = manager(.join, perMinute: 60)
        let random = try #require(GUID("f47ac10b-58cc-4372-a567-0e02b2c3d479"))
        #expect(server.join(header: field(random)) == nil, "no transaction has such an ID")
        #expect(server.join(header: { $0 == "traceparent" ? "00-nonsense" : nil }) == nil)
        #expect(server.health.malformedHeaders == 1)
        for _ in 0..<1_000 { server.join(header: field())?.finish() }
        #expect(server.health.refusedJoins == 940)
        #expect(try server.allRecords().count == 60)
    }

    /// The trace of the client's own exchange only repeats the part's cause; that of a service in between is a link.
    @Test func aTraceBesideTheTransactionIsALink() throws {
        let (client, server) = (manager(.propagate), manager(.propagate))
        let login = client.begin(Login.self)
        var fields = client.openExchange(ExchangeRequest(url: url), in: login).headers
        server.join(header: { fields[$0] })?.finish()
        #expect(try server.allRecords().first?.parts.first?.attributes.isEmpty == true)
        let between = try #require(field(login.id)("traceparent"))
        fields["traceparent"] = between
        server.join(header: { fields[$0] })?.finish()
        let parts = try #require(try server.allRecords().first?.parts)
        #expect(parts.map { $0.attributes["traceparent"] } == [nil, .string(between)])
        #expect(Set(parts.map(\.cause)).count == 1)
    }

    /// Breaks when a server's request to the next one is in another trace than the request that it serves.
    @Test func aServerGoesOnInTheTraceThatItWasAskedIn() throws {
        let (client, server) = (manager(.propagate), manager(.propagate))
        try client.perform(Login.self) { login in
            let purchase = client.begin(Purchase.self)
            let fields = client.openExchange(ExchangeRequest(url: url), in: purchase).headers
            let joined = server.join(Purchase.self) { fields[$0] }
            #expect(joined.id == purchase.id)
            try joined.perform { _ in
                let below = server.begin(Login.self)
                let told = try #require(
                    server.openExchange(ExchangeRequest(url: url), in: below).headers["traceparent"])
                #expect(told.dropFirst(3).prefix(32) == login.id.description.filter { $0 != "-" }.prefix(32))
            }
        }
    }
}
