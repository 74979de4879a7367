import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore
import WaybillTesting

@testable import WaybillExport
@testable import WaybillQueries

/// The requests that a server receives from commands pasted into a shell.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Shell.hasCurl, "curl is not installed")) struct CurlInShellsTests {
    private struct Case {
        var method: String
        var target: String
        var field: String
        var body: [UInt8]

        /// Makes a request of bytes that shells, `printf` and curl may interpret.
        init(_ random: inout RandomNumbers) {
            func text(_ letters: String, upTo count: Int) -> String {
                let letters = Array(letters)
                return String(
                    (0..<Int.random(in: 0...count, using: &random)).map { _ in
                        letters[Int.random(in: letters.indices, using: &random)]
                    })
            }
            method = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "X-|&"].randomElement(using: &random) ?? "GET"
            target = "/" + text("az09-._~!$&'()*+,;=:@/[]{}", upTo: 20) + "?q=" + text("az09-'$()*%&=[]{}", upTo: 20)
            target = target.replacing("%", with: "%25")
            field = "v" + text("az09 -'\"$`\\!;:#%@é漢", upTo: 30) + "v"
            let starts = [
                "", "-", "--", "--B\r\n", "-n ", "-e", "%", "%s", "\\", "\\c", "@", "'", "\0", "\n", "=", "#",
            ]
            let start = Array((starts.randomElement(using: &random) ?? "").utf8)
            let rest: [UInt8] =
                random.oneIn(2)
                ? Array(text("az09 -'\"$`\\!;:#%@é漢\n\r\t", upTo: 200).utf8)
                : (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            body = start + rest
        }
    }

    private func command(
        _ method: String, _ url: String, fields: [(String, String)] = [], body: [UInt8], redirects: [Fact.Redirect] = []
    ) throws -> String {
        let exchange = TransactionRecord.Exchange(
            id: FactID(source: GUID(), sequence: 2), part: 1, role: .client, method: method, url: url,
            state: .completed, status: 200, openedMicroseconds: 0, firstByteMicroseconds: nil, closedMicroseconds: 1,
            sentByteCount: Int64(body.count), receivedByteCount: nil,
            requestHeaderFields: fields.map { HeaderField(name: $0.0, value: $0.1) }, responseHeaderFields: [],
            error: nil, transfer: Fact.Transfer(redirects: redirects))
        let command = try #require(CurlCommand(exchange, body: ExchangeBody.whole(body)))
        return command.text + " --silent --output /dev/null --max-time 30 --noproxy '*' --http1.1"
    }

    @Test(arguments: Shell.installed, seeds(0..<4)) func everyShellSendsTheBytesOfTheRequest(shell: Shell, seed: Int)
        throws
    {
        let server = try LoopbackServer { _ in .text("ok") }
        var random = RandomNumbers(seed: seed)
        let cases = (0..<12).map { _ in Case(&random) }
        let script = try cases.map { one in
            try command(
                one.method, "http://127.0.0.1:\(server.port)\(one.target)",
                fields: [("X-Odd", one.field), ("X-Blank", " \t")], body: one.body)
        }
        _ = try shell.run(script.joined(separator: "\n") + "\n")
        let requests = server.requests
        try #require(requests.count == cases.count)
        for (one, request) in zip(cases, requests) {
            #expect(request.method == one.method)
            #expect(request.path == one.target)
            #expect(request.header("X-Odd") == one.field)
            #expect(request.header("X-Blank") == "")
            #expect(Array(request.body) == (one.method == "HEAD" ? [] : one.body), "\(one.method) in \(shell)")
        }
    }

    @Test(arguments: Shell.installed) func everyShellSendsABodyThatBeginsWithAHyphen(shell: Shell) throws {
        let server = try LoopbackServer { _ in .text("ok") }
        let body = Array("--B\r\nContent-Disposition: form-data; name=\"color\"\r\n\r\nblue\r\n--B--\r\n".utf8)
        let fields = [("Content-Type", "multipart/form-data; boundary=B")]
        _ = try shell.run(try command("POST", server.url("/echo").absoluteString, fields: fields, body: body))
        #expect(server.requests.first.map { Array($0.body) } == body)
    }

    /// The app's hops follow the Fetch standard, "HTTP-redirect fetch": only a 303, and a 301 or 302 after POST, change
    /// the method to GET.
    @Test(arguments: [
        (301, "POST", ["POST", "GET"]), (302, "POST", ["POST", "GET"]), (303, "POST", ["POST", "GET"]),
        (307, "POST", ["POST", "POST"]), (308, "POST", ["POST", "POST"]), (302, "GET", ["GET", "GET"]),
        (303, "HEAD", ["HEAD", "HEAD"]), (302, "PUT", ["PUT", "PUT"]), (307, "PUT", ["PUT", "PUT"]),
        (303, "PUT", ["PUT"]),
    ]) func aRedirectIsFollowedWithTheMethodOfTheApp(status: Int, method: String, hops: [String]) throws {
        for text in method == "POST" || method == "PUT" ? ["body", ""] : [""] {
            let server = try LoopbackServer { request in
                request.path == "/end"
                    ? .text("ok") : .init(status: status, headers: [("Location", "/end")])
            }
            let redirect = Fact.Redirect(
                status: status, url: server.url("/end").absoluteString, atMicroseconds: 1)
            let script = try command(
                method, server.url("/start").absoluteString, body: Array(text.utf8), redirects: [redirect])
            _ = try Shell.posix.run(script)
            #expect(server.requests.map(\.method) == hops)
            for request in server.requests {
                #expect(String(decoding: request.body, as: UTF8.self) == (request.method == "GET" ? "" : text))
            }
            #expect(script.contains("does not follow redirects") == (hops.count == 1))
        }
    }

    /// An interactive zsh treats `#` as the name of a command.
    @Test(arguments: Shell.installed) func aNoteIsNoCommentAndSaysNothingInAShell(shell: Shell) throws {
        let server = try LoopbackServer { _ in .text("ok") }
        var exchange = SampleExchange.record { ($0.url, $0.sentByteCount) = (server.url("/").absoluteString, 2000) }
            .exchange
        exchange.requestHeaderFields = []
        for body in [nil, ExchangeBody(contentType: nil, bytes: [0x61], byteCount: 2000, omission: .limit)] {
            let text = try #require(CurlCommand(exchange, body: body)).text
            #expect(text.hasPrefix(": '") && !text.contains("#"))
            #expect(try shell.run(text + " --silent --max-time 30 --noproxy '*'") == "ok")
        }
    }
}
