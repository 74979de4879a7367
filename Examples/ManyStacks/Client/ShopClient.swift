import AsyncHTTPClient
import Foundation
import Shop
import Tracing
import Waybill
import WaybillAsyncHTTPClient
import WaybillTracing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Orders, each a transaction: the gateway is asked by URLSession and by AsyncHTTPClient.
///
/// Arguments: the gateway's URL, how many orders, and how: `beside` each other, `after` one another, or to where the
/// gateway sends them, which is another host (`elsewhere`).
@main
struct ShopClient {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard let place = Place(), arguments.count == 4, let gateway = URL(string: arguments[1]),
            let count = Int(arguments[2])
        else {
            FileHandle.standardError.write(
                Data("usage: ShopClient URL COUNT beside|after|elsewhere, with STORE and COLLECTOR set\n".utf8))
            exit(64)
        }
        let transactions = place.transactions(of: "shop-client")
        // Before AsyncHTTPClient's configuration is made, which takes the tracer that there is.
        InstrumentationSystem.bootstrap(TransactionTracer(transactions))
        // Redirects are for Waybill to follow, which tells no other host.
        let http = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let client = Client(transactions: transactions, gateway: gateway, http: http)
        switch arguments[3] {
        case "after":
            for number in 0..<count { try await client.order(number) }
        case "elsewhere":
            for number in 0..<count { try await client.orderElsewhere(number) }
        default:
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count { group.addTask { try await client.orderTwice(number) } }
                try await group.waitForAll()
            }
        }
        try await http.shutdown()
        let report = await transactions.flush()
        if !report.isComplete { exit(1) }
    }
}

struct Client: Sendable {
    let transactions: TransactionManager
    let gateway: URL
    let http: HTTPClient

    func order(_ number: Int) async throws {
        try await transactions.perform(Order.self) { order in
            order.log(.begun)
            try expect("12 left at 3 EUR", from: await byURLSession("order/\(number)-a"))
            try expect("12 left at 3 EUR", from: await byAsyncHTTPClient("order/\(number)-b"))
            order.log(.answered)
        }
    }

    /// Both at once.
    func orderTwice(_ number: Int) async throws {
        try await transactions.perform(Order.self) { order in
            order.log(.begun)
            async let one = byURLSession("order/\(number)-a")
            async let other = byAsyncHTTPClient("order/\(number)-b")
            for answer in try await [one, other] { try expect("12 left at 3 EUR", from: answer) }
            order.log(.answered)
        }
    }

    /// Orders through a redirect to another server.
    func orderElsewhere(_ number: Int) async throws {
        try await transactions.perform(Order.self) { order in
            try expect("elsewhere", from: await byURLSession("moved/\(number)-a"))
            try expect("elsewhere", from: await byAsyncHTTPClient("moved/\(number)-b"))
            try expect("elsewhere", from: await byTracedClient("moved/\(number)-c"))
        }
    }

    private func byURLSession(_ path: String) async throws -> String {
        let (body, _) = try await transactions.session.data(for: URLRequest(url: gateway.appending(path: path)))
        return String(decoding: body, as: UTF8.self)
    }

    private func byAsyncHTTPClient(_ path: String) async throws -> String {
        let response = try await http.execute(request(path), timeout: .seconds(60), in: transactions)
        return String(buffer: try await response.body.collect(upTo: 4_096))
    }

    /// Requests with a client that Waybill sees only through its spans. This client follows redirects.
    private func byTracedClient(_ path: String) async throws -> String {
        let response = try await HTTPClient.shared.execute(request(path), timeout: .seconds(60))
        return String(buffer: try await response.body.collect(upTo: 4_096))
    }

    private func request(_ path: String) -> HTTPClientRequest {
        HTTPClientRequest(url: gateway.appending(path: path).absoluteString)
    }

    private func expect(_ wanted: String, from answer: String) throws {
        guard answer == wanted else { throw UnexpectedAnswer(text: answer) }
    }
}

struct UnexpectedAnswer: Error {
    var text: String
}
