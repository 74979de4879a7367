import Foundation
import Observation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let loginURL = URL(filePath: "/nowhere")

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable final class LoginModel {
    private(set) var message = ""
    private let transactions: TransactionManager
    private let request: URLRequest

    init(transactions: TransactionManager, request: URLRequest = URLRequest(url: loginURL)) {
        self.transactions = transactions
        self.request = request
    }

    func logIn() async {
        let login = transactions.begin(Login.self)
        do {
            try await login.perform { login in
                login.log(.requestSent)
                _ = try await transactions.session.data(for: request, requiring: 200..<300)
                login.log(.responseReceived)
            }
            message = "Welcome back."
        } catch {
            message = "That did not work. Tell support: \(login.supportCode)"
        }
    }
}

/// The model of the guide ApplePlatforms.md, which knows nothing of SwiftUI.
@Suite(.timeLimit(.minutes(5))) struct ApplePlatformsTests {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func theModelRecordsWhatTheGuidesTestAsks() async throws {
        let server = try LoopbackServer { _ in .text("no", status: 401) }
        let request = URLRequest(url: server.url("/login"))
        let tx = TransactionManager.testing()
        await LoginModel(transactions: tx, request: request).logIn()
        #expect(try tx.last(Login.self)?.events.map(\.event) == [.requestSent])
        #expect(try tx.last(Login.self)?.outcome == .failed)
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func theSupportCodeThatTheUserReadsIsTheTransactions() async throws {
        let server = try LoopbackServer { _ in .text("no", status: 401) }
        let tx = TransactionManager.testing()
        let model = LoginModel(transactions: tx, request: URLRequest(url: server.url("/login")))
        await model.logIn()
        let code = try #require(tx.transactions(Login.self).first?.summary.id.supportCode)
        #expect(model.message == "That did not work. Tell support: \(code)")
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func anyManagerOfAPreviewWorks() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let request = URLRequest(url: server.url("/login"))
        for transactions in [TransactionManager.testing(), .disabled] {
            let model = LoginModel(transactions: transactions, request: request)
            await model.logIn()
            #expect(model.message == "Welcome back.")
        }
    }

    @Test func theGuideShowsTheModelAndTheTestThatAreRun() throws {
        let tested = try Set(Guide.lines(of: URL(filePath: #filePath)))
        for start in ["@MainActor @Observable final class LoginModel {", "let tx = TransactionManager.testing()"] {
            let shown = try Guide.snippet("ApplePlatforms.md", from: start)
            #expect(shown.count > 3)
            for line in shown { #expect(tested.contains(line), "\(line)") }
        }
    }
}

/// The DocC guides of this checkout.
enum Guide {
    /// The lines of the snippet that begins with a line, without indentation.
    static func snippet(_ guide: String, from start: String) throws -> [String] {
        let lines = try lines(guide)
        let first = try #require(lines.firstIndex(of: start), "\(guide): \(start)")
        return Array(lines[first...].prefix { $0 != "```" })
    }

    /// The lines of a guide's Swift snippets that are in none of these files, whatever their line breaks: code in the
    /// guide that was never compiled.
    static func linesOfSnippets(_ guide: String, notIn files: [URL]) throws -> [String] {
        let tested = try files.flatMap { try lines(of: $0).map(code) }.joined()
        var isSnippet = false
        let shown = try lines(guide).filter { line in
            if line.hasPrefix("```") {
                isSnippet = line == "```swift"
                return false
            }
            return isSnippet
        }
        try #require(!shown.isEmpty, "\(guide) has no snippets")
        return shown.filter { !tested.contains(code($0)) }
    }

    /// A line without its comment and spaces.
    private static func code(_ line: String) -> String {
        line.components(separatedBy: "  //")[0].filter { !$0.isWhitespace }
    }

    /// A guide's lines without indentation.
    static func lines(_ guide: String) throws -> [String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/Waybill/Waybill.docc")
        return try lines(of: folder.appending(path: guide).standardizedFileURL)
    }

    static func lines(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }
}
