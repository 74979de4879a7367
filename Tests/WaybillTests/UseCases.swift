import Waybill
import WaybillCore
import WaybillTesting

/// The use case that most tests record.
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

extension TransactionManager {
    /// A server's manager for tests.
    ///
    /// - Parameter useCases: The use cases that a header field may name; `nil` allows any.
    static func testing(
        joining useCases: Set<Int>?, perMinute: Int = 6_000, clock: ManualClock = ManualClock()
    ) -> TransactionManager {
        .testing(clock: clock) { options in
            (options.server.accepting, options.server.joinsPerMinute, options.diagnostics) = (
                .init(codes: useCases), perMinute, { _ in }
            )
        }
    }
}
