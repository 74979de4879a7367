#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct TokenFileTests {
    private let folder: TemporaryDirectory
    private let file: TokenFile

    init() throws {
        folder = try TemporaryDirectory()
        file = TokenFile(folder: folder.url)
    }

    private func text() throws -> String { try String(contentsOf: file.url, encoding: .utf8) }

    @Test func whatIsAddedIsReadBack() throws {
        let shop = try #require(ProjectName("shop"))
        let first = try file.add(role: .ingest, project: .standard, now: LoginHistory.begun)
        let second = try file.add(role: .admin, project: shop, now: LoginHistory.begun)
        #expect(try file.tokens() == [first.token, second.token])
        #expect(second.token.project == shop && second.token.role == .admin && second.token.made == "2026-03-01")
    }

    @Test func itHoldsHashesAndNoToken() throws {
        let secret = try file.add(role: .read, project: .standard).secret
        #expect(try !text().contains(secret.text))
        #expect(try !text().contains(secret.text.dropFirst("waybill_".count)))
    }

    @Test func anEndIsReadBackAndLinesWithoutOneHaveNone() throws {
        let now = LoginHistory.begun
        let end = now + 86_400_000_000
        let endless = try file.add(role: .read, project: .standard, now: now).token
        let ending = try file.add(role: .read, project: .standard, now: now, end: end).token
        #expect(try file.tokens() == [endless, ending])
        #expect(endless.end == nil && !endless.hasEnded(now: .max))
        #expect(ending.end?.wholeMatch(of: #/2026-03-02T\d\d:\d\d:\d\dZ/#) != nil)
        #expect(!ending.hasEnded(now: end - 1_000_000))
        // At its end, shortly after it, and forever.
        #expect([end, end + 1, end + 86_400_000_000, .max].allSatisfy { ending.hasEnded(now: $0) })
    }

    @Test func onlyItsOwnerMayReadIt() throws {
        _ = try file.add(role: .read, project: .standard)
        let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// Breaks when a token whose digest matches only in some bytes is accepted.
    @Test(arguments: [0, 1, 15, 16, 30, 31]) func aDigestThatIsWrongInOneByteIsNotTheTokens(place: Int) throws {
        let (secret, token) = try file.add(role: .admin, project: .standard)
        let digest = SHA256.hash(Array(secret.bytes))
        #expect(token.isToken(of: digest))
        for bit in 0..<8 {
            var other = digest
            other[place] ^= 1 << bit
            #expect(!token.isToken(of: other))
        }
        #expect(!token.isToken(of: Array(digest.dropLast())) && !token.isToken(of: digest + [0]))
        #expect(!token.isToken(of: []))
    }

    @Test func revokingTakesOneLineAndLeavesRemarks() throws {
        let first = try file.add(role: .read, project: .standard).token
        try Data((text() + "# the shop's tills\n\n").utf8).write(to: file.url)
        let second = try file.add(role: .ingest, project: .standard).token
        try file.revoke(first.id)
        #expect(try file.tokens() == [second])
        #expect(try text().contains("# the shop's tills"))
        #expect(throws: WaybillError.self) { try file.revoke(first.id) }
    }

    @Test func aRevokedTokenDoesNotMatchAndAnotherDoes() throws {
        let watch = try TokenWatch(file)
        #expect(try watch.tokens().isEmpty)
        let added = try file.add(role: .read, project: .standard)
        #expect(try watch.token(fieldValue: added.secret.fieldValue) == added.token)
        #expect(try watch.token(fieldValue: BearerToken.random().fieldValue) == nil)
        try file.revoke(added.token.id)
        #expect(try watch.token(fieldValue: added.secret.fieldValue) == nil)
    }

    @Test(arguments: [
        "x", "a b c d e", "1 read waybill 2026-03-01 00",
        "1 read waybill 2026-03-01 \(String(repeating: "0", count: 64)) some-day",
        "1 owner waybill 2026-03-01 \(String(repeating: "0", count: 64))",
    ])
    func aLineThatIsNoneIsToldWithItsNumber(line: String) throws {
        try Data("# tokens\n\(line)\n".utf8).write(to: file.url)
        #expect { try file.tokens() } throws: { error in
            (error as? WaybillError)?.message.hasPrefix("Line 2 of the token file") == true
        }
    }

    @Test(arguments: ["", "Shop", "a/b", "..", "-a", "a.b", "ä", String(repeating: "a", count: 65)])
    func aProjectsNameIsAFilesNameEverywhere(name: String) {
        #expect(ProjectName(name) == nil)
    }
}
#endif
