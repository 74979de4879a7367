import Waybill
import WaybillCore

/// What the tests record.
enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0, requestSent = 1, responseReceived = 2
    case serverStarted = 10, serverAccepted = 11, serverRejected = 12
}

enum Purchase: Int, UseCase {
    static let code = 1
    static var timeout: Duration { .seconds(60) }
    case started = 0, paid = 1
}

struct Refused: Error {}
