import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

/// The first program of a newcomer, compiled and run as the guide shows it.
@Suite(.timeLimit(.minutes(5))) struct GettingStartedTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    enum WordCount: String, UseCase {
        case fileRead, wordsCounted
    }

    private func countWords(_ path: String) async throws -> TransactionManager {
        let transactions = TransactionManager(store: .directory(folder.url))

        do {
            try transactions.perform(WordCount.self) { wordCount in
                let text = try String(contentsOfFile: path, encoding: .utf8)
                wordCount.log(.fileRead, attributes: ["characters": text.count])
                let words = text.split(separator: " ")
                wordCount.log(.wordsCounted, attributes: ["words": words.count])
            }
        } catch {
            print(error.localizedDescription)
            #expect(error is CocoaError)
        }
        try await transactions.sync()
        return transactions
    }

    /// Breaks when the program of the guide doesn't record its success and its failure.
    @Test func theFirstProgramRecordsHowItEnded() async throws {
        let file = folder.file("text")
        try Data("two words".utf8).write(to: file)
        let succeeded = try await countWords(file.path)
        #expect(try succeeded.last(WordCount.self)?.outcome == .succeeded)
        #expect(try succeeded.last(WordCount.self)?.events.map(\.event) == [.fileRead, .wordsCounted])
        let transactions = try await countWords(folder.file("missing").path)
        #expect(try transactions.last(WordCount.self)?.outcome == .failed)
        for row in try await transactions.transactions().page(limit: 20).rows {
            print(row.useCaseName, row.outcome)
        }
        #expect(try await transactions.transactions().page().rows.count == 2)
    }

    /// Breaks when the guide and the README name different packages or products.
    @Test func theLinesForThePackageAreTheReadmes() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../../README.md").standardizedFileURL
        let readme = try String(contentsOf: file, encoding: .utf8)
        let guide = try Guide.lines("GettingStarted.md")
        for line in [
            #".package(url: "https://example.com/waybill", from: "0.1.0")"#,
            #".product(name: "Waybill", package: "waybill")"#,
        ] {
            #expect(readme.contains(line) && guide.contains(line), "\(line)")
        }
    }

    @Test func theGuideShowsWhatIsTested() throws {
        let elsewhere = [
            "let transactions = TransactionManager(store: .default)",
            #"let path = CommandLine.arguments.dropFirst().first ?? "Package.swift""#,
        ]
        let file = URL(filePath: #filePath)
        #expect(try Guide.linesOfSnippets("GettingStarted.md", notIn: [file]).filter { !elsewhere.contains($0) } == [])
    }
}
