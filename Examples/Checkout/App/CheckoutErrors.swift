/// The reason why a checkout failed. Waybill records its domain, the name of its case, and the error in its payload.
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
