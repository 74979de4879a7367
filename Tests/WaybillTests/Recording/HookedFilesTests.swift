import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

@testable import Waybill

/// Data that the app's hook takes out is in no file: not in the journal, the WAL or the database.
@Suite(.timeLimit(.minutes(5))) struct HookedFilesTests {
    /// Records every kind of draft, with a unique word in each place.
    private func recordEverything(by tx: TransactionManager) throws {
        let login = tx.begin(Login.self, attributes: ["a": "openedattributeopened"])
        login.log(
            .initiated, error: RecordedError(domain: "Test", code: 1, text: "eventerrorevent"),
            attributes: ["a": "eventattributeevent"])
        login.set("setattributeset", forKey: "a")
        let type = HeaderField(name: "Content-Type", value: "text/plain")
        let exchange = tx.openExchange(
            try ExchangeRequest.correlated(
                "/requestpathrequest?a=requestqueryrequest", [.init(name: "X-A", value: "requestfieldrequest"), type]),
            in: login)
        exchange.sent(Data("sentbodysent".utf8))
        let elsewhere = try #require(URL(string: "https://api.example.com/answerredirectanswer"))
        exchange.redirected(ExchangeResponse(status: 302), to: elsewhere)
        exchange.responded(
            ExchangeResponse(status: 200, headerFields: [.init(name: "X-A", value: "answerfieldanswer"), type]))
        exchange.received(Data("receivedbodyreceived".utf8))
        exchange.finish(error: RecordedError(domain: "Test", code: 1, text: "answererroranswer"))
        login.finish(
            .failed, error: RecordedError(domain: "Test", code: 1, text: "closederrorclosed"),
            attributes: ["a": "closedattributeclosed"])
    }

    private static let words = [
        "opened": ["openedattributeopened"], "event": ["eventerrorevent", "eventattributeevent"],
        "attributesSet": ["setattributeset"],
        "exchangeOpened": ["requestpathrequest", "requestqueryrequest", "requestfieldrequest"],
        "body": ["sentbodysent", "receivedbodyreceived"],
        "exchangeClosed": ["answerredirectanswer", "answerfieldanswer", "answererroranswer"],
        "closed": ["closederrorclosed", "closedattributeclosed"],
    ]

    private static func kind(_ draft: RecordingDraft) -> String {
        switch draft {
        case .opened: "opened"
        case .event: "event"
        case .closed: "closed"
        case .exchangeOpened: "exchangeOpened"
        case .exchangeClosed: "exchangeClosed"
        case .body: "body"
        case .attributesSet: "attributesSet"
        }
    }

    /// Returns the draft with all its text removed or replaced.
    private static func emptied(_ draft: RecordingDraft) -> RecordingDraft {
        switch draft {
        case .opened(var opened):
            opened.attributes = [:]
            return .opened(opened)
        case .event(var event):
            (event.error, event.attributes) = (nil, ["b": "changed"])
            return .event(event)
        case .attributesSet(var set):
            set.attributes = [:]
            return .attributesSet(set)
        case .closed(var closed):
            (closed.error, closed.attributes) = (nil, [:])
            return .closed(closed)
        case .exchangeOpened(var request):
            (request.url, request.headerFields) = ("https://api.example.com/changed", [])
            return .exchangeOpened(request)
        case .exchangeClosed(var response):
            (response.headerFields, response.error, response.redirects) = ([], nil, [])
            return .exchangeClosed(response)
        case .body(var body):
            body.bytes = Array("changed".utf8)
            return .body(body)
        }
    }

    /// Returns the words that another process finds in journal, WAL and database, their places, and the withheld count.
    private func found(_ hook: TransactionManager.Hook?) async throws -> (
        words: Set<String>, places: Set<String>, withheld: Int
    ) {
        let folder = try TemporaryDirectory()
        let options = TransactionManager.Options.hooked(bodies: BodyPolicy(), hook)
        var settings = RecordingSettings(
            store: .directory(folder.file("store")), correlatedHosts: [], options: options)
        // Keeps the facts after the first sync in the journal.
        settings.writesByItself = false
        let tx = TransactionManager(settings: settings, delivery: nil, diagnostics: { _ in })
        try recordEverything(by: tx)
        _ = try await tx.transactions().page()  // bodies have passed the queue where they are redacted
        try await tx.sync()
        try recordEverything(by: tx)
        let words = Self.words.values.joined()
        try Data(words.map { "\($0)\t\($0)\n" }.joined().utf8).write(to: folder.file("secrets"))
        let (output, status) = try await ChildProcess("TestProcess", ["hunt", folder.url.path()]).finished()
        #expect(status == 0)
        let lines = output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        return (
            Set(lines.compactMap(\.first)), Set(lines.compactMap(\.last)),
            withExtendedLifetime(tx) { Int(tx.health.withheld) }
        )
    }

    /// Breaks when the tests that look for words prove nothing, because the files contain none.
    @Test func whatTheHookKeepsIsInTheFiles() async throws {
        let (words, places, withheld) = try await found { $0 }
        #expect(words == Set(Self.words.values.joined()))
        #expect(places.contains { $0.hasPrefix("journal") }, "\(places)")
        #expect(withheld == 0)
    }

    /// Breaks when data that an app takes out is still on the disk of a lost device.
    @Test(arguments: words.keys.sorted()) func whatTheHookChangesIsInNoFile(kind: String) async throws {
        let (words, _, withheld) = try await found { Self.kind($0) == kind ? Self.emptied($0) : $0 }
        #expect(words == Set(Self.words.filter { $0.key != kind }.values.joined()))
        #expect(withheld == 0)
    }

    /// Breaks when data that an app withholds is recorded, or when more than that is missing.
    @Test(arguments: words.keys.sorted()) func whatTheHookWithholdsIsInNoFileAndIsCounted(kind: String) async throws {
        let (words, _, withheld) = try await found { Self.kind($0) == kind ? nil : $0 }
        let (gone, count) =
            switch kind {
            case "opened": (Set(Self.words.keys), 4)  // including its event, its attributes and its exchange
            case "exchangeOpened": (["exchangeOpened", "exchangeClosed", "body"], 1)
            case "body": (["body"], 2)
            default: ([kind], 1)
            }
        #expect(words == Set(Self.words.filter { !gone.contains($0.key) }.values.joined()))
        #expect(withheld == 2 * count, "it was all recorded twice")
    }
}
