#if Hummingbird
import CheckoutShop
import Foundation
import Hummingbird
import Waybill

/// The shop behind its server, and the bank behind the shop, which has its bad moments: always the same ones.
actor Orders {
    /// The bank's answer. As an attribute, it is its raw value.
    enum Verdict: String, AttributeConvertible { case paid, declined, unreachable }

    private var orders: [Int: Order] = [:]
    private var attempts: [Int: Int] = [:]
    private var priceRequests = 0

    /// - Returns: nil where the shop has none left.
    func reserve(_ basket: Basket) -> Order? {
        guard basket.sku != "gramophone" else { return nil }
        let order = Order(number: orders.count + 1, state: "reserved")
        orders[order.number] = order
        return order
    }

    subscript(number: Int) -> Order? { orders[number] }

    func pay(_ payment: PaymentOrder) -> Verdict {
        let attempt = attempts[payment.order, default: 0] + 1
        attempts[payment.order] = attempt
        if payment.card == "card-at-its-limit" { return .declined }
        // For each sixth order, the third attempt reaches the bank. For some orders, no attempt does.
        if payment.order % 15 == 7 || payment.order % 6 == 0 && attempt < 3 { return .unreachable }
        orders[payment.order]?.state = "packed"
        return .paid
    }

    func prices() throws -> [String: Double] {
        priceRequests += 1
        guard priceRequests % 24 != 0 else { throw HTTPError(.internalServerError) }
        return ["record-0": 19.5, "record-1": 19.5, "record-2": 19.5]
    }
}
#endif
