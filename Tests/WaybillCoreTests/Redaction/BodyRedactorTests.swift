import Testing

@testable import WaybillCore

/// Bodies lose their secrets, whatever their content and their pieces.
@Suite(.timeLimit(.minutes(5))) struct BodyRedactorTests {
    private let redactor = Redactor()
    static let token = RedactorTests.token

    private func kept(_ body: String, _ type: String?) -> String {
        String(decoding: redactor.body(Array(body.utf8), contentType: type), as: UTF8.self)
    }

    static let json: [(String, String)] = [
        (#"{"user":"bob","password":"hunter2","age":3}"#, #"{"user":"bob","password":"[redacted]","age":3}"#),
        (#"{"a":{"b":[{"refresh_token":"x"}]}}"#, #"{"a":{"b":[{"refresh_token":"[redacted]"}]}}"#),
        (#"{"\u0070assw\u006Frd":"x", "b" : 1 }"#, #"{"\u0070assw\u006Frd":"[redacted]", "b" : 1 }"#),
        (#"{"tokens":["a",{"b":"]"}],"c":1}"#, #"{"tokens":"[redacted]","c":1}"#),
        (#"{"credentials":{"a":"}\"","b":{}},"c":1}"#, #"{"credentials":"[redacted]","c":1}"#),
        (#"{"pin_secret": 123, "a": true}"#, #"{"pin_secret": "[redacted]", "a": true}"#),
        (#"{"secret":7,"jwt":-1.5}"#, #"{"secret":"[redacted]","jwt":"[redacted]"}"#),
        (#"{"note":"sent Bearer abc.def","n":[1,2]}"#, #"{"note":"sent Bearer [redacted]","n":[1,2]}"#),
        (#"["\#(token)","4111 1111 1111 1111",4111111111111111]"#, #"["[redacted]","[redacted]","[redacted]"]"#),
        (#"{"\#(token)":1}"#, #"{"[redacted]":1}"#),
        (
            #"{"inner":"{\"password\":\"x\",\"b\":\"\\u00e9\"}"}"#,
            #"{"inner":"{\"password\":\"[redacted]\",\"b\":\"\\u00e9\"}"}"#
        ),
        (
            #"{"a":"{\"b\":\"{\\\"\\\\u0070assword\\\":\\\"x\\\"}\"}"}"#,
            #"{"a":"{\"b\":\"{\\\"\\\\u0070assword\\\":\\\"[redacted]\\\"}\"}"}"#
        ),
        (#"{"url":"https://u:p@h/?token=x&a=1"}"#, #"{"url":"https://[redacted]@h/?token=[redacted]&a=1"}"#),
        (
            #"[{"name":"password","value":"x"},{"name":"city","value":"y"}]"#,
            #"[{"name":"password","value":"[redacted]"},{"name":"city","value":"y"}]"#
        ),
        (#"[["Authorization","x y"],["Accept","*/*"]]"#, #"[["Authorization","[redacted]"],["Accept","*/*"]]"#),
        // Cut off
        (#"{"a":1,"password":"hunt"#, #"{"a":1,"password":"[redacted]""#),
        (#"{"a":"Bearer xy"#, #"{"a":"Bearer [redacted]"#),
        (#"{"tokens":{"a":["b""#, #"{"tokens":"[redacted]""#), (#"{"a":12"#, #"{"a":12"#),
        (#"{"card":4111111111111111"#, #"{"card":"[redacted]""#),
        // Several values
        ("{\"token\":1}\n{\"token\":2}\n", "{\"token\":\"[redacted]\"}\n{\"token\":\"[redacted]\"}\n"),
        // No JSON after all
        (#"{"a":1} password=x"#, #"{"a":1} password=[redacted]"#),
        (#"{password: 'x', b: 1}"#, #"{password: '[redacted]', b: 1}"#),
        (#"{"password" = "x"}"#, #"{"password" [redacted]"#), ("error: password=x", "error: password=[redacted]"),
        ("[1, 4111 1111 1111 1111]", "[1, [redacted]]"),
        (")]}',\n{\"token\":\"x\"}", ")]}',\n{\"token\":\"[redacted]\"}"),
        ("\u{FEFF}{\"token\":1}", "\u{FEFF}{\"token\":\"[redacted]\"}"),
    ]

    @Test(arguments: json) func jsonLosesWhatStandsUnderTheNameOfASecret(body: String, expected: String) {
        #expect(kept(body, "application/json") == expected)
        #expect(kept(expected, "application/json") == expected, "once is enough")
    }

    @Test(arguments: [
        #"{"a":[1,-2.5e+3,true,null,"é\n\ud83d\ude00"],"b":{},"c":[]}"#, " [ ] ", #""text""#, "42",
        #"{"next":"/a?page=2","t":"10:30"}"#,
        #"{"name":"The token that was lost","value":"x"}"#,
    ]) func harmlessJSONStaysAsItIs(body: String) {
        #expect(kept(body, "application/vnd.x+json; charset=UTF-8") == body)
    }

    @Test(arguments: [
        ("a=1&password=x%20y&b=2", "a=1&password=[redacted]&b=2"), ("p%61ssword=x", "p%61ssword=[redacted]"),
        ("q=Bearer+abc&user%5Btoken%5D=1&", "q=[redacted]&user%5Btoken%5D=[redacted]&"),
        ("j=%7B%22password%22%3A%22x%22%7D", "j=[redacted]"),
        ("card=4111-1111-1111-1111", "card=[redacted]"), (#"{"password":"x"}"#, #"{"password":"[redacted]"}"#),
    ]) func aFormLosesItsSecretMembers(body: String, expected: String) {
        #expect(kept(body, "application/x-www-form-urlencoded") == expected)
        #expect(kept(expected, "application/x-www-form-urlencoded") == expected)
    }

    static let markup: [(String, String)] = [
        ("<a><password>hunter2</password><b>1</b></a>", "<a><password>[redacted]</password><b>1</b></a>"),
        (
            "<s:Envelope><wsse:Password Type=\"x\">p</wsse:Password></s:Envelope>",
            "<s:Envelope><wsse:Password [redacted]>[redacted]</wsse:Password></s:Envelope>"
        ),
        ("<token><token>a</token>b</token>c<x/>", "<token>[redacted]</token>c<x/>"),
        (
            "<dict><key>password</key>\n<string>x</string><key>a</key><string>y</string></dict>",
            "<dict><key>password</key>\n<string>[redacted]</string><key>a</key><string>y</string></dict>"
        ),
        ("<input type=\"hidden\" name='csrf_token' value=\"x\"><p>ok</p>", "<input [redacted]><p>ok</p>"),
        ("<property name=\"db.password\">x</property>y", "<property [redacted]>[redacted]</property>y"),
        (
            "<a href=\"https://u:p@h/?a=1&amp;token=x\">Bearer abc</a>",
            "<a href=\"https://[redacted]@h/?a=1&amp;token=[redacted]\">Bearer [redacted]</a>"
        ),
        ("<a note=\"x > y\" api-key=\"z\"/>", "<a note=\"x > y\" api-key=\"[redacted]\"/>"),
        (
            "<a><![CDATA[{\"token\":\"<x>\"}]]><!-- password=x --></a>",
            "<a><![CDATA[{\"token\":\"[redacted]\"}]]><!-- password=[redacted] --></a>"
        ),
        (
            "<script>if (a < b && c > d) { token = 'x' }</script>",
            "<script>if (a < b && c > d) { token = '[redacted]' }</script>"
        ),
        ("<a>Bearer&#32;abc</a><b>1 &lt; 2</b>", "<a>[redacted]</a><b>1 &lt; 2</b>"),
        // Cut off
        ("<a><password>hun", "<a><password>[redacted]"), ("<a>b</a><token value=\"x", "<a>b</a>"),
    ]

    @Test(arguments: markup) func markupLosesTheContentOfSecretElements(body: String, expected: String) {
        #expect(kept(body, "application/xml") == expected)
        #expect(kept(body, "text/plain") == expected, "what it looks like counts")
        #expect(kept(expected, "text/html; charset=\"utf-8\"") == expected)
    }

    @Test func theSecretPartsOfAMultipartBodyGo() {
        func part(_ head: String, _ content: String) -> String { "--b 1\r\n\(head)\r\n\r\n\(content)\r\n" }
        let form = "Content-Disposition: form-data; name="
        let body =
            "nobody's\r\n" + part("\(form)\"user\"", "bob\r\n--b\r\npassword=x")
            + part("\(form)\"pass%77ord\"", "hunter\r\n2")
            + part("\(form)j\r\nContent-Type: application/json", #"{"token":"x"}"#)
            + part("\(form)\"file\"; filename=\"a.png\"\r\nContent-Type: image/png", "\u{1}\u{2}") + "--b 1--\r\nrest"
        let expected =
            part("\(form)\"user\"", "bob\r\n--b\r\npassword=[redacted]") + part("\(form)\"pass%77ord\"", "[redacted]")
            + part("\(form)j\r\nContent-Type: application/json", #"{"token":"[redacted]"}"#)
            + part("\(form)\"file\"; filename=\"a.png\"\r\nContent-Type: image/png", "[redacted]") + "--b 1--\r\n"
        #expect(kept(body, "multipart/form-data; boundary=\"b 1\"") == expected)
        #expect(kept(expected, "multipart/form-data; boundary=\"b 1\"") == expected)
        #expect(kept(String(body.dropLast(60)), "multipart/form-data; boundary=\"b 1\"").contains("hunter") == false)
    }

    /// A body must be redacted like a whole text.
    @Test(arguments: RedactorTests.corpus) func aTextIsRedactedAsOneThatIsThereWhole(text: String, expected: String) {
        guard !text.hasPrefix("{"), !text.hasPrefix("[") else { return }
        let lines = "first\n\(text)\nlast"
        #expect(kept(lines, "text/plain") == redactor.text(lines))
    }

    @Test func aSecretInQuotationMarksGoesOnOverTheEndsOfLines() {
        #expect(
            kept("a\npassword=\"one\ntwo\\\" three\nfour\" five\n", "text/plain") == "a\npassword=\"[redacted]\" five\n"
        )
        #expect(kept("a \"tokens\": [\n  a,\n  b\n]\n", "text/plain") == "a \"tokens\": [redacted]")
    }

    @Test(arguments: [
        "image/png", "application/octet-stream", "text/plain; charset=utf-16", "application/zip", "font/woff2",
    ])
    func whatIsNoTextIsNotKept(type: String) {
        #expect(kept("Bearer abc", type) == "[redacted]")
        #expect(
            redactor.body(Array("a Bearer abc".utf8), contentType: type, keepsBinary: true)
                == Array("a Bearer [redacted]".utf8))
    }

    @Test func whatIsUTF16AllTheSameIsNotKept() {
        for bytes in [[0xFF, 0xFE, 0x7B, 0x00], [0x7B, 0x00, 0x22, 0x00], [0x00, 0x7B, 0x00, 0x22]] as [[UInt8]] {
            #expect(redactor.body(bytes, contentType: "application/json") == Array("[redacted]".utf8))
        }
    }

    @Test(arguments: ["application/json", "text/plain", "text/html", "application/x-www-form-urlencoded"])
    func whatIsTooLongToBeLookedAtTogetherIsHidden(type: String) {
        let long = String(repeating: "x", count: BodyRedactor.unitLimit + 1)
        let bodies = [
            "application/json": "[\"\(long)\",1]", "text/plain": "a\n\(long)\nb\n", "text/html": "<a>\(long)</a>b",
        ]
        let expected = [
            "application/json": "[\"[redacted]\",1]", "text/plain": "a\n[redacted]\nb\n",
            "text/html": "<a>[redacted]</a>b",
        ]
        #expect(kept(bodies[type] ?? "a=\(long)&b=1", type) == expected[type] ?? "[redacted]&b=1")
    }

    /// A secret that is cut off at the limit has lost its shape.
    @Test(arguments: [
        (#"{"a":"b","c":"4111 1111 11"#, "application/json", #"{"a":"b","c":"#),
        ("a b 4111 1111 111", "text/plain", "a b"),
        ("see https://user:pass", "text/plain", "see"),
        ("a=1&c=4111111111", "application/x-www-form-urlencoded", "a=1&"),
        ("<a>b eyJhbGciOiJI", "text/html", "<a>b"), ("line\nsent Bearer ab", "text/plain", "line\nsent Bearer"),
    ]) func whatWasCutOffIsNotKept(body: String, type: String, expected: String) {
        var reader = BodyRedactor(contentType: type, redactor: redactor)
        let kept = reader.redact(Array(body.utf8)) + reader.finish(isWhole: false)
        #expect(String(decoding: kept, as: UTF8.self) == expected)
    }

    @Test func ownNamesCount() {
        let redactor = Redactor(additionalNames: ["customer-number"])
        let kept = redactor.body(
            Array(#"{"customerNumber":7,"b":"customer_number=8"}"#.utf8), contentType: "application/json")
        #expect(
            String(decoding: kept, as: UTF8.self)
                == #"{"customerNumber":"[redacted]","b":"customer_number=[redacted]"}"#)
    }

    /// Binary bytes stay, because redaction would break a picture. An address within them is still redacted.
    @Test func bytesThatAreNoTextAreNoAddress() {
        let bytes: [UInt8] = [0x2C, 0xD2, 0x40, 0x86, 0x6A, 0x2E, 0x41, 0x2D, 0x48, 0xFE]
        let type = "application/octet-stream"
        #expect(redactor.body(bytes, contentType: type, keepsBinary: true) == bytes)
        let address = Array("\u{1}joe@example.com".utf8)
        let kept = redactor.body(bytes + address + [0xFF], contentType: type, keepsBinary: true)
        #expect(!String(decoding: kept, as: UTF8.self).contains("joe"))
    }

    // MARK: Anything

    /// Random bodies of significant pieces: the secret never leaks, and cutting makes no difference.
    @Test func noPlantedSecretComesOutWhateverStandsAroundIt() throws {
        var random = SeededGenerator(seed: 11)
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u00", "token", "\"password\":", "1", "true", " ", "\n", "\r\n",
            "<", ">", "</",
            "/>",
            "<password>", "</password>", "<key>token</key>", "<!--", "-->", "<![CDATA[", "]]>", "name=\"token\"", "&",
            "=", "%", "%4", "'",
            "--B",
            "--B--", "Content-Disposition: form-data; name=x", "Content-Type: text/html", "é", "&#1", ";", "Bearer ",
            "eyJ", "4111 ", "\0",
            "tokens:[", "password=\"", "\u{FEFF}",
        ].map { Array($0.utf8) }
        for _ in 0..<1_000 {
            var bytes = (0..<3).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            for _ in 0..<Int.random(in: 0...30, using: &random) { bytes += pieces.randomElement(using: &random) ?? [] }
            try BodyBytes.check(bytes)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 5, 6] as [UInt8]) func piecesMakeNoDifference(type: UInt8) throws {
        let bodies =
            (Self.json.map(\.0) + Self.markup.map(\.0) + RedactorTests.corpus.map(\.0)).map { Array($0.utf8) }
        for body in bodies {
            for size in [0, 1, 2, 6] as [UInt8] { try BodyBytes.check([type, size, 255] + body) }
        }
    }

    /// Each body is long, and would take minutes if reading one position meant reading the whole rest.
    @Test(
        arguments: [
            "{\"a\":", "[", "\"", "\\", "<a ", "<", "=", "<!--", "&", "--B\r\n", "token:[", "eyJ", "\"password\":\"",
            "41 ",
            "{\"a\":\"{\\\"",
        ])
    func longBodiesTakeTimeInProportion(piece: String) throws {
        let body = Array(String(repeating: piece, count: 20_000 / piece.utf8.count).utf8)
        for type in [
            "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=B", "text/html",
            "text/plain",
        ] {
            #expect(
                BodyBytes.inPieces(body, type, size: 997) == redactor.body(body, contentType: type, keepsBinary: true))
        }
    }

    /// Breaks when a body doesn't show whether it has a token, or how many.
    @Test func countsAndBooleansUnderNamesOfSecretsStay() {
        let body =
            #"{"hasPassword":true,"tokenCount":12,"tokens":3,"token":null,"token_type":"opaque","usage":{"total_tokens":9}}"#
        #expect(Redactor().body(Array(body.utf8), contentType: "application/json") == Array(body.utf8))
        let hidden = #"{"tokens":{"a":"b"},"tokenCount":["x"],"pin":1234,"password":"true story"}"#
        #expect(
            String(decoding: Redactor().body(Array(hidden.utf8), contentType: "application/json"), as: UTF8.self)
                == #"{"tokens":"[redacted]","tokenCount":"[redacted]","pin":"[redacted]","password":"[redacted]"}"#)
    }
}
