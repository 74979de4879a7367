#if Collector
import Foundation
import TestSupport
import Testing

/// Every verb reports an unreadable store in one clear sentence.
@Suite(.timeLimit(.minutes(5))) struct BadStoreTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test(arguments: [["list"], ["verify"], ["show", "0000-0000"]])
    func aPlaceWhereNothingIs(verb: [String]) async throws {
        let path = folder.file("nowhere").path
        try await expectSentence(verb, path, "There is no store at \(path).")
    }

    @Test(arguments: [["list"], ["verify"], ["show", "0000-0000"]])
    func aFolderWithoutAStore(verb: [String]) async throws {
        try await expectSentence(verb, folder.url.path, "holds no Waybill store")
    }

    @Test(arguments: [["list"], ["verify"], ["show", "0000-0000"]])
    func aFileThatIsNotSQLite(verb: [String]) async throws {
        try Data(String(repeating: "This is a diary. ", count: 100).utf8).write(to: folder.file("diary.txt"))
        try await expectSentence(verb, folder.file("diary.txt").path, "it is not an SQLite database")
    }

    @Test(arguments: [["list"], ["verify"], ["show", "0000-0000"]])
    func aStoreOfANewerVersion(verb: [String]) async throws {
        try folder.makeStore()
        // The application's own version is at byte 60: sqlite.org/fileformat.html#user_version_number.
        let file = try FileHandle(forUpdating: folder.file("waybill.sqlite"))
        try file.seek(toOffset: 60)
        try file.write(contentsOf: Data([0, 0, 0, 99]))
        try file.close()
        try await expectSentence(verb, folder.url.path, "newer")
    }

    @Test func aCollectorThatNobodyRuns() async throws {
        let url = try refusedURL()
        try await expectSentence(
            ["list"], url.absoluteString, "There is no answer from \(url.absoluteString), or not a whole one.")
    }

    @Test(arguments: [
        LoopbackServer.Response.text("<html>Sign in</html>", type: "text/html"), .text("gone", status: 410),
        .text("{}", status: 500),
        .text(#"{"status": 99999, "title": "", "detail": ""}"#, status: 400, type: "application/problem+json"), .closed,
    ])
    func aServerThatIsNoCollector(response: LoopbackServer.Response) async throws {
        let server = try LoopbackServer { _ in response }
        try await expectSentence(["list"], server.url().absoluteString, server.url().absoluteString)
    }

    private func expectSentence(
        _ verb: [String], _ place: String, _ part: String, location: SourceLocation = #_sourceLocation
    ) async throws {
        let result = try await Command.waybill([verb[0], place] + verb.dropFirst())
        #expect(result.status == 1, sourceLocation: location)
        #expect(result.output.isEmpty, sourceLocation: location)
        #expect(result.errors.hasPrefix("Error: "), sourceLocation: location)
        #expect(result.errors.contains(part), sourceLocation: location)
        #expect(result.errors.split(separator: "\n").count == 1, sourceLocation: location)
    }
}
#endif
