#if Collector
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillCollector
import WaybillCore
import WaybillInspector
import WaybillQueries

/// Bodies in the store of the device that recorded them.
@Suite(.timeLimit(.minutes(5))) struct InspectorBodyTests {
    private static let png: [UInt8] =
        [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0x40, 0, 0, 0,
            0xC8, 8, 6, 0, 0, 0,
        ]

    private let folder: TemporaryDirectory
    private let transactions: TransactionManager

    init() throws {
        folder = try TemporaryDirectory()
        transactions = TransactionManager(store: .directory(folder.url)) { options in
            options.network.bodies = BodyPolicy(contentTypes: [
                .glob("text/*"), .glob("image/*"), .glob("application/*"),
            ])
        }
    }

    /// Records an exchange and returns the path of its page.
    private func record(_ bytes: [UInt8], _ type: String) async throws -> String {
        let url = try #require(URL(string: "https://api.example.com/file"))
        let exchange = transactions.openExchange(ExchangeRequest(url: url))
        exchange.responded(
            ExchangeResponse(status: 200, headerFields: [HeaderField(name: "Content-Type", value: type)]))
        exchange.received(Data(bytes))
        exchange.finish()
        let id = try #require(try await transactions.exchanges().rows.first?.id)
        #expect(try await transactions.body(of: id, .response) != nil)
        return "/network/\(id)"
    }

    private func run(_ body: (CollectorServer) async throws -> Void) async throws {
        try await CollectorServer.run(try Inspector(file: folder.url).router(), body)
    }

    @Test func aPictureIsServedAsOneAndCanDoNothing() async throws {
        let page = try await record(Self.png, "image/png")
        try await run { server in
            #expect(try await server.get(page).text.contains("width=320 height=200"))
            let image = try await server.get("\(page)/response-body")
            #expect(image.status == 200 && Array(image.body) == Self.png)
            #expect(image.header("Content-Type") == "image/png")
            #expect(image.header("X-Content-Type-Options") == "nosniff")
            #expect(image.header("Content-Disposition")?.hasPrefix("inline; filename=\"waybill-") == true)
            #expect(image.header("Content-Security-Policy")?.hasPrefix("default-src 'none'; sandbox;") == true)
        }
    }

    @Test(arguments: [
        ("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>", "image/svg+xml"),
        ("<script>alert(1)</script>", "text/html"),
        ("<script>alert(1)</script>", "image/png"), ("GIF89", "image/gif"),
    ])
    func whatBrowsersCouldRunIsAFileOfBytes(text: String, type: String) async throws {
        let page = try await record(Array(text.utf8), type)
        try await run { server in
            let body = try await server.get("\(page)/response-body")
            #expect(body.status == 200 && body.text == text)
            #expect(body.header("Content-Type") == "application/octet-stream")
            #expect(body.header("X-Content-Type-Options") == "nosniff")
            #expect(body.header("Content-Disposition")?.hasPrefix("attachment; ") == true)
            #expect(try await !server.get(page).text.contains("<img"))
        }
    }

    /// Breaks when a rule added after the recording does not apply to pages and downloads.
    @Test func whatIsShownAndTakenAwayIsRedactedOnceMore() async throws {
        let page = try await record(Array(#"{"user":"jo","session_token":"s3cr3t-s3cr3t"}"#.utf8), "application/json")
        try await run { server in
            for path in [page, "\(page)/response-body", "\(page)/har", "\(page)/json", "\(page)/text", "\(page)/curl"] {
                let answer = try await server.get(path)
                #expect(answer.status == 200, "\(path)")
                #expect(!answer.text.contains("s3cr3t"), "\(path)")
                #expect(path.hasSuffix("curl") || answer.text.contains("[redacted]"), "\(path)")
            }
        }
    }

    @Test func whatWasNotKeptIsNotThere() async throws {
        let page = try await record(Array("x".utf8), "text/plain")
        try await run { server in
            for path in ["\(page)/request-body", "\(page)/zip", "/network/x/response-body"] {
                let answer = try await server.get(path)
                #expect(answer.status == 404, "\(path)")
                #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
            }
        }
    }

    @Test func theListFindsWordsInBodiesAndMarksMistakes() async throws {
        let page = try await record(Array(#"{"basket":["red shoes"]}"#.utf8), "application/json")
        try await run { server in
            #expect(try await server.get("/network?filter=SHOES+host%3Aexample.com").text.contains(page.dropFirst()))
            let none = try await server.get("/network?filter=-shoes")
            #expect(none.status == 200 && none.text.contains("No requests"))
            let mistaken = try await server.get("/network?filter=shoes%20state:faild")
            #expect(mistaken.status == 400)
            #expect(
                mistaken.text.contains(
                    "Character 13 of the filter: “faild” is no state of an exchange; did you mean “failed”?"))
        }
    }
}
#endif
