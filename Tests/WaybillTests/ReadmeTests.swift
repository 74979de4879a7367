import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The README's sample, compiled and run. Breaks when a newcomer's first attempt doesn't work.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    @Test func theSampleDoesWhatItSays() async throws {
        enum Login: String, UseCase { case initiated, requestSent, responseReceived }
        let server = try LoopbackServer { _ in .text("no", status: 401) }
        let folder = try TemporaryDirectory()
        let (url, token): (URL, String?) = (server.url(), nil)
        let request = URLRequest(url: server.url("/login"))

        let transactions = TransactionManager(
            store: .directory(folder.url),
            delivery: .collector(url, token: token),
            correlatedHosts: ["127.0.0.1"])
        transactions.startDelivery()

        do {
            try await transactions.perform(Login.self, attributes: ["variant": "B"]) { login in
                login.log(.requestSent)
                let (data, _) = try await transactions.session.data(for: request, requiring: 200..<300)
                login.log(.responseReceived)
                #expect(data == Data("no".utf8))
            }
            Issue.record("the status is not accepted")
        } catch {
            #expect(error as? RecordedError == RecordedError(domain: "HTTP", code: 401))
        }
        #expect(try transactions.last(Login.self)?.outcome == .failed)
        #expect(
            try transactions.transactions(Login.self).first?.summary.error == RecordedError(domain: "HTTP", code: 401))
        #expect(try transactions.exchanges.map(\.status) == [401])
    }

    /// The README's sample is the one above, except for its host and the expectations. It stays short enough to read
    /// before anything else.
    @Test func theReadmeShowsTheSampleThatIsTested() throws {
        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let readme = try file("README.md")
        let start = try #require(readme.range(of: "```swift\nenum Login"))
        let end = try #require(readme.range(of: "\n```\n", range: start.upperBound..<readme.endIndex))
        let tested = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        let sample = readme[start.lowerBound..<end.lowerBound].split(separator: "\n").dropFirst()
        for line in sample {
            let code = line.components(separatedBy: "   //")[0].trimmingCharacters(in: .whitespaces)
                .replacing("api.example.com", with: "127.0.0.1")
            #expect(tested.contains(code), "\(code)")
        }
        #expect(sample.count <= 15)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 111)
    }

    /// Breaks when the README claims other figures than the measured ones.
    @Test func itsFiguresAreTheMeasuredOnes() throws {
        let (readme, figures) = (try file("README.md"), try file("Sources/Waybill/Waybill.docc/Figures.md"))
        let claimed = readme.matches(of: /\b0 of [\d,]+|\d+ ns|[\d.]+ MB|[\d,]+ secrets/).map { String($0.output) }
        #expect(claimed.count == 4)
        for figure in claimed {
            #expect(figures.contains(figure), "\(figure)")
        }
    }

    /// Breaks when a newcomer has to look for the two commands that build and test everything.
    @Test func theFirstScreenHasTheTwoCommandsThatDoEverything() throws {
        let (readme, makefile) = (try file("README.md"), try file("Makefile"))
        let firstScreen = readme.split(separator: "\n", omittingEmptySubsequences: false).prefix(40)
        for command in ["demo", "test"] {
            #expect(firstScreen.contains { $0.hasPrefix("make \(command) ") })
            #expect(makefile.contains("\n\(command): setup-"), "it installs what it needs")
        }
    }

    /// Breaks when a newcomer's first package does not resolve: `make consumer` builds the same line.
    @Test func theLineForTheTargetIsTheConsumers() throws {
        let line = #".product(name: "Waybill", package: "waybill")"#
        for name in ["README.md", "Tests/Consumer/Package.swift"] {
            #expect(try file(name).contains(line), "\(name)")
        }
    }

    @Test func itsLinksAndPicturesLeadSomewhere() throws {
        let readme = try file("README.md")
        let links = readme.matches(of: /\]\(([^:)]+)\)/).map { String($0.output.1) }
        let pictures = readme.matches(of: /src(?:set)?="([^"]+)"/).map { String($0.output.1) }
        #expect(links.count > 5 && pictures.count == 3)
        for path in links + pictures {
            #expect(FileManager.default.fileExists(atPath: root.appending(path: path).path), "\(path)")
        }
    }

    private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL

    private func file(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
}
