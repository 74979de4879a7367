#if Collector
import Foundation
import TestSupport
import Testing
import WaybillQueries
import WaybillCore

/// The commands of Ask.md and Look.md, run verbatim.
@Suite(.timeLimit(.minutes(5))) struct AskGuideTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    private static func guide(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../../Sources/Waybill/Waybill.docc/\(name).md")
        return try String(contentsOf: file.standardizedFileURL, encoding: .utf8)
    }

    private static func commands(_ start: String, in name: String = "Ask") throws -> [Substring] {
        let blocks = try guide(name).components(separatedBy: "```\n").filter { $0.hasPrefix(start) }
        return blocks.joined().split(separator: "\n").filter { $0.hasPrefix(start) }
    }

    /// Splits a command into words, as a shell does.
    private static func words(_ line: Substring) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { offset, text in
            offset.isMultiple(of: 2) ? text.split(separator: " ").map(String.init) : [String(text)]
        }
    }

    @Test func everyCommandHasAnAnswerOrSaysWhyNot() async throws {
        // This test has no running collector, and no store with bodies.
        let looks = try Self.commands("waybill", in: "Look").filter { $0.contains(#/(list|show) \./collected/#) }
        let lines = try Self.commands("waybill ask") + looks
        #expect(lines.count == 18)
        for line in lines {
            var words = Array(Self.words(line).dropFirst())
            for index in words.indices {
                if words[index] == "./collected" { words[index] = folder.url.path }
                if words[index] == "K7QD-3M2X" { words[index] = "\(login.transaction.supportCode)" }
            }
            let result = try await Command.waybill(words)
            // This store has no old transactions, no variant A and no number called bytes.
            let isEmpty = ["--since 7d", "48h..24h", "--by variant --a", "--of bytes"].contains { line.contains($0) }
            #expect(result.status == (isEmpty ? 1 : 0), "\(line): \(result.errors)")
            #expect(isEmpty ? !result.errors.isEmpty : !result.output.isEmpty, "\(line)")
        }
    }

    @Test func theRequestIsAnsweredByACollector() async throws {
        let line = try #require(try Self.commands("curl").first)
        let body = try #require(line.firstMatch(of: #/-d '([^']+)'/#)?.1)
        let path = try #require(line.firstMatch(of: #/8477(\S+)'$/#)?.1)
        let serve = try await ServeProcess.start(folder)
        let answer = try await RawClient.send(
            "POST", String(path), to: serve.port, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.text.contains(#""p50_us":14750"#))
    }

    @Test func everyQuestionIsInTheTable() throws {
        for question in AnyQuestion.Word.allCases {
            #expect(try Self.guide("Ask").contains("| `\(question.rawValue)` |"), "\(question)")
        }
    }
}
#endif
