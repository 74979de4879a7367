import CheckoutShop
import Foundation
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The logic of the checkout screen.
@MainActor
final class CheckoutModel {
    enum Ending {
        case ordered, left
        case failed(SupportCode)
    }

    private let transactions: TransactionManager
    private let shop: ShopClient
    /// Until one was refused: not every platform has them, nor every server.
    private(set) var hasWebSockets = true

    init(transactions: TransactionManager, shop: ShopClient) {
        self.transactions = transactions
        self.shop = shop
    }

    /// One customer, from the screen's opening to the order or to whatever came between.
    func checkOut(_ customer: Customer) async -> Ending {
        transactions.context.removeAll()  // of the customer before
        transactions.context.set(customer.layout, forKey: "layout")
        let basket = customer.basket
        let checkout = transactions.begin(
            Checkout.self,
            attributes: [
                "sku": basket.sku, "count": basket.count, "price": basket.price, "coupon": basket.coupon,
            ])
        checkout.log(.opened)
        if customer.leaves { return .left }  // the handle goes with the screen: abandoned
        do {
            try await checkout.perform { checkout in
                try await shop.logIn(as: customer)
                transactions.context.set(customer.id, forKey: "user")  // known from here on
                checkout.log(.loggedIn)
                let order = try await shop.order(basket)
                checkout.log(.ordered, attributes: ["order": order.number])
                try await pay(order, with: customer.card)
                if try await isPacked(order) { checkout.log(.packed) }
            }
            return .ordered
        } catch {
            return .failed(checkout.supportCode)
        }
    }

    /// Pays in a child transaction of the checkout, with a separate outcome.
    private func pay(_ order: Order, with card: String) async throws {
        do {
            try await transactions.perform(Payment.self) { payment in
                for attempt in 1... {
                    payment.set(attempt, forKey: "attempts")  // the last one counts
                    payment.log(.tried)
                    switch try await shop.pay(order, with: card) {
                    case 200: return
                    case 402: throw PaymentError.declined(reason: "The card's limit is reached.")
                    case 503 where attempt < 3: try await Task.sleep(for: .milliseconds(10 << attempt))
                    case 503: throw PaymentError.bankIsDown(attempts: attempt)
                    case let status: throw CheckoutError.unexpectedStatus(status)
                    }
                }
            }
        } catch let error as PaymentError {
            throw CheckoutError.notPaid(error)
        }
    }

    /// Told by a WebSocket, or asking where there is none.
    private func isPacked(_ order: Order) async throws -> Bool {
        if hasWebSockets {
            let states = shop.states(of: order)
            do {
                for try await message in states.messages {
                    guard case .string(let state) = message, state == "packed" else { continue }
                    states.cancel(with: .normalClosure, reason: nil)
                    return true
                }
            } catch {
                hasWebSockets = false
            }
        }
        return try await shop.state(of: order) == "packed"
    }

    /// Updates prices in the background. The app ignores an error, after Waybill has recorded it.
    func updatePrices() async {
        try? await transactions.perform(PriceUpdate.self) { update in
            let prices = try await shop.prices()
            update.log(.received, attributes: ["count": prices.count])
        }
    }
}
