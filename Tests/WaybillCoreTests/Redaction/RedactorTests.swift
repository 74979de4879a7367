import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct RedactorTests {
    let redactor = Redactor()
    /// The example of RFC 7519.
    static let token =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODB9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    static let corpus: [(String, String)] = [
        // Credentials after their scheme
        ("Bearer abc", "Bearer [redacted]"), ("bearer   mF_9.B5f-4.1JqM==, next", "bearer   [redacted], next"),
        ("BEARER x", "BEARER [redacted]"),
        ("sent Bearer a/b+c~d twice", "sent Bearer [redacted] twice"),
        ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic [redacted]"),
        // JSON Web Tokens
        (token, "[redacted]"), ("jwt \(token)!", "jwt [redacted]!"), ("x-\(token)", "x-[redacted]"),
        ("eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", "[redacted]"),
        ("cut off: eyJhbGciOiJub25lIn0.eyJhIj", "cut off: [redacted]"), ("eyJhbGci.a.b.c.d end", "[redacted] end"),
        // Card numbers
        ("4111111111111111", "[redacted]"), ("card 4111 1111 1111 1111 ok", "card [redacted] ok"),
        ("5500-0000-0000-0004", "[redacted]"),
        ("(378282246310005)", "([redacted])"), ("6304000000000000 and 4222222222222", "[redacted] and [redacted]"),
        ("4111 1111 1111 1111 737", "[redacted] 737"), ("12 4111111111111111", "12 [redacted]"),
        ("6250941006528599.", "[redacted]."),
        // Name and value
        ("password=hunter2", "password=[redacted]"), ("user=bob&passwd=x y", "user=bob&passwd=[redacted] y"),
        ("api_key = 'a b' ok", "api_key = '[redacted]' ok"),
        (#"{"password":"a\"b","user":"bob"}"#, #"{"password":"[redacted]","user":"bob"}"#),
        (#"{"pin_secret": 123, "a": 1}"#, #"{"pin_secret": "[redacted]", "a": 1}"#),
        (#"{"tokens":["a","b"]}"#, #"{"tokens":"[redacted]"}"#),
        (#"{"credentials":{"a":"b"},"c":1}"#, #"{"credentials":"[redacted]","c":1}"#),
        (#"{"value":"a","name":"password"}"#, #"{"value":"[redacted]","name":"password"}"#),
        (#"a {"tokens":["a","b"]}"#, #"a {"tokens":[redacted]"#),
        (#""{\"password\":\"a\",\"user\":\"bob\"}""#, #""{\"password\":\"[redacted]\",\"user\":\"bob\"}""#),
        ("Authorization: Digest a=\"b\", c=d\r\nAccept: */*", "Authorization: [redacted]\r\nAccept: */*"),
        ("Set-Cookie: a=b; Path=/", "Set-Cookie: [redacted]"),
        ("token=Bearer abc def", "token=[redacted] def"), ("API key: abc", "API key: [redacted]"),
        ("X-Auth-Token:abc", "X-Auth-Token:[redacted]"),
        (#"Login(user: "bob", password: "x, y")"#, #"Login(user: "bob", password: "[redacted]")"#),
        ("user[password]=x", "user[password]=[redacted]"),
        ("refreshToken=abc; clientSecret=def", "refreshToken=[redacted]; clientSecret=[redacted]"),
        // URLs
        ("GET https://user:pw@example.com/a?b=c", "GET https://[redacted]@example.com/a?b=c"),
        ("see https://a@b@c/x", "see https://[redacted]@c/x"),
        (
            "https://a/b?access_token=abc&x=1#id_token=def",
            "https://a/b?access_token=[redacted]&x=1#id_token=[redacted]"
        ),
        ("https://a/?next=%2Fb%3Ftoken%3Dabc&x=1", "https://a/?[redacted]&x=1"), ("auth%3DBearer%20abc", "[redacted]"),
    ]

    @Test(arguments: corpus) func secretsInATextAreReplaced(text: String, expected: String) {
        #expect(redactor.text(text) == expected)
    }

    @Test(arguments: corpus) func redactingAgainChangesNothing(text: String, expected: String) {
        let once = redactor.text(text)
        #expect(redactor.text(once) == once)
    }

    @Test(arguments: [
        "", "Hello, world.", "The request timed out.", "basic plan", "Basic auth failed", "the bearer", "forbearer x",
        "eyJ", "eyJ.x",
        "eyewitness.account.of",
        "4111111111111112", "411111111111", "41111111111111111111", "a4111111111111111", "4111111111111111b",
        "4111  1111  1111  1111",
        "1732182456123456",
        "0.4111111111111111", "2025-11-21 10:11:43", "http://example.com:8080/a:b", "key: value", "a=b&c=d", "100%",
        "ключ = значение",
        "01890a5d-ac96-774b-bcce-b302099a8057", "[redacted]", "😀=👍", "=", ":", "://", "=\"", "%",
    ]) func harmlessTextsStayAsTheyAre(text: String) { #expect(redactor.text(text) == text) }

    @Test(arguments: [
        "Authorization", "proxy-authorization", "COOKIE", "Set-Cookie", "X-Api-Key", "apiKey", "api_key",
        "access_token", "refreshToken",
        "X-CSRF-Token",
        "password", "newPassword", "PASSWD", "passphrase", "client_secret", "AWS.Secret.Key", "credentials",
        "x-amz-security-token",
        "pass-word", "Aws-Access-Key", "accesskey", "private_key", "privateKeyPem", "session.id", "JSESSIONID",
        "sessionId", "passcode",
        "db-pwd",
        "id_jwt", "source_proof", "installation_proof",
    ]) func namesOfSecretsHideTheirValues(name: String) {
        #expect(redactor.value("x", named: name) == "[redacted]")
        #expect(redactor.attributes([name: 5]).0 == [name: "[redacted]"])
        #expect(
            redactor.headerFields([HeaderField(name: name, value: "x")]) == [
                HeaderField(name: name, value: "[redacted]")
            ])
    }

    @Test(arguments: [
        "Content-Type", "Accept", "variant", "author", "keyboard", "passenger", "", "tok-e", "Waybill-Transaction",
    ])
    func otherNamesDoNot(name: String) { #expect(redactor.value("x", named: name) == "x") }

    /// Breaks when an app can't show the codes of its orders without showing authorization codes.
    @Test func namesCanBeMadeVisible() {
        let redactor = Redactor(visibleNames: ["code", "X-Session_Id"])
        #expect(redactor.value("AB-12-x9", named: "Code") == "AB-12-x9")
        #expect(redactor.value("AB-12-x9", named: "xSessionId") == "AB-12-x9")
        #expect(redactor.attributes(["code": 123_456]).0 == ["code": 123_456])
        #expect(redactor.form("code=AB12x9&auth_code=a") == "code=AB12x9&auth_code=[redacted]")
        #expect(redactor.text("user=1 code=AB12x9 pin=5") == "user=1 code=AB12x9 pin=[redacted]")
        #expect(redactor.wholeURL("https://h/code/AB12x9/token/AB12x9") == "https://h/code/AB12x9/token/[redacted]")
        let body = #"{"code":"AB12x9","session":"x"}"#
        #expect(
            redactor.body(Array(body.utf8), contentType: "application/json")
                == Array(#"{"code":"AB12x9","session":"[redacted]"}"#.utf8))
        #expect(redactor.value(Self.token, named: "code") == "[redacted]", "A shape is a secret under any name.")
        #expect(redactor.value("4111 1111 1111 1111", named: "code") == "[redacted]")
    }

    /// Breaks when the visible name `key` shows the value of `API key`, which is another name.
    @Test func aVisibleNameIsWholeAndNoPartOfAnother() {
        let redactor = Redactor(additionalNames: ["code"], visibleNames: ["code", "key", "token"])
        #expect(redactor.text("API key: abc") == "API key: [redacted]")
        #expect(redactor.value("a", named: "access_token") == "[redacted]")
        #expect(redactor.text("my token: abc") == "my token: abc")
        #expect(redactor.value("AB12x9", named: "code") == "[redacted]", "A name on both lists is a secret's.")
    }

    @Test func namesCanBeAdded() {
        let redactor = Redactor(additionalNames: ["X-Customer_Number"])
        #expect(redactor.value("7", named: "x-customer-number") == "[redacted]")
        #expect(redactor.value("7", named: "XCustomerNumber") == "[redacted]")
        #expect(redactor.value("7", named: "x-customer-number-2") == "7")
        #expect(redactor.text("xCustomerNumber=7 a=b") == "xCustomerNumber=[redacted] a=b")
    }

    // MARK: Attributes

    @Test func attributesWithinTheLimitsAreUnchanged() {
        let attributes: Attributes = [
            "variant": "B", "count": 3, "ratio": 0.5, "isNew": true, "has_token": true, "url": "https://a/b?c=d",
            "big": .integer(Limits.largestInteger),
        ]
        #expect(redactor.attributes(attributes) == (attributes, 0))
    }

    @Test func secretsInAttributesDoNotCountAsTruncated() {
        let attributes: Attributes = [
            "note": "Bearer x", "password": "y", "card": .integer(4_111_111_111_111_111), "pin_token": 1.5,
        ]
        let expected: Attributes = [
            "note": "Bearer [redacted]", "password": "[redacted]", "card": "[redacted]", "pin_token": "[redacted]",
        ]
        #expect(redactor.attributes(attributes) == (expected, 0))
    }

    @Test func whatIsTooLongOrTooManyIsCutAndCounted() {
        let long = String(repeating: "é", count: Limits.valueLength + 1)
        let (cut, count) = redactor.attributes(["a": .string(long), String(repeating: "n", count: 129): 1, "ok": 1])
        #expect(count == 2)
        #expect(cut == ["a": .string(String(long.dropLast())), String(repeating: "n", count: 128): 1, "ok": 1])
        let many = Attributes(Dictionary(uniqueKeysWithValues: (100..<140).map { ("\($0)", .integer($0)) }))
        let (first, dropped) = redactor.attributes(many)
        #expect(dropped == 8)
        #expect(first.keys.sorted() == (100..<132).map(String.init))
    }

    @Test func numbersThatASetCannotHoldBecomeStrings() {
        let (attributes, count) = redactor.attributes([
            "a": .integer(1 << 53), "b": .integer(Int64.min), "c": .double(.nan), "d": .double(-.infinity),
            "e": .integer(-Limits.largestInteger),
        ])
        #expect(
            attributes == [
                "a": "9007199254740992", "b": "-9223372036854775808", "c": "nan", "d": "-inf",
                "e": .integer(-Limits.largestInteger),
            ])
        #expect(count == 4)
    }

    @Test func aSecretAcrossTheCutIsGoneAsAWhole() throws {
        let text = String(repeating: "x", count: Limits.valueLength - 20) + " " + Self.token
        let value = try #require(redactor.attributes(["a": .string(text)]).0["a"])
        #expect(value == .string(String(repeating: "x", count: Limits.valueLength - 20) + " [redacted]"))
    }

    // MARK: Header fields and errors

    @Test func headerFieldsKeepTheirOrderAndTheLimits() {
        let fields = (0..<70).map { HeaderField(name: "N\($0)", value: String(repeating: "v", count: 5000)) }
        let location = HeaderField(name: "Location", value: "https://u:p@h/?code=1&token=2")
        let redacted = redactor.headerFields([location, HeaderField(name: "", value: "x")] + fields)
        #expect(redacted.count == Limits.headerFields)
        #expect(
            redacted.first == HeaderField(name: "Location", value: "https://[redacted]@h/?code=1&token=[redacted]")
        )
        #expect(
            redacted.last == HeaderField(name: "N62", value: String(repeating: "v", count: Limits.fieldLength)))
    }

    @Test func anErrorKeepsWhatIsNoSecret() {
        let error = redactor.error(
            RecordedError(domain: "D", code: .min, text: "no password=x; " + String(repeating: "y", count: 3000)))
        #expect(error.domain == "D")
        #expect(error.code == -Limits.largestInteger)
        #expect(error.text?.hasPrefix("no password=[redacted]; yyy") == true)
        #expect(error.text?.unicodeScalars.count == Limits.textLength)
    }

    // MARK: Anything

    /// Random texts of significant pieces: no crash, a second redaction changes nothing, and no planted secret remains.
    @Test func noSecretSurvivesInRandomSurroundings() {
        var random = SeededGenerator(seed: 5)
        let pieces = [
            "=", ":", " ", "\"", "\\", "'", "&", ";", "%", "%20", "%3D", "?", "//", "://", "@", "{", "}", "[", "]",
            "\n", "é", "4", "x",
            "Bearer ", "token", "[redacted]", "eyJ", ".",
        ]
        for _ in 0..<10_000 {
            func noise() -> String {
                (0..<Int.random(in: 0...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                    .joined()
            }
            let text = noise() + " \(Self.token) " + noise() + "\npassword=hunter2&" + noise()
            let once = redactor.text(text)
            #expect(!once.contains("hunter2"), "\(text)")
            #expect(!once.contains(Self.token), "\(text)")
            #expect(redactor.text(once) == once, "\(text)")
        }
    }

    /// Each text is long, and would take minutes if reading one position meant reading the whole rest.
    @Test(
        arguments: [
            "eyJ", "eyJ.", "-eyJ", "a=", "token:", "token=\"", "://", "41 ", "bearer ", "basic ", "a:", "\\\"", "%",
            ") ", "\"token\":\\", "ghp_", "a@", "a@b.", "+1", "/token/", "/token/a1", "is is ", "password is ",
            "digest a=", "-----BEGIN ", "-----END ", "-----BEGIN PRIVATE KEY", "token:\n ", "de89 ", "AA:", "A1a/",
            "{\"value\":1,", "[{\"value\":", "219-09-",
        ])
    func longTextsTakeTimeInProportion(piece: String) {
        let text = String(repeating: piece, count: 100_000 / piece.utf8.count)
        let once = redactor.text(text)
        #expect(redactor.text(once) == once)
    }
}
