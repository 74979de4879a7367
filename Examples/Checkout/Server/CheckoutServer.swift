#if Hummingbird
public import CheckoutShop
import Foundation
public import Hummingbird
import Logging
import NIOCore
import Waybill
import WaybillHummingbird

/// The shop's server: it joins the transaction of each request, and adds its own events.
///
/// `CheckoutServer [PORT]`; without one it takes any free port. The first line of its output is
/// `listening on http://127.0.0.1:PORT`. Environment: `WAYBILL_COLLECTOR`.
@main
struct CheckoutServer {
    static func main() async throws {
        let transactions = TransactionManager { options in
            options.app = "shop-server"
            options.appVersion = "8.2.0"
            options.server.accepting = .only(Checkout.self, Payment.self, PriceUpdate.self)
            options.sampling = .shop
            options.obeysLaunchSettings = true
        }
        transactions.startDelivery(every: .seconds(1))

        let router = Router()
        router.add(middleware: TransactionMiddleware(transactions))
        addRoutes(to: router, Orders())
        var logger = Logger(label: "shop-server")
        logger.logLevel = .error
        let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 0
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(
                    Data("listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n".utf8))
            },
            logger: logger)
        try await application.runService()  // until SIGTERM
        await transactions.flush(deadline: .seconds(30))
    }

    private static func addRoutes(to router: Router<BasicRequestContext>, _ orders: Orders) {
        router.post("logins") { _, _ in HTTPResponse.Status.ok }
        router.post("orders") { request, context in
            let basket = try await request.decode(as: Basket.self, context: context)
            guard let order = await orders.reserve(basket) else { throw HTTPError(.conflict) }
            Checkout.log(.reserved, attributes: ["sku": basket.sku, "order": order.number])
            return order
        }
        router.get("orders/:number") { _, context in
            guard let order = await orders[try context.parameters.require("number", as: Int.self)] else {
                throw HTTPError(.notFound)
            }
            return order
        }
        router.post("payments") { request, context -> HTTPResponse.Status in
            let payment = try await request.decode(as: PaymentOrder.self, context: context)
            let verdict = await orders.pay(payment)
            Payment.log(.bankAsked, attributes: ["answer": verdict])
            return switch verdict {
            case .paid: 200
            case .declined: 402
            case .unreachable: 503
            }
        }
        router.get("prices") { _, _ in try await orders.prices() }
    }
}

extension Order: ResponseEncodable {}
#else
@main
struct CheckoutServer {
    static func main() {
        print("The shop's server needs Hummingbird: build with --traits Hummingbird.")
    }
}
#endif
