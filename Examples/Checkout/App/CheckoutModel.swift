import CheckoutShop
import Foundation
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is behind the screen of the checkout.
@MainActor
final class CheckoutModel {
    enum Ending {
        case ordered, left
        case failed(any Error, SupportCode)
    }

    private let transactions: TransactionManager
    private let shop: ShopClient
    /// Said once where the platform, or the server, has no WebSockets.
    private(set) var withoutWebSockets: String?

    init(transactions: TransactionManager, shop: ShopClient) {
        self.transactions = transactions
        self.shop = shop
    }

    /// One customer, from the screen's opening to the order or to whatever came between.
    func checkOut(_ customer: Customer) async -> Ending {
        transactions.context.removeAll()  // of the customer before
        transactions.context.set("layout", customer.layout)
        let basket = customer.basket
        let checkout = transactions.begin(
            Checkout.self, attributes: ["sku": basket.sku, "count": basket.count, "price": basket.price])
        checkout.set("coupon", basket.coupon)
        checkout.log(.opened)
        if customer.leaves { return .left }  // the handle goes with the screen: abandoned
        do {
            try await checkout.perform { checkout in
                try await shop.logIn(as: customer)
                transactions.context.setUser(customer.id, .plain)  // known from here on
                checkout.log(.loggedIn)
                let order = try await shop.order(basket)
                checkout.log(.ordered, attributes: ["order": order.number])
                try await pay(order, with: customer.card)
                if try await isPacked(order) { checkout.log(.packed) }
            }
            return .ordered
        } catch {
            return .failed(error, checkout.supportCode)
        }
    }

    /// A transaction of its own, below the checkout, with an outcome of its own.
    private func pay(_ order: Order, with card: String) async throws {
        do {
            try await transactions.perform(Payment.self) { payment in
                for attempt in 1...3 {
                    payment.set("attempts", attempt)  // the last one counts
                    payment.log(.tried)
                    switch try await shop.pay(order, with: card) {
                    case 200: return
                    case 402: throw PaymentError.declined(reason: "The card's limit is reached.")
                    case 503: try await Task.sleep(for: .milliseconds(10 << attempt))
                    case let status: throw CheckoutError.unexpectedStatus(status)
                    }
                }
                throw PaymentError.bankIsDown(attempts: 3)
            }
        } catch let error as PaymentError {
            throw CheckoutError.notPaid(error)
        }
    }

    /// Told by a WebSocket, or asking where there is none.
    private func isPacked(_ order: Order) async throws -> Bool {
        if withoutWebSockets == nil {
            let states = shop.states(of: order)
            do {
                for try await message in states.messages {
                    guard case .string(let state) = message, state == "packed" else { continue }
                    states.cancel(with: .normalClosure, reason: nil)
                    return true
                }
            } catch {
                withoutWebSockets = error.localizedDescription
            }
        }
        return try await shop.state(of: order) == "packed"
    }

    /// What an app does in the background now and then. Nobody waits for it, and an error of it is recorded and no more.
    func updatePrices() async {
        try? await transactions.perform(PriceUpdate.self) { update in
            let prices = try await shop.prices()
            update.log(.received, attributes: ["count": prices.count])
        }
    }
}
