#if Hummingbird
import CryptoExtras
import Foundation
import LoginUseCase

/// The accounts of the demo, with salted password hashes.
struct Accounts: Sendable {
    enum Verdict { case accepted, wrongPassword, unknownUser }
    struct DatabaseIsBroken: Error {}

    /// A demo cost, chosen to take a few milliseconds; OWASP asks for 600,000 rounds of PBKDF2-HMAC-SHA256.
    private static let demoRounds = 4_000

    private struct Hash: Sendable {
        var salt: Data
        var key: Data
    }

    private let hashes: [String: Hash]

    init() throws {
        var hashes: [String: Hash] = [:]
        for user in ["ada", "slow"] {
            let salt = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) })
            hashes[user] = Hash(salt: salt, key: try Self.derive("difference engine", salt: salt))
        }
        self.hashes = hashes
    }

    func check(_ login: LoginRequest) async throws -> Verdict {
        if login.user == "corrupt" { throw DatabaseIsBroken() }
        if login.user == "slow" { try await Task.sleep(for: .seconds(3)) }  // longer than the client has patience
        guard let hash = hashes[login.user] else { return .unknownUser }
        let key = try Self.derive(login.password, salt: hash.salt)
        // In constant time: how many bytes agree is nobody's business.
        return zip(key, hash.key).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 ? .accepted : .wrongPassword
    }

    private static func derive(_ password: String, salt: Data) throws -> Data {
        try KDF.Insecure.PBKDF2.deriveKey(
            from: Data(password.utf8), salt: salt, using: .sha256, outputByteCount: 32, unsafeUncheckedRounds: demoRounds
        ).withUnsafeBytes { Data($0) }
    }
}
#endif
