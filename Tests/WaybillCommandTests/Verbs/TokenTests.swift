#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore

/// `waybill token` with expiry.
@Suite(.timeLimit(.minutes(5))) struct TokenTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func theListSaysWhenEachEnds() async throws {
        for arguments in [[], ["--expires", "2020-01-01"], ["--expires", "2999-12-31T12:00:00Z"]] {
            let added = try await Command.waybill(["token", "add", folder.url.path, "--role", "read"] + arguments)
            #expect(added.status == 0)
        }
        let lines = try await Command.waybill("token", "list", folder.url.path).output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[0].hasSuffix("ENDS (UTC)"))
        #expect(lines[1].hasSuffix("never"))
        #expect(lines[2].hasSuffix("ended 2020-01-01T00:00:00Z"))
        #expect(lines[3].hasSuffix("2999-12-31T12:00:00Z"))
        // Breaks when a script that rotates tokens has to read the table.
        struct Listed: Decodable {
            struct Row: Decodable { var id, role: String, end: String?, hasEnded: Bool }
            var rows: [Row]
        }
        let json = try await Command.waybill("token", "list", folder.url.path, "--json").output
        let rows = try JSONDecoder.waybill().decode(Listed.self, from: Data(json.utf8)).rows
        #expect(rows.map(\.end) == [nil, "2020-01-01T00:00:00Z", "2999-12-31T12:00:00Z"])
        #expect(rows.map(\.hasEnded) == [false, true, false] && rows.allSatisfy { $0.role == "read" })
    }

    @Test(arguments: ["soon", "-1d", "99999999999999d", "300000000000000000", "32000-01-01"])
    func anEndThatIsNoTimeIsASentence(text: String) async throws {
        let added = try await Command.waybill("token", "add", folder.url.path, "--role", "read", "--expires=\(text)")
        #expect(added.status == 64)
        #expect(added.errors.contains("is no time: give 90d, 12h, or an ISO 8601 date or time."))
        #expect(try folder.names().isEmpty, "Nothing was made.")
    }

    /// Breaks when an expired token opens something, or the refusal does not say that it expired.
    @Test func oneThatHasEndedIsRefusedWithASentence() async throws {
        let token = try await folder.addToken("read", "--expires", "2020-01-01")
        let serve = try await ServeProcess.start(folder, asksForToken: true)
        let list = try await Command.waybill("list", serve.url, environment: ["WAYBILL_TOKEN": token])
        #expect(list.status == 1)
        #expect(list.errors.contains("This token ended on 2020-01-01. Ask for a new one."))
        #expect(list.errors.split(separator: "\n").count == 1)
    }
}
#endif
