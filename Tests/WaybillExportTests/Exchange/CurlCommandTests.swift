import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct CurlCommandTests {
    private func exchange(
        _ method: String = "POST", _ url: String = "https://api.example.com/login", role: ExchangeRole = .client,
        fields: [(String, String)] = [], sent: Int64? = nil, redirects: [Fact.Redirect] = []
    ) -> TransactionRecord.Exchange {
        TransactionRecord.Exchange(
            id: FactID(source: GUID(), sequence: 2), part: 1, role: role, method: method, url: url, state: .completed,
            status: 200,
            openedMicroseconds: 0, firstByteMicroseconds: nil, closedMicroseconds: 1, sentByteCount: sent,
            receivedByteCount: nil,
            requestHeaderFields: fields.map { HeaderField(name: $0.0, value: $0.1) }, responseHeaderFields: [],
            error: nil,
            transfer: Fact.Transfer(redirects: redirects))
    }

    @Test func aRequestIsACommand() {
        let command = CurlCommand(exchange(fields: [("Content-Type", "application/json"), ("X-Empty", "")], sent: 0))
        #expect(
            command?.text == """
                curl 'https://api.example.com/login' \\
                  -X POST \\
                  -H 'Content-Type: application/json' \\
                  -H 'X-Empty;'
                """)
        #expect(CurlCommand(exchange("GET"))?.text == "curl 'https://api.example.com/login'")
        #expect(CurlCommand(exchange("HEAD"))?.text == "curl 'https://api.example.com/login' \\\n  --head")
        #expect(CurlCommand(exchange("GET", "https://a.b/[1]"))?.text == "curl --globoff 'https://a.b/[1]'")
        #expect(CurlCommand(exchange("GET", "https://a.b/x/../y"))?.text == "curl --path-as-is 'https://a.b/x/../y'")
        let redirect = Fact.Redirect(status: 302, url: "https://c.d/", atMicroseconds: 1)
        #expect(
            CurlCommand(exchange("GET", redirects: [redirect]))?.text
                == "curl --location 'https://api.example.com/login'")
    }

    @Test func whatCannotBeSentAgainIsNoCommand() {
        #expect(CurlCommand(exchange(role: .server)) == nil)
        #expect(CurlCommand(exchange("POST", "file:///etc/passwd")) == nil)
        #expect(CurlCommand(exchange("POST", "/login")) == nil)
        #expect(CurlCommand(exchange("POST; reboot")) == nil)
        #expect(CurlCommand(exchange(fields: [("@/etc/passwd", "x")])) == nil)
    }

    /// RFC 9110 allows characters in a method that a shell would interpret.
    @Test func aMethodIsNeverForTheShell() {
        #expect(CurlCommand(exchange("A|reboot"))?.text.contains("-X 'A|reboot'") == true)
    }

    @Test func whatTheCommandLacksIsSaid() {
        let cut = ExchangeBody(contentType: nil, bytes: [0x61], byteCount: 2000, omission: .limit)
        let command = "curl 'https://api.example.com/login' \\\n  -X POST"
        #expect(CurlCommand(exchange(sent: 42))?.text == ": 'The body of 42 B was not kept.'\n\(command)")
        #expect(
            CurlCommand(exchange(sent: 2000), body: cut)?.text.hasPrefix(": 'The first 1 B of 2.0 kB were kept.'\n")
                == true)
        #expect(
            CurlCommand(exchange())?.text == ": 'A body was not kept; whether there was one is not known.'\n\(command)")
        #expect(CurlCommand(exchange(sent: 0))?.text == command)
        #expect(CurlCommand(exchange("GET"))?.text.contains("kept") == false)
        #expect(CurlCommand(exchange(sent: 1), body: ExchangeBody.whole([0x61]))?.text.contains("kept") == false)
    }

    // MARK: Checked with a shell, since a shell reads the command

    @Test(arguments: HostileText.corpus.filter { !$0.unicodeScalars.contains("\0") })
    func aShellReadsBackWhatWasSent(_ text: String) throws {
        let command = try #require(CurlCommand(exchange("GET", "https://h/\(text)", fields: [("X", text)])))
        let output = try Shell.posix.run("curl() { printf '%s\\n' \"$@\"; }\n" + command.text)
        let value = String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isCommand ? " " : $0 }))
        let url = text.unicodeScalars.map { scalar in
            scalar.isCommand ? String(scalar).utf8.map { String(format: "%%%02X", $0) }.joined() : String(scalar)
        }
        #expect(output.hasSuffix("https://h/\(url.joined())\n-H\nX: \(value)\n"))
    }

    /// Breaks when the copied command can end the paste and begin a command (`ESC [ 201 ~` ends a bracketed paste),
    /// press Enter or Control-C, or display another command than it contains.
    @Test(arguments: [
        "\u{1B}[201~\rreboot\r", "\u{3}\u{15}reboot\r", "\u{9B}201~\n", "a\tb", "\u{7F}\u{8}", "\u{202E}toober\u{2066}",
        "\0",
        "\u{85}next\u{2029}",
    ]) func nothingThatIsCopiedIsForTheTerminal(text: String) throws {
        let bodies = [Array(text.utf8), Array("{\n  \(text)\n}".utf8), [0x1B, 0xFF]]
        for body in bodies {
            let command = try #require(
                CurlCommand(
                    exchange("PUT", "https://h/\(text)?q=\(text)", fields: [("X", "a\(text)b")]),
                    body: ExchangeBody.whole(body)))
            #expect(command.text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isCommand }, "\(command.text)")
        }
    }

    /// Bodies that shells and curl may interpret.
    private static let bodies: [[UInt8]] = texts.map { Array($0.utf8) } + binaries

    private static let texts: [String] = [
        "plain", "it's \"quoted\" $HOME `id` \\ !! !x %s %d %% \\n \\101", "@/etc/passwd", "two\nlines\r\n", "\n",
        "-leading --data x", "",
        "漢字 👩‍👩‍👧‍👦 \u{202E}", "'", "a=1&b=%20+", "\u{1B}[31m\u{7}", "nul\0inside'%",
    ]

    private static let binaries: [[UInt8]] = {
        let every: [UInt8] = Array(0...255)
        let longText: [UInt8] = (0..<200_000).map { UInt8(32 + $0 % 95) }
        let long: [UInt8] = (0..<70_000).map { UInt8($0 * 7 % 256) }
        return [every, [0], [0xFF, 0xFE, 0x30, 0x31], longText, long]
    }()

    /// Sends the command to a real server with the real curl.
    @Test(.enabled(if: Shell.hasCurl, "curl is not installed"), arguments: bodies.indices)
    func curlSendsEveryByteOfABody(_ index: Int) throws {
        let body = Self.bodies[index]
        let server = try LoopbackServer { _ in .text("ok") }
        let target = "/items/a%2Fb/./c?q=[1]&r={x,y}&s=a%20b"
        let fields = [("Content-Type", "text/x-odd"), ("Content-Length", "999999"), ("X-It", "it's $HOME; \"x\"")]
        let command = try #require(
            CurlCommand(
                exchange("PUT", "http://127.0.0.1:\(server.port)\(target)", fields: fields),
                body: ExchangeBody.whole(body)))
        let output = try Shell.posix.run(command.text + " --silent --max-time 30 --noproxy '*'")
        #expect(output == "ok")
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT")
        #expect(request.path == target)
        #expect(Array(request.body) == body)
        #expect(request.header("Content-Type") == "text/x-odd")
        #expect(request.header("X-It") == "it's $HOME; \"x\"")
        #expect(server.requests.count == 1)
    }

    @Test(
        .enabled(if: Shell.hasCurl, "curl is not installed"),
        arguments: ["GET", "POST", "HEAD", "DELETE", "OPTIONS", "PROPFIND"])
    func curlSendsWhatWasSent(_ method: String) throws {
        let server = try LoopbackServer { _ in .text("ok") }
        let fields = [("Accept", "application/json"), ("X-Empty", ""), ("Accept-Encoding", "gzip")]
        let command = try #require(
            CurlCommand(exchange(method, server.url("/a/../b").absoluteString, fields: fields, sent: 0)))
        _ = try Shell.posix.run(command.text + " --silent --max-time 30 --noproxy '*'")
        let request = try #require(server.requests.first)
        #expect(request.method == method)
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("X-Empty") == "")
        #expect(request.header("Accept-Encoding") == "gzip")
        #expect(request.body.isEmpty)
    }

    /// If the request had no content type, curl would declare a form.
    @Test(.enabled(if: Shell.hasCurl, "curl is not installed"))
    func curlInventsNoContentType() throws {
        let server = try LoopbackServer { _ in .text("ok") }
        let command = try #require(
            CurlCommand(exchange("POST", server.url("/").absoluteString), body: ExchangeBody.whole(Array("{}".utf8))))
        _ = try Shell.posix.run(command.text + " --silent --max-time 30 --noproxy '*'")
        #expect(server.requests.first?.header("Content-Type") == nil)
        #expect(server.requests.first?.body == Data("{}".utf8))
    }
}
