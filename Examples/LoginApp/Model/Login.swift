public import Waybill

/// The use case. Its code and the first three events are those of `Examples/Login`, whose server takes part.
public enum Login: Int, UseCase {
    public static let code = 0

    case initiated = 0, requestSent = 1, responseReceived = 2
    /// Between these two somebody fills the form in.
    case fillingBegan = 3, submitted = 4
}
