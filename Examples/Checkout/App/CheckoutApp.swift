import CheckoutShop
import Foundation
import Waybill

/// The app without its screens: `CheckoutApp SERVER` plays 120 visits to the shop.
///
/// Environment: `WAYBILL_COLLECTOR` is the URL of the collector.
@main
struct CheckoutApp {
    static func main() async {
        guard let address = CommandLine.arguments.dropFirst().first, let server = URL(string: address),
            let host = server.host()
        else {
            print("usage: CheckoutApp SERVER")
            exit(64)
        }
        let transactions = TransactionManager(correlatedHosts: ["*.shop.example", host]) { options in
            options.app = "shop"
            options.appVersion = "3.1.0"
            options.sampling = .shop
            options.network.bodies = BodyPolicy()  // on the device, for `waybill reproduce`
            options.obeysLaunchSettings = true  // WAYBILL_COLLECTOR
        }
        let model = CheckoutModel(
            transactions: transactions, shop: ShopClient(server: server, session: transactions.session))

        var (orders, leavers, failures) = (0, 0, 0)
        for visit in 0..<120 {
            let customer = Customer(visit: visit)
            switch await model.checkOut(customer) {
            case .ordered: orders += 1
            case .left: leavers += 1
            case .failed(let code):
                failures += 1
                if failures == 1 { print("\(customer.id) could not order. For support: \(code)") }
            }
            await model.updatePrices()
        }
        print("120 visits: \(orders) orders, \(failures) failures, \(leavers) left.")
        if !model.hasWebSockets { print("There are no WebSockets here: the state of each order was asked for by GET.") }

        let report = await transactions.flush(deadline: .seconds(30))
        print("\(report.delivered) facts delivered, \(report.pending) kept for the next time.")
    }
}
