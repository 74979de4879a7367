import Foundation
import TestSupport
import Testing
import Waybill
import WaybillInspector
import WaybillUI

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 0
}

/// The replies to a web view's requests, without a web view. `InspectorPortTests` shows that the bytes are those of a
/// server.
@Suite(.timeLimit(.minutes(5))) struct InspectorReplyTests {
    private let transactions = TransactionManager(store: .inMemory)

    private func request(_ address: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "waybill://inspector\(address)")))
    }

    private func reply(_ address: String) async throws -> InspectorReply {
        await InspectorReply(to: try request(address), from: Inspector(transactions))
    }

    @Test func aPageIsHandedOverWithItsStatusAndFields() async throws {
        let login = transactions.begin(Login.self)
        guard case .page(let head, let body) = try await reply("/transactions?text=a+b%26c") else {
            Issue.record("It is no page.")
            return
        }
        #expect(head.statusCode == 200 && head.mimeType == "text/html")
        #expect(head.value(forHTTPHeaderField: "Content-Security-Policy")?.contains("default-src 'none'") == true)
        #expect(String(decoding: body, as: UTF8.self).contains("a b&amp;c"), "The search field has what was searched.")
        guard case .page(let missing, _) = try await reply("/transactions/\(GUID())") else {
            Issue.record("It is no page.")
            return
        }
        #expect(missing.statusCode == 404)
        login.finish()
    }

    /// Breaks when a web view, which follows no redirect of a handler, stays at an empty page.
    @Test(arguments: ["", "/"]) func anAnswerThatIsElsewhereIsToBeLoaded(address: String) async throws {
        guard case .load(let place) = try await reply(address) else {
            Issue.record("It is not elsewhere.")
            return
        }
        #expect(place.absoluteString == "waybill://inspector/transactions")
    }

    @Test func aFormIsSentWithItsBody() throws {
        var request = try request("/login?to=network")
        request.httpMethod = "POST"
        request.httpBody = Data("token=a+b".utf8)
        request.setValue("waybill://inspector", forHTTPHeaderField: "Origin")
        let asked = try #require(InspectorRequest(request))
        #expect(asked.method == "POST" && asked.path == "/login" && asked.query == "to=network")
        #expect(asked.form == "token=a+b")
        #expect(asked.fields.isEmpty, "A page of the view's own would else count as another site's.")
    }

    @Test(arguments: ["html", "har"]) func aTransactionIsAFileToShare(format: String) async throws {
        let login = transactions.begin(Login.self)
        login.log(.requestSent)
        login.finish()
        let folder = try TemporaryDirectory()
        guard case .share(let file) = try await reply("/transactions/\(login.id)/\(format)") else {
            Issue.record("It is no file.")
            return
        }
        #expect(file.name == "waybill-\(login.id.supportCode).\(format)")
        let place = try file.write(into: folder.file("shared"))
        #expect(place.lastPathComponent == file.name)
        #expect(try Array(Data(contentsOf: place)) == file.bytes && !file.bytes.isEmpty)
    }

    /// Breaks when a file name from elsewhere leads out of the folder of shared files.
    @Test(arguments: [
        ("attachment; filename=\"a.har\"", "a.har"), ("attachment; filename=\"../../b/c.har\"", "bc.har"),
        ("attachment; filename=\"..\"", "waybill"), ("attachment", "waybill"), ("attachment; filename=\"\"", "waybill"),
        ("inline; filename=\"a.png\"", nil), ("", nil),
    ]) func aFilesNameIsOneComponent(disposition: String, name: String?) {
        #expect(InspectorFile(["Content-Disposition": disposition], [])?.name == name)
        #expect(InspectorFile([:], []) == nil)
    }

    @Test func aStreamIsNoAnswer() async throws {
        guard case .none = try await reply("/live") else {
            Issue.record("A handler would wait for its end, which it has not.")
            return
        }
    }
}
