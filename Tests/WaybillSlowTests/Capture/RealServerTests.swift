#if canImport(FoundationNetworking)
import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
@testable import WaybillTests

extension Trait where Self == ConditionTrait {
    fileprivate static var withRealServers: Self {
        .enabled(
            if: InstalledProgram.areRunnable("nginx", "openssl", "clang", "python3"),
            "Needs nginx, OpenSSL, clang and Python. `make test` installs them.")
    }
}

/// The records of exchanges with nginx and with Python's http.server agree with the logs of those servers.
@Suite(.timeLimit(.minutes(10)), .withRealServers)
struct RealServerTests {
    enum Way: String, CaseIterable { case session, delegate, passive }

    private let root: TemporaryDirectory
    private let store: TemporaryDirectory

    init() throws {
        (root, store) = (try TemporaryDirectory(), try TemporaryDirectory())
        try Data("hello".utf8).write(to: root.file("hello.txt"))
        try Data(repeating: UInt8(ascii: "b"), count: 1_000_000).write(to: root.file("big"))
    }

    @Test(arguments: Way.allCases) func nginxHasLoggedWhatIsRecorded(way: Way) async throws {
        try await compare(Nginx(serving: root.url), scheme: "http", way)
    }

    @Test(arguments: Way.allCases) func nginxOverTLSHasLoggedWhatIsRecorded(way: Way) async throws {
        let authority = try CertificateAuthority()
        try await compare(Nginx(serving: root.url, authority: authority), scheme: "https", way, trusting: authority)
    }

    @Test(arguments: Way.allCases) func pythonsServerHasLoggedWhatIsRecorded(way: Way) async throws {
        let server = try PythonServer(serving: root.url)
        let recorded = try await exchanges(with: server, scheme: "http", way, names: ["hello.txt", "missing", "big"])
        let logged = try pythonLines(server.stop())
        #expect(logged == recorded.map { "\($0.method) /\($0.name) \($0.status ?? 0)" })
    }

    @Test(arguments: Way.allCases) func pythonsServerOverTLSHasLoggedWhatIsRecorded(way: Way) async throws {
        let authority = try CertificateAuthority()
        let server = try PythonServer(serving: root.url, authority: authority)
        let recorded = try await exchanges(
            with: server, scheme: "https", way, trusting: authority, names: ["hello.txt", "missing", "big"])
        let logged = try pythonLines(server.stop())
        #expect(logged == recorded.map { "\($0.method) /\($0.name) \($0.status ?? 0)" })
    }

    @Test(arguments: Way.allCases) func aServerThatIsNotTrustedIsRecordedAsFailed(way: Way) async throws {
        let server = try Nginx(serving: root.url, authority: CertificateAuthority())
        let recorded = try await exchanges(with: server, scheme: "https", way)
        #expect(recorded.map(\.state) == Array(repeating: .failed, count: 5))
        #expect(recorded.allSatisfy { $0.status == nil && $0.error?.domain == NSURLErrorDomain })
        #expect(try server.stop().isEmpty)
    }

    /// Compares with nginx's log, which has method, path, status, bytes of both bodies and the header field.
    private func compare(_ server: Nginx, scheme: String, _ way: Way, trusting authority: CertificateAuthority? = nil)
        async throws
    {
        let recorded = try await exchanges(with: server, scheme: scheme, way, trusting: authority)
        var expected: [String] = []
        for exchange in recorded {
            // Passive capture covers the shared session here, which has no delegate. Its requests therefore get no
            // header field.
            let number = way == .passive ? "nil" : "\(exchange.id.sequence)"
            guard exchange.name == "moved" else {
                // nginx's page for 404 is as long as it declares.
                let sent = exchange.sentByteCount.map { $0 > 0 ? "\($0)" : "-" } ?? "-"
                expected.append(
                    "\(exchange.method) /\(exchange.name) \(exchange.status ?? 0) \(exchange.receivedByteCount ?? -1) \(sent) \(number)"
                )
                continue
            }
            #expect(exchange.status == 200 && exchange.receivedByteCount == 5)
            #expect(
                exchange.transfer.redirects.map(\.status) == (way == .passive ? [] : [302]),
                "passive capture does not see them")
            expected.append("GET /moved 302 145 - \(number)")
            expected.append("GET /hello.txt 200 5 - \(number)")
        }
        let logged = try server.stop().map { line in
            let words = line.split(separator: " ", maxSplits: 5)
            let field = words.last.flatMap { TransactionHeader(parsing: String($0).replacing("\\x22", with: "\"")) }
            return words.prefix(5).joined(separator: " ") + " \(field?.exchange.map(String.init) ?? "nil")"
        }
        #expect(logged == expected)
    }

    /// Returns the exchanges of a separate process, because a whole process trusts an authority.
    private func exchanges(
        with server: some RealServer, scheme: String, _ way: Way, trusting authority: CertificateAuthority? = nil,
        names: [String] = ["hello.txt", "missing", "moved", "big", "upload"]
    ) async throws -> [TransactionRecord.Exchange] {
        var environment = [
            "WAYBILL_TEST_URL": "\(scheme)://127.0.0.1:\(server.port)",
            "WAYBILL_TEST_PATHS": names.joined(separator: " "),
        ]
        if let authority { environment.merge(try authority.trusted()) { $1 } }
        let child = try ChildProcess(
            "TestProcess", ["exchange-\(way.rawValue)", store.url.path], environment: environment)
        let (output, status) = await child.finished()
        #expect(status == 0)
        let recorded = try JSONDecoder().decode([TransactionRecord.Exchange].self, from: Data(output.utf8))
        #expect(recorded.map(\.name) == names)
        return recorded
    }

    /// Returns method, path and status of lines such as `127.0.0.1 - - [21/Nov/2026 19:00:00] "GET /big HTTP/1.1" 200
    /// -`, and ignores other lines.
    private func pythonLines(_ log: [String]) -> [String] {
        log.compactMap { line in
            let parts = line.components(separatedBy: "\"")
            guard parts.count == 3, let status = parts[2].split(separator: " ").first else { return nil }
            return parts[1].split(separator: " ").prefix(2).joined(separator: " ") + " \(status)"
        }
    }
}

extension TransactionRecord.Exchange {
    /// The last path component of the URL.
    fileprivate var name: String { URL(string: url)?.lastPathComponent ?? "" }
}
#endif
