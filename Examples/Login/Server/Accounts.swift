#if Hummingbird
import Foundation
import LoginUseCase

/// The accounts of the demo. Its only password is in the source. A real server stores salted hashes, made by a slow
/// function such as Argon2.
struct Accounts: Sendable {
    enum Verdict { case accepted, wrongPassword, unknownUser }
    struct DatabaseIsBroken: Error {}

    /// As long as a check against such a hash takes.
    private static let checkDuration = Duration.milliseconds(4)
    private static let password = "difference engine"

    func check(_ login: LoginRequest) async throws -> Verdict {
        if login.user == "corrupt" { throw DatabaseIsBroken() }
        if login.user == "slow" { try await Task.sleep(for: .seconds(3)) }  // longer than the client waits
        guard ["ada", "slow"].contains(login.user) else { return .unknownUser }
        try await Task.sleep(for: Self.checkDuration)
        return login.password == Self.password ? .accepted : .wrongPassword
    }
}
#endif
