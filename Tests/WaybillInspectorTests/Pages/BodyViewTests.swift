import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillInspector
@testable import WaybillQueries

/// Bodies on the page of their exchange.
@Suite(.timeLimit(.minutes(5))) struct BodyViewTests {
    private static let png: [UInt8] =
        [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0x40, 0, 0, 0,
            0xC8, 8, 6, 0, 0, 0,
        ]

    private func html(_ body: ExchangeBody?, byteCount: Int64? = nil) -> String {
        BodyView(body: body, byteCount: byteCount, file: .responseBody, address: "./x:1/response-body").html.text
    }

    private func text(_ text: String, _ type: String?) -> String { html(.whole(Array(text.utf8), type)) }

    // MARK: Content types

    @Test(
        arguments: [
            (ImageFormat.png, png, 320, 200), (.gif, Array("GIF89a".utf8) + [0x40, 1, 0xC8, 0], 320, 200),
            (
                .jpeg,
                [
                    0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFF, 0xC4, 0, 3, 9, 0xFF, 0xC2, 0, 11, 8, 0, 0xC8, 1,
                    0x40, 3,
                ], 320, 200
            ),
            (
                .webp, Array("RIFF0000WEBPVP8 0000".utf8) + [0, 0, 0, 0x9D, 1, 0x2A, 0x40, 0x41, 0xC8, 0x40], 320, 200
            ),
            (.webp, Array("RIFF0000WEBPVP8L0000".utf8) + [0x2F, 0x3F, 0xC1, 0x31, 0], 320, 200),
            (.webp, Array("RIFF0000WEBPVP8X0000".utf8) + [0, 0, 0, 0, 0x3F, 1, 0, 0xC7, 0, 0], 320, 200),
        ] as [(ImageFormat, [UInt8], Int, Int)])
    func aPictureIsToldByItsFirstBytes(format: ImageFormat, bytes: [UInt8], width: Int, height: Int) {
        #expect(ImageFormat(bytes) == format)
        #expect(format.size(of: bytes) == ImageSize(width, height))
        // A truncated image must not be read beyond its end.
        for count in 0..<bytes.count {
            _ = ImageFormat(Array(bytes.prefix(count)))?.size(of: Array(bytes.prefix(count)))
        }
        #expect(
            html(.whole(bytes, "text/html")).contains("<img src=\"./x:1/response-body\""),
            "The name that it was sent under counts for nothing.")
    }

    @Test func aPictureThatWouldTakeAllMemoryIsShownAsBytes() {
        var bytes = Self.png
        bytes.replaceSubrange(16..<24, with: [0, 1, 0, 0, 0, 1, 0, 0])
        #expect(!html(.whole(bytes, "image/png")).contains("<img"))
        bytes.replaceSubrange(16..<20, with: [0, 0, 0, 0])
        #expect(!html(.whole(bytes, "image/png")).contains("<img"))
    }

    @Test(arguments: [
        ("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>", "image/svg+xml"),
        ("<!DOCTYPE html><script>alert(1)</script>", "text/html"), ("<script>alert(1)</script>", "image/png"),
        ("</pre></details><img src=x onerror=alert(1)>", "application/javascript"),
    ])
    func whatCouldRunIsText(source: String, type: String) {
        let page = text(source, type)
        #expect(page.contains("<pre id=\"response-body-source\""))
        #expect(page.matches(of: #/<(script|svg|img)/#).isEmpty)
        #expect(page.contains("text, UTF-8"))
    }

    @Test func jsonUnfoldsAndStandsThereAsItWasSent() {
        let page = text("\n {\"a\":[1,true],\"b\":\"<i>\"}", nil)
        #expect(page.contains("<div class=json>"))
        #expect(page.contains("<b>&quot;a&quot;</b>: ["))
        #expect(page.contains("<var>1</var>,"))
        #expect(page.contains("<i>&quot;&lt;i&gt;&quot;</i>"))
        #expect(page.contains("<pre id=\"response-body-source\">\n {&quot;a&quot;:[1,true]"))
    }

    @Test func aFormIsATable() {
        let page = text("name=J%C3%BCrgen+K&empty=&flag&a=b%3Dc", "application/x-www-form-urlencoded; charset=UTF-8")
        #expect(
            page.contains(
                "<tr><th scope=row>name<td>Jürgen K<tr><th scope=row>empty<td><tr><th scope=row>flag<td><tr><th scope=row>a<td>b=c"
            ))
        #expect(
            text("a=%C3", "application/x-www-form-urlencoded").contains("text, UTF-8"),
            "What cannot be decoded is a text.")
    }

    @Test func textIsReadInTheCharacterSetThatItSays() {
        #expect(html(.whole([0x4A, 0xFC, 0x72, 0x67], "text/plain; charset=\"ISO-8859-1\"")).contains(">Jürg</pre>"))
        #expect(html(.whole([0xFE, 0xFF, 0, 0x4A, 0, 0xFC], "text/plain; charset=utf-16")).contains(">Jü</pre>"))
        #expect(html(.whole([0x4A, 0xFC], "text/plain")).contains("class=hex"))
    }

    @Test func aTextThatWasCutWithinACharacterIsStillOne() {
        let body = ExchangeBody(
            contentType: "text/plain", bytes: Array("Jü".utf8.dropLast()), byteCount: 90, omission: .limit)
        #expect(html(body).contains(">J</pre>"))
        #expect(html(body).contains("The first 2 B of 90 B were kept."))
    }

    // MARK: Length

    @Test func bytesStandWhereTheyAreBesideTheirText() {
        #expect(
            HexDump.text(Array("0123456789abcdef".utf8) + [0, 0xFF, 0x41]) == """
                00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|
                00000010  00 ff 41                                          |..A|

                """)
        #expect(HexDump.text([]) == "")
    }

    @Test func ofMuchTheBeginningIsShownAndAllCanBeTakenAway() {
        let long = text(String(repeating: "ü", count: BodyView.textLimit), "text/plain")
        #expect(long.utf8.count < BodyView.textLimit + 2_000)
        #expect(long.contains("The first 131.1 kB of 262.1 kB are shown; the download has all."))
        #expect(long.contains("download href=\"./x:1/response-body\""))
        let bytes = html(.whole([UInt8](repeating: 0, count: 5_000)))
        #expect(bytes.matches(of: #/\|\n/#).count == BodyView.hexLimit / 16)
        let json = text(
            "[" + Array(repeating: "\"0123456789\"", count: 20_000).joined(separator: ",") + "]", "application/json")
        #expect(!json.contains("class=json") && json.contains("The first 131.1 kB"))
    }

    @Test func whatIsMissingIsToldWithTheReason() {
        #expect(html(nil) == "")
        #expect(html(nil, byteCount: 0).contains("There was no body."))
        #expect(html(nil, byteCount: 58).contains("The body of 58 B is not here. Bodies stay on the device"))
        #expect(html(.whole([], "text/plain")).contains("The body was empty."))
        for (omission, words) in [
            (ExchangeBody.Omission.type, "it is no text"), (.encoding, "it was compressed"),
            (.limit, "Nothing of 7 B was kept."),
        ] {
            #expect(html(ExchangeBody(contentType: nil, bytes: [], byteCount: 7, omission: omission)).contains(words))
        }
        #expect(
            text("{\"token\":\"[redacted]\",\"pin\":\"[redacted]\"}", nil).contains("2 values replaced by [redacted]"))
    }

    // MARK: The page

    private func page(_ change: (inout TransactionRecord.Exchange) -> Void = { _ in }) -> String {
        let frame = InspectorFrame(store: "waybill", isLoggedIn: false, timeZone: .gmt)
        let bodies = ExchangeBodies(request: .whole(Array(#"{"a":1}"#.utf8), "application/json"))
        return ExchangePage(
            record: unredacted(SampleExchange.record(.completed, change)), bodies: unredacted(bodies),
            transaction: unredacted(nil), frame: frame
        ).html.text
    }

    @Test func headerFieldsPhasesAndTheCommandAreOnThePage() {
        let page = page {
            $0.requestHeaderFields = [
                HeaderField(name: "X-A", value: "1"), HeaderField(name: "X-A", value: "2"),
            ]
        }
        #expect(page.contains("<tr><th scope=row>X-A<td>1<tr><th scope=row>X-A<td>2"))
        #expect(
            page.contains("<tr><th scope=row>TLS<td><svg aria-hidden=true><rect x=9.9% width=20% /></svg><td>20.0 ms"))
        #expect(page.contains("<pre id=curl>curl 'https://api.example.com/login?page=1&amp;q=a%20b'"))
        #expect(page.contains("download href=\"./\(SampleExchange.source):3/har\""))
        #expect(!page.contains("id=redirects"))
    }

    @Test func redirectsAreAChainFromTheFirstAddressToTheEnd() {
        let page = page {
            $0.transfer.redirects = [
                Fact.Redirect(status: 302, url: "https://b.example/", atMicroseconds: SampleExchange.opened + 40_000),
                Fact.Redirect(status: 307, url: "https://c.example/", atMicroseconds: SampleExchange.opened + 60_000),
            ]
        }
        let steps = page.matches(of: #/<li><span>([^<]+)<\/span> <em[^>]*>(\d+)<\/em> <data>after ([^<]+)</#).map {
            "\($0.1) \($0.2) \($0.3)"
        }
        #expect(
            steps == [
                "https://api.example.com/login?page=1&amp;q=a%20b 302 40.0 ms", "https://b.example/ 307 60.0 ms",
                "https://c.example/ 200 100.0 ms",
            ])
    }

    @Test func aTermIsSwitchedOnAndOffInTheFilter() {
        let rows = unredacted(RecordPage(rows: [SampleExchange.record(), SampleExchange.record()], next: nil))
        let frame = InspectorFrame(store: "waybill", isLoggedIn: false, timeZone: .gmt)
        func terms(_ items: [(name: String, value: String)]) -> String {
            ExchangesPage(page: rows, names: unredacted([]), frame: frame.at(items)).terms.text
        }
        let none = terms([])
        #expect(none.contains("href=\"?filter=host%3Aapi.example.com\">host:api.example.com</a>"))
        let some = terms([("filter", "red took>1s host:b.example")])
        #expect(some.contains("href=\"?filter=red%20host%3Ab.example\" aria-current=true>took&gt;1s</a>"))
        #expect(
            some.contains("aria-current=true>host:b.example</a>"),
            "It is on no row, and can be switched off all the same.")
    }
}
