/// Why nothing was bought. What is recorded of it: its domain, the name of its case, and what is behind it.
enum CheckoutError: Error {
    case soldOut(sku: String)
    case notPaid(PaymentError)
    case unexpectedStatus(Int)
}

/// Why an order was not paid.
enum PaymentError: Error {
    case declined(reason: String)
    case bankIsDown(attempts: Int)
}
