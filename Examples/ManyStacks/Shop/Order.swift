public import Waybill

/// An order, in all the processes that take part.
public enum Order: Int, UseCase {
    public static let code = 0

    case begun = 0
    case answered = 1
    case gatewayAsked = 10
    case currencyAsked = 11
    case stockCounted = 20
}
