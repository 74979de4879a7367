import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Requests that are left out are still sent, and linked to their transaction; the others are recorded as set.
@Suite(.timeLimit(.minutes(5))) struct NetworkOptionsTests {
    private func manager(_ change: (inout NetworkOptions) -> Void) -> TransactionManager {
        var options = TransactionManager.Options()
        options.diagnostics = { _ in }
        change(&options.network)
        return .testing(correlatedHosts: ["api.example.com"]) { $0 = options }
    }

    private func request(_ method: String = "GET", _ url: String = "https://api.example.com/v1/items") throws
        -> ExchangeRequest
    {
        ExchangeRequest(method: method, url: try #require(URL(string: url)))
    }

    private func isRecorded(_ request: ExchangeRequest, by tx: TransactionManager) -> Bool {
        let exchange = tx.openExchange(request, in: tx.begin(Login.self))
        exchange.finish()
        return exchange.isRecorded
    }

    @Test func everythingIsRecordedUnlessSaidOtherwise() throws {
        let tx = manager { _ in }
        #expect(isRecorded(try request(), by: tx))
        #expect(try tx.exchanges.count == 1)
    }

    @Test func whatIsNotRecordedCarriesTheHeaderFieldWithoutANumber() throws {
        let tx = manager { $0.isEnabled = false }
        let login = tx.begin(Login.self)
        let exchange = tx.openExchange(try request(), in: login)
        exchange.responded(ExchangeResponse(status: 200))
        exchange.finish()
        let told = try #require(exchange.headers["Waybill-Transaction"].flatMap { TransactionHeader(parsing: $0) })
        #expect(told.transaction == login.id)
        #expect(told.exchange == nil)
        #expect(try tx.exchanges.isEmpty)
    }

    @Test func onlyWhatIsIncludedAndNotExcludedIsRecorded() throws {
        let tx = manager {
            $0.include = [RequestPattern(host: .glob("*.example.com")), RequestPattern(method: "POST")]
            $0.exclude = [RequestPattern(path: "/health"), RequestPattern(method: "HEAD")]
        }
        #expect(isRecorded(try request("GET", "https://api.example.com/a"), by: tx))
        #expect(isRecorded(try request("POST", "https://elsewhere.example/a"), by: tx))
        #expect(!isRecorded(try request("GET", "https://elsewhere.example/a"), by: tx))
        #expect(!isRecorded(try request("GET", "https://api.example.com/health"), by: tx))
        #expect(!isRecorded(try request("HEAD", "https://api.example.com/a"), by: tx))
        #expect(try tx.exchanges.count == 2)
    }

    @Test func theClosureIsAskedLastAndSeesTheRequestAsItIsSent() throws {
        let asked = Locked<[ExchangeRequest]>([])
        let tx = manager {
            $0.exclude = [RequestPattern(path: "/health")]
            $0.shouldLog = { request in
                asked.withLock { $0.append(request) }
                return request.method != "DELETE"
            }
        }
        #expect(!isRecorded(try request("GET", "https://api.example.com/health"), by: tx))
        #expect(!isRecorded(try request("DELETE"), by: tx))
        #expect(isRecorded(try request("GET", "https://api.example.com/?token=s3cret"), by: tx))
        #expect(
            asked.withLock { $0.map(\.url.absoluteString) } == [
                "https://api.example.com/v1/items", "https://api.example.com/?token=s3cret",
            ])
    }

    @Test func whatIsOutsideAnyTransactionIsFilteredToo() throws {
        let tx = manager { $0.exclude = [RequestPattern(path: "/health")] }
        #expect(!tx.openExchange(try request("GET", "https://api.example.com/health")).isRecorded)
        #expect(tx.openExchange(try request()).isRecorded)
    }

    @Test func headerFieldsAreKeptSkippedOrMaskedOnBothSides() throws {
        let tx = manager {
            $0.headers = HeaderPolicy(["user-agent": .skip, "X-Device": .mask, "Authorization": .keep])
        }
        let exchange = tx.openExchange(
            ExchangeRequest(
                url: try request().url,
                headerFields: [
                    .init(name: "Accept", value: "*/*"), .init(name: "User-Agent", value: "App/1"),
                    .init(name: "x-device", value: "Ada's phone"),
                    .init(name: "Authorization", value: "Bearer s3cret"),
                ]),
            in: tx.begin(Login.self))
        exchange.responded(
            ExchangeResponse(
                status: 200,
                headerFields: [.init(name: "X-DEVICE", value: "Ada's phone"), .init(name: "USER-AGENT", value: "x")]))
        exchange.finish()
        let record = try #require(tx.exchanges.first)
        #expect(record.requestHeaderFields.map(\.name) == ["Accept", "x-device", "Authorization"])
        #expect(
            record.requestHeaderFields.map(\.value) == ["*/*", "[redacted]", "[redacted]"],
            "to keep does not lift the redaction")
        #expect(record.responseHeaderFields == [HeaderField(name: "X-DEVICE", value: "[redacted]")])
    }

    @Test func aPolicyCanSkipAllButAFew() {
        let policy = HeaderPolicy(["Content-Type": .keep, "ETag": .mask], others: .skip)
        #expect(["content-type", "ETAG", "Date"].map(policy.treatment) == [.keep, .mask, .skip])
    }

    @Test func ofTwoTreatmentsOfOneNameTheStricterHolds() {
        #expect(HeaderPolicy(["A": .keep, "a": .mask]).treatment(of: "a") == .mask)
        #expect(HeaderPolicy(["A": .skip, "a": .mask]).treatment(of: "A") == .skip)
    }

    @Test func patternsThatCannotWorkShowInTheHealthAndMatchNothing() throws {
        let tx = manager {
            $0.exclude = [RequestPattern(path: .regex("(")), RequestPattern(body: .contains("a"))]
        }
        #expect(tx.health.problems.map(\.code) == [.setting, .setting])
        #expect(tx.health.problems.first?.message == "“(” is no regular expression; it matches nothing.")
        #expect(isRecorded(try request(), by: tx))
    }
}
