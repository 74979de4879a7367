import AsyncHTTPClient
import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import Hummingbird
import Logging
import Shop
import Tracing
import Waybill
import WaybillGRPC
import WaybillHummingbird
import WaybillTracing

/// The gateway in Hummingbird: asks the stock over gRPC, and the prices, which are a service in Python.
///
/// Arguments: the stock's port, the prices' port, and whose middleware is further out: `ours` or `theirs`. Environment:
/// that of `Place`, and `ELSEWHERE`, a URL on another host.
@main
struct ShopGateway {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard let place = Place(), arguments.count == 4, let stock = Int(arguments[1]), let prices = Int(arguments[2])
        else {
            FileHandle.standardError.write(
                Data("usage: ShopGateway STOCK PRICES ours|theirs, with STORE and COLLECTOR set\n".utf8))
            exit(64)
        }
        let transactions = place.transactions(of: "shop-gateway")
        InstrumentationSystem.bootstrap(TransactionTracer(transactions))
        try await withGRPCClient(
            transport: .http2NIOPosix(
                target: .ipv4(address: "127.0.0.1", port: stock), transportSecurity: .plaintext),
            interceptors: [TransactionClientInterceptor(transactions)]
        ) { client in
            let orders = Orders(stock: client, prices: "http://127.0.0.1:\(prices)")
            let router = Router()
            if arguments[3] == "ours" {
                router.add(middleware: TransactionMiddleware(transactions))
                router.add(middleware: TracingMiddleware())
            } else {
                router.add(middleware: TracingMiddleware())
                router.add(middleware: TransactionMiddleware(transactions))
            }
            orders.addRoutes(to: router, elsewhere: ProcessInfo.processInfo.environment["ELSEWHERE"])
            var logger = Logger(label: "shop-gateway")
            logger.logLevel = .error
            let application = Application(
                router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { Place.announce(port: $0.localAddress?.port ?? 0) }, logger: logger)
            try await application.runService()  // until SIGTERM
        }
        let report = await transactions.flush()
        if !report.isComplete { exit(1) }
    }
}

struct Orders<Transport: ClientTransport>: Sendable {
    let stock: GRPCClient<Transport>
    let prices: String

    func addRoutes(to router: Router<BasicRequestContext>, elsewhere: String?) {
        router.get("order/:number") { request, context in
            let gateway = request.head.authority ?? ""
            let number = try context.parameters.require("number")
            Order.log(.gatewayAsked, attributes: ["number": .string(number)])
            // Beside each other, as an order has it that is in a hurry.
            async let left = left(of: number)
            async let price = price(of: number, for: gateway)
            return try await "\(left) left at \(price)"
        }
        // The prices ask back.
        router.get("currency/:number") { _, context in
            Order.log(
                .currencyAsked, attributes: ["number": .string(try context.parameters.require("number"))])
            return "EUR"
        }
        router.get("moved/:number") { _, context in
            Response.redirect(to: "\(elsewhere ?? "")/\(try context.parameters.require("number"))", type: .temporary)
        }
    }

    private func left(of number: String) async throws -> String {
        try await stock.serverStreaming(
            request: ClientRequest(message: number), descriptor: .count, serializer: Text(), deserializer: Text(),
            options: .defaults
        ) { response in
            var last = ""
            for try await count in response.messages { last = count }
            return last
        }
    }

    private func price(of number: String, for gateway: String) async throws -> String {
        var request = HTTPClientRequest(url: "\(prices)/price/\(number)")
        request.headers.add(name: "X-Forwarded-Host", value: gateway)
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        return String(buffer: try await response.body.collect(upTo: 4_096))
    }
}
