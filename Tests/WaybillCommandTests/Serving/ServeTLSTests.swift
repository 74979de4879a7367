#if TLS
import Foundation
import TestSupport
import Testing

/// HTTPS as seen by a client that trusts one certificate. The client is curl, because URLSession on Linux can't be
/// configured to trust a certificate.
///
/// The certificate is self-signed, made for 127.0.0.1 with `openssl req -x509`, and its key is no secret.
@Suite(.timeLimit(.minutes(5))) struct ServeTLSTests {
    private let folder: TemporaryDirectory
    private let certificates = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Certificates")
        .standardizedFileURL

    init() throws { folder = try TemporaryDirectory() }

    private func path(_ name: String) -> String { certificates.appending(path: name).path }

    @Test(arguments: [("key.pem", [:]), ("encrypted-key.pem", ["WAYBILL_TLS_KEY_PASSWORD": "hunter22"])])
    func aClientThatTrustsTheCertificateIsServedAndNoOther(key: String, environment: [String: String]) async throws {
        let token = try await folder.addToken("read")
        try folder.makeStore(of: LoginHistory().clientSet())
        let serve = try await ServeProcess.start(
            folder, "--tls-cert", path("certificate.pem"), "--tls-key", path(key), asksForToken: true,
            environment: environment)
        #expect(serve.url.hasPrefix("https://"))
        let answer = try await curl(
            "--cacert", path("certificate.pem"), "-H", "Authorization: Bearer \(token)",
            serve.url + "/v1/transactions?outcome=failed")
        #expect(answer.contains(#""use_case_name":"login""#))
        // Waybill's client trusts the system's certificates.
        #expect(try await Command.waybill("list", serve.url, environment: ["WAYBILL_TOKEN": token]).status == 1)
    }

    private func curl(_ arguments: String...) async throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["curl", "--silent", "--show-error", "--max-time", "30"] + arguments
        let output = folder.file("answer")
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.runAlone() } catch { continuation.resume(throwing: error) }
        }
        return try String(contentsOf: output, encoding: .utf8)
    }

    @Test func plainHTTPIsNotAnswered() async throws {
        _ = try await folder.addToken("read")
        let serve = try await ServeProcess.start(
            folder, "--tls-cert", path("certificate.pem"), "--tls-key", path("key.pem"), asksForToken: true)
        let client = try RawClient(port: serve.port)
        try await client.send(RawClient.head("GET", "/v1/health"))
        #expect(try await !String(decoding: client.untilClosed(), as: UTF8.self).contains("HTTP/1.1"))
    }

    @Test(arguments: [
        ("key.pem", "key.pem"), ("certificate.pem", "certificate.pem"), ("none.pem", "key.pem"),
        ("certificate.pem", "encrypted-key.pem"),
    ])
    func filesThatAreNotWhatTheyShouldBeAreOneSentence(certificate: String, key: String) async throws {
        let result = try await Command.waybill(
            "serve", folder.url.path, "--insecure", "--port", "0", "--tls-cert", path(certificate), "--tls-key",
            path(key),
            environment: ["WAYBILL_TLS_KEY_PASSWORD": "wrong"])
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("Error: The "))
        #expect(result.errors.split(separator: "\n").count == 1)
    }
}
#endif
