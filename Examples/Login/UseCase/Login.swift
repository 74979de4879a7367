public import Waybill
import WaybillCore

/// The use case that client and server share.
public enum Login: Int, UseCase {
    public static let code = 0

    case initiated = 0, requestSent = 1, responseReceived = 2
    case serverStarted = 10, serverAccepted = 11, serverRejected = 12
}

/// The client's request.
public struct LoginRequest: Codable, Sendable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}
