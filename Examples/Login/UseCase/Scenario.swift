public import Waybill
import WaybillCore

/// What can happen to a login, in a realistic mix.
public enum Scenario: String, CaseIterable, Codable, Sendable {
    case accepted
    case wrongPassword
    case unknownUser
    case cancelledByUser
    case serverError
    case serverTooLate
    case connectionRefused
    case leftScreen

    /// The scenario of the nth login of a run: of twenty, ten are accepted.
    public static func of(_ index: Int) -> Scenario {
        let mix: [Scenario] = [
            .accepted, .wrongPassword, .accepted, .accepted, .unknownUser, .accepted, .cancelledByUser, .accepted,
            .accepted, .wrongPassword,
            .serverError, .accepted, .leftScreen, .accepted, .accepted, .serverTooLate, .unknownUser, .accepted,
            .wrongPassword,
            .connectionRefused,
        ]
        return mix[index % mix.count]
    }

    /// For people.
    public var words: String {
        switch self {
        case .accepted: "accepted"
        case .wrongPassword: "wrong password"
        case .unknownUser: "unknown user"
        case .cancelledByUser: "cancelled by the user"
        case .serverError: "server error 500"
        case .serverTooLate: "server too late"
        case .connectionRefused: "connection refused"
        case .leftScreen: "screen left"
        }
    }

    /// How the transaction is to end.
    public var outcome: TransactionOutcome {
        switch self {
        case .accepted: .succeeded
        case .wrongPassword, .unknownUser, .serverError, .serverTooLate, .connectionRefused: .failed
        case .cancelledByUser: .cancelled
        case .leftScreen: .abandoned
        }
    }

    /// Whether the request gets to the server, which then takes part.
    public var reachesServer: Bool {
        switch self {
        case .accepted, .wrongPassword, .unknownUser, .serverError, .serverTooLate: true
        case .cancelledByUser, .connectionRefused, .leftScreen: false
        }
    }
}
