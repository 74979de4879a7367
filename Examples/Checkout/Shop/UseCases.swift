public import Waybill

/// A customer buys a basket. The server logs the events from 10 up.
public enum Checkout: Int, UseCase {
    public static let code = 20

    case opened = 0, loggedIn = 1, ordered = 2, packed = 3
    case reserved = 10
}

/// An order is paid: begun within a checkout, and below it.
public enum Payment: Int, UseCase {
    public static let code = 21

    case tried = 0
    case bankAsked = 10
}

/// Prices are brought up to date in the background, often and seldom worth a look.
public enum PriceUpdate: Int, UseCase {
    public static let code = 22

    case received = 0
}

extension Sampling {
    /// One price update in four is delivered, and each that failed. App and server have the same rate, and so deliver the
    /// same ones.
    public static var shop: Sampling {
        var sampling = Sampling()
        sampling.setRate(0.25, for: PriceUpdate.self)
        return sampling
    }
}
