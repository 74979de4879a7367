import CheckoutShop
import Foundation
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app's client of the shop's server. Each request belongs to the current transaction, without code for it.
struct ShopClient {
    let server: URL
    let session: CapturedSession

    func logIn(as customer: Customer) async throws {
        try await send("POST", "logins", ["customer": customer.id])
    }

    func order(_ basket: Basket) async throws -> Order {
        let (data, status) = try await send("POST", "orders", basket)
        switch status {
        case 200: return try JSONDecoder().decode(Order.self, from: data)
        case 409: throw CheckoutError.soldOut(sku: basket.sku)
        default: throw CheckoutError.unexpectedStatus(status)
        }
    }

    /// - Returns: The status: 200 if the order is paid, 402 if the bank declines, 503 if the server can't reach the bank.
    func pay(_ order: Order, with card: String) async throws -> Int {
        try await send("POST", "payments", PaymentOrder(order: order.number, card: card)).status
    }

    /// Where the order is now.
    func state(of order: Order) async throws -> String {
        let (data, _) = try await session.data(from: server.appending(path: "orders/\(order.number)"))
        return try JSONDecoder().decode(Order.self, from: data).state
    }

    /// The states of an order as they come.
    func states(of order: Order) -> CapturedWebSocket {
        var parts = URLComponents(
            url: server.appending(path: "orders/\(order.number)/states"), resolvingAgainstBaseURL: true)
        parts?.scheme = server.scheme == "https" ? "wss" : "ws"
        return session.webSocketTask(with: parts?.url ?? server)
    }

    func prices() async throws -> [String: Decimal] {
        let (data, _) = try await session.data(from: server.appending(path: "prices"), requiring: 200..<300)
        return try JSONDecoder().decode([String: Decimal].self, from: data)
    }

    @discardableResult
    private func send(_ method: String, _ path: String, _ body: some Encodable) async throws -> (
        data: Data, status: Int
    ) {
        var request = URLRequest(url: server.appending(path: path))
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(body)
        let (data, response) = try await session.data(for: request)
        return (data, (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
}
