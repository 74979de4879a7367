import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The README's sample, compiled and run: broken, the first thing that a newcomer tries would not work.
@Suite(.timeLimit(.minutes(5))) struct ReadmeTests {
    @Test func theSampleDoesWhatItSays() async throws {
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

    /// The sample in the README is the one above, but for where it runs and what it expects.
    @Test func theReadmeShowsTheSampleThatIsTested() throws {
        let here = URL(filePath: #filePath)
        let readme = try String(
            contentsOf: here.deletingLastPathComponent().appending(path: "../../README.md").standardizedFileURL,
            encoding: .utf8)
        let source = try String(contentsOf: here, encoding: .utf8)
        let start = try #require(readme.range(of: "let transactions = "))
        let end = try #require(readme.range(of: "\n}\n", range: start.lowerBound..<readme.endIndex))
        let tested = Set(source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        for line in readme[start.lowerBound..<end.upperBound].split(separator: "\n") {
            let code = line.components(separatedBy: "   //")[0].trimmingCharacters(in: .whitespaces)
                .replacing("api.example.com", with: "127.0.0.1")
            #expect(tested.contains(code), "\(code)")
        }
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 160)
    }

    /// Broken, a newcomer would have to look for the two commands that build and test everything.
    @Test func theFirstScreenHasTheTwoCommandsThatDoEverything() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let makefile = try String(contentsOf: root.appending(path: "Makefile"), encoding: .utf8)
        let firstScreen = readme.split(separator: "\n", omittingEmptySubsequences: false).prefix(40)
        for command in ["demo", "test"] {
            #expect(firstScreen.contains { $0.hasPrefix("make \(command) ") })
            #expect(makefile.contains("\n\(command): setup-"), "it installs what it needs")
        }
    }

    /// Breaks when a newcomer's first package does not resolve: the line is the one that `make consumer` builds.
    @Test func theLineForTheTargetIsTheConsumers() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let line = #".product(name: "Waybill", package: "waybill")"#
        for file in ["README.md", "Tests/Consumer/Package.swift"] {
            #expect(try String(contentsOf: root.appending(path: file), encoding: .utf8).contains(line), "\(file)")
        }
    }

    @Test func itsLinksLeadSomewhere() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let links = readme.matches(of: /\]\(([^:)]+)\)/).map { String($0.output.1) }
        #expect(links.count > 5)
        for link in links {
            #expect(FileManager.default.fileExists(atPath: root.appending(path: link).path), "\(link)")
        }
    }
}
