import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillReport

struct CurlCommandTests {
    private func exchange(
        _ method: String = "POST", _ url: String = "https://api.example.com/login", role: Fact.Role = .client,
        fields: [(String, String)] = []
    ) -> TransactionRecord.Exchange {
        TransactionRecord.Exchange(
            id: Fact.ID(source: GUID(), sequence: 2), part: 1, role: role, method: method, url: url, state: .completed, status: 200,
            openedMicroseconds: 0, firstByteMicroseconds: nil, closedMicroseconds: 1, sentByteCount: nil, receivedByteCount: nil,
            requestHeaderFields: fields.map { Fact.HeaderField(name: $0.0, value: $0.1) }, responseHeaderFields: [], error: nil)
    }

    @Test func aRequestIsACommand() {
        let command = CurlCommand(exchange(fields: [("Content-Type", "application/json"), ("X-Empty", "")]))
        #expect(
            command?.text == """
                curl 'https://api.example.com/login' \\
                  -X POST \\
                  -H 'Content-Type: application/json' \\
                  -H 'X-Empty;'
                """)
        #expect(CurlCommand(exchange("GET"))?.text == "curl 'https://api.example.com/login'")
        #expect(CurlCommand(exchange("GET", "https://a.b/[1]"))?.text == "curl --globoff 'https://a.b/[1]'")
    }

    @Test func whatCannotBeSentAgainIsNoCommand() {
        #expect(CurlCommand(exchange(role: .server)) == nil)
        #expect(CurlCommand(exchange("POST", "file:///etc/passwd")) == nil)
        #expect(CurlCommand(exchange("POST", "/login")) == nil)
        #expect(CurlCommand(exchange("POST; reboot")) == nil)
        #expect(CurlCommand(exchange(fields: [("@/etc/passwd", "x")])) == nil)
    }

    /// A shell is asked, since it is the one that reads the command.
    @Test(arguments: HostileText.corpus.filter { !$0.unicodeScalars.contains("\0") })
    func aShellReadsBackWhatWasSent(_ text: String) throws {
        let command = try #require(CurlCommand(exchange("GET", "https://h/\(text)", fields: [("X", text)])))
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", "curl() { printf '%s\\n' \"$@\"; }\n" + command.text]
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        shell.waitUntilExit()
        #expect(String(decoding: said, as: UTF8.self).hasSuffix("https://h/\(text)\n-H\nX: \(text)\n"))
    }
}
