public import Foundation

/// The items that a customer is about to order.
public struct Basket: Codable, Sendable {
    public var sku: String
    public var count: Int
    public var price: Decimal
    public var coupon: String?

    public init(sku: String, count: Int, price: Decimal, coupon: String? = nil) {
        self.sku = sku
        self.count = count
        self.price = price
        self.coupon = coupon
    }
}

/// The server's order for a basket.
public struct Order: Codable, Sendable {
    public var number: Int
    public var state: String

    public init(number: Int, state: String) {
        self.number = number
        self.state = state
    }
}

/// By what an order is to be paid: a token of the bank, and no card's number.
public struct PaymentOrder: Codable, Sendable {
    public var order: Int
    public var card: String

    public init(order: Int, card: String) {
        self.order = order
        self.card = card
    }
}
