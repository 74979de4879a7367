import CheckoutShop
import Foundation

/// One visit of one of twelve customers, the same at every run.
struct Customer {
    /// Numbers of the shop's own: what the server calls the customer who logs in.
    var id: String
    var card: String
    var layout: String
    var basket: Basket
    var leaves: Bool

    /// - Parameter visit: Its number in the run, from 0.
    init(visit: Int) {
        let number = visit % 12
        id = "customer-\(number + 1)"
        card = [4, 7].contains(number) ? "card-at-its-limit" : "card-\(number + 1)"
        // The experiment: half of the customers see the checkout on one page.
        let isOnOnePage = visit.isMultiple(of: 2)
        layout = isOnOnePage ? "one-page" : "multi-page"
        leaves = isOnOnePage ? visit % 40 == 18 : [3, 7, 13].contains(visit % 20)
        basket = Basket(
            sku: visit % 17 == 5 ? "gramophone" : "record-\(visit % 5)", count: 1 + visit % 3,
            price: Decimal(1 + visit % 3) * Decimal(19.5), coupon: visit % 8 == 0 ? "SPRING" : nil)
    }
}
