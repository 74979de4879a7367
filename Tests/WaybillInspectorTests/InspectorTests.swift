import Foundation
import TestSupport
import Testing
import Waybill
import WaybillExport
import WaybillInspector
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 0
    case responseReceived = 1
}

/// An app shows its own store as a web view requests it: without a server, and without a `Host` field.
@Suite(.timeLimit(.minutes(5))) struct InspectorTests {
    private static let secret = "hunter22sunny"

    /// Makes a manager with its own secret names.
    private func manager(store: StoreLocation) -> TransactionManager {
        TransactionManager(store: store) { options in
            options.app = "shop"
            options.privacy.additionalSecretNames = ["customerNumber"]
        }
    }

    private func text(_ path: String, of inspector: Inspector, status: Int = 200) async throws -> String {
        let parts = path.split(separator: "?").map(String.init)
        let response = await inspector.respond(
            to: InspectorRequest(path: parts[0], query: parts.dropFirst().first ?? ""))
        #expect(response.status == status, "\(path)")
        return try bytes(of: response)
    }

    private func bytes(of response: InspectorResponse) throws -> String {
        switch response.body {
        case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
        case .stream: throw WaybillError(.format, "A page was expected, and no stream.")
        }
    }

    /// Breaks when a manager's pages show another store, are refused because `Host` is missing, or show only data
    /// stored before the inspector was made.
    @Test(arguments: [true, false]) func whatAManagerRecordsIsShownAtTheNextRequest(isInMemory: Bool) async throws {
        let folder = try TemporaryDirectory()
        let transactions = manager(store: isInMemory ? .inMemory : .directory(folder.file("store")))
        let inspector = Inspector(transactions)
        #expect(try await text("/transactions", of: inspector).contains("the store is empty"))

        let login = transactions.begin(Login.self, attributes: ["variant": "B"])
        login.log(.requestSent)
        let list = try await text("/transactions", of: inspector)
        #expect(list.contains("\(login.id.supportCode)") && list.contains(">shop<"))
        let open = try await text("/transactions/\(login.id)", of: inspector)
        #expect(open.contains("requestSent") && open.contains("variant=B") && !open.contains("responseReceived"))

        login.log(.responseReceived)
        login.finish()
        #expect(try await text("/transactions/\(login.id.supportCode)", of: inspector).contains("responseReceived"))
        let elsewhere = InspectorRequest(path: "/transactions/\(login.id)", fields: ["host": "app.example"])
        #expect(await inspector.respond(to: elsewhere).status == 200)
    }

    /// Breaks when lists and charts use two time zones, or a link to another zone drops the filter.
    @Test func aReaderChoosesOneTimeZoneForAllPages() async throws {
        let inspector = Inspector(manager(store: .inMemory))
        let chosen = await inspector.respond(
            to: InspectorRequest(path: "/use-cases", query: "text=a%20b&zone=Asia/Kathmandu", root: "/look"))
        #expect(chosen.status == 303 && chosen.fields["Location"] == "/look/use-cases?text=a%20b")
        let cookie = try #require(chosen.fields["Set-Cookie"])
        #expect(cookie.hasPrefix("waybill_zone=Asia/Kathmandu; Path=/look/; ") && cookie.hasSuffix("SameSite=Strict"))
        for path in ["/transactions", "/use-cases", "/sources", "/delivery"] {
            let request = InspectorRequest(
                path: path, query: "text=x", fields: ["cookie": "a=b; waybill_zone=Asia/Kathmandu"])
            let page = try bytes(of: await inspector.respond(to: request))
            #expect(page.contains("Times in <span id=zone data-chosen>Asia/Kathmandu</span>."), "\(path)")
            #expect(page.contains("<a href=\"?text=x&amp;zone=UTC\">Show UTC</a>"), "\(path)")
        }
        for name in ["Mars/Olympus", "UTC; Path=/", "%0D%0ASet-Cookie: a=b", String(repeating: "A", count: 65)] {
            let query = "zone=" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
            let response = await inspector.respond(to: InspectorRequest(path: "/transactions", query: query))
            #expect(response.status == 400 && response.fields["Set-Cookie"] == nil, "\(name)")
        }
    }

    /// Breaks when an error page leads nowhere, or an empty store doesn't say how to begin.
    @Test func errorsHaveTheNavigationAndAnEmptyStoreSaysHowToFillIt() async throws {
        let inspector = Inspector(manager(store: .inMemory))
        let missing = try await text("/nothing/here", of: inspector, status: 404)
        #expect(missing.contains("<nav aria-label=Pages><a href=\"../transactions\">"))
        #expect(try await text("/transactions", of: inspector).contains("Send the first set"))
        #expect(try await !text("/transactions?outcome=failed", of: inspector).contains("Send the first set"))
        #expect(
            InspectorFrame.loginPage(to: "", problem: "No.").text.contains("<p class=bad role=alert>No.</p><input"),
            "An open paragraph would take the whole form with it.")
    }

    /// Breaks when a page or a file uses other redaction rules than the manager's: data recorded before a name was
    /// added would show its secret.
    @Test func whatIsSecretToTheManagerIsInNoPage() async throws {
        let folder = try TemporaryDirectory()
        let location = StoreLocation.directory(folder.file("store"))
        let before = TransactionManager(store: location)
        let attributes: Attributes = ["customerNumber": .string(Self.secret), "password": .string(Self.secret)]
        let login = before.begin(Login.self, attributes: attributes)
        login.log(.requestSent, attributes: attributes)
        login.finish()
        let page = try await text("/transactions/\(login.id)", of: Inspector(before))
        #expect(page.contains(Self.secret), "Without the name it would be shown.")

        let inspector = Inspector(manager(store: location))
        let files = ["", "/html", "/json", "/har", "/otlp"].map { "/transactions/\(login.id)\($0)" }
        for path in ["/transactions", "/terms", "/use-cases/0/compare?by=variant"] + files {
            let shown = try await text(path, of: inspector)
            #expect(!shown.isEmpty && !shown.contains(Self.secret), "\(path)")
        }
        #expect(
            try await text("/use-cases/0/compare?by=customerNumber", of: inspector, status: 400).contains(
                "name of a secret"))
    }

    /// Breaks when the inspector creates a store for a manager that must not record, or doesn't explain that no store
    /// exists.
    @Test func recordingThatIsOffIsSaid() async throws {
        let folder = try TemporaryDirectory()
        let off = TransactionManager(store: .directory(folder.file("store"))) { $0.recording = .off }
        for manager in [off, .disabled] {
            let page = try await text("/transactions", of: Inspector(manager), status: 404)
            #expect(page.contains("Recording is off and nothing was recorded"))
        }
        #expect(try folder.names().isEmpty)
    }
}
