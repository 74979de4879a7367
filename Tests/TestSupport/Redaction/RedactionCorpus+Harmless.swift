import WaybillCore

extension RedactionCorpus {
    /// Texts that people need to see although they look like secrets at a glance.
    package static let harmlessTexts = [
        "ORDER-2025-11-00042", "AB-12345-XY", "SKU 4711/0815", "INV-000123", "PO 88-7766",
        "01890a5d-ac96-774b-bcce-b302099a8057", "9F3C21D7-12AB-4CDE-8F00-1234567890AB",
        "app-9f3c21d7a8b9.js", "main.3f2a9c1e.chunk.css", "index-BkX3h9aQ.js",
        "33a64df551425fcc55e4d42a148795d9f25f89d4",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "1.2.3-beta.4+20251121", "v18.2.0", "iOS 18.1 (22B83)",
        "react@18.2.0", "icon@2x.png", "$12.50", "1,299.00 EUR", "-12.5 %", "2025-11-21T10:11:43Z", "10:11:43",
        "1732182456123456", "192.168.10.20", "2001:db8::1", "4111111111111112", "12-345-6789",
        "the passenger in seat 12A", "author of the keynote", "a monkey at the keyboard", "design and assign a signal",
        "pinned to the top, spin once", "zip code 90210", "zip code: 90210", "barcode 4006381333931",
        "the codec is h264", "Error code 404", "status code: 500", "password is required", "token is expired",
        "the session is closed", "Basic plan", "key: value", "Domain NSURLErrorDomain Code -1009",
        "Assertion failed: a != b", "The request timed out.", "passport_required", "/users/42/orders/9f3c21d7",
        "application/json; charset=utf-8", "en-US,en;q=0.9", "id, code, title", "GET /auth/login", "42 of 100",
        "https://a.example/orders/42?page=2&sort=asc#top", "https://tokens.example/x1/y",
        "#ff8800", "52.5200,13.4050", "4bf92f3577b34da6a3ce929d0e0e4736", "Mozilla/5.0 (X11; Linux x86_64)",
        "ключ = значение", "日本語のテキスト", "1e-9", "user 42 of tenant 7", "a = b", "x += 12345", "R2-D2",
        "src/auth/LoginView.swift:42", "Sources/token/OAuthURLHandler.swift:7:12", "Basic T-shirt white",
        "Basic LoginForm", "session: 3 of 5", "session: expired", "GET /sessions/42", "GET /tokens/7 200",
        "20251121101143", "9780306406157", "4006381333931", "2030110415595007", "order 219-09-9999",
        "sku=219-09-9999", "etag=Jz5Kq8RbT2mWx7NcV4pLs9HdGf3YaQ6eUo1ZtCkB", "hasPassword: true", "hasPassword=false",
        "password: null", "token_count: 5, next: 6", "tokenCount=12", "passwordLength is 12", "tokens: 1532",
        "the secretary of state: Ann", "tokenizer=cl100k_base", "reset=60", "mfa: enabled", "invite: friends",
    ]

    package static let harmlessNames = [
        "passenger", "passengers", "keyboard", "author", "authors", "passport_required", "monkey", "keynote", "design",
        "assign", "assignee", "signal", "pinned", "spin", "spinner", "opinion", "codec", "barcode", "zip_code",
        "postalCode", "orderCode", "order_code", "countryCode", "status_code", "errorCode", "currency_code",
        "promoCode", "sort_key", "primaryKey", "foreign_key", "cacheKey", "keywords", "side", "inside", "resident",
        "compass", "bypass", "passive", "hotspot", "slotPosition", "rootPath", "shipping", "tax", "price", "quantity",
        "name", "city", "address_line", "variant", "page", "sort", "filter", "limit", "offset", "id", "uuid", "version",
        "sessions_count", "session_count", "authored_at", "coauthor", "mapping", "note", "state", "type", "size",
        "secretary", "secretariat", "secretion", "tokenizer", "tokenized", "tokenise",
        "tokenization", "passwordless", "cookieless", "resetCount", "magical", "inviter", "passkeyless",
    ]

    /// Names of secrets with values that reveal none of them.
    static let harmlessPairs = [
        ("hasPassword", "true"), ("has_token", "false"), ("password", "null"), ("isPasskeyEnabled", "yes"),
        ("tokenCount", "12"), ("token_count", "5"), ("tokencount", "5"), ("passwordLength", "16"),
        ("password-length", "16"), ("tokens", "1532"), ("total_tokens", "1532"), ("tokenVersion", "3"),
        ("cookies", "4"), ("token_expires_at", "1732182456"), ("passwordStrength", "0.8"),
        ("tokenType", "opaque"), ("cookie_policy", "strict"), ("mfa", "true"), ("session", "false"),
        ("session", "3 of 5"), ("pin", "blocked"), ("reset", "60"), ("magic", "wand"), ("code", "404"),
    ]

    /// Kinds of random values that are not secrets, each with the share, in thousandths, that may be hidden anyway: a
    /// number of 16 digits may begin and end like a card's.
    package static let harmlessKinds: [(name: String, limit: Int, make: @Sendable (inout CorpusLetters) -> String)] = [
        (
            "date and time in 14 digits", 0,
            { random in
                "20\(two(10...39, &random))\(two(1...12, &random))\(two(1...28, &random))\(two(0...23, &random))"
                    + two(0...59, &random) + two(0...59, &random)
            }
        ),
        ("milliseconds since 1970", 0, { "17\($0.digits(11))" }),
        ("ISBN", 0, { "978\($0.digits(10))" }),
        ("barcode of Germany", 5, { barcode("40\($0.digits(10))") }),
        ("16 digits", 45, { $0.digits(16) }),
        ("15 digits", 10, { $0.digits(15) }),
        ("17 digits", 15, { $0.digits(17) }),
        ("part number in groups", 0, { "part \($0.digits(3))-\($0.digits(2))-\($0.digits(4))" }),
        ("checksum of 40 letters", 1, { "checksum=\($0.word(40))" }),
        ("path of a source file", 1, { "src/session/\($0.word(12)).swift:\($0.digits(3))" }),
        ("resource of a collection", 0, { "/v1/sessions/\($0.digits(6))/items" }),
    ]

    private static func two(_ range: ClosedRange<Int>, _ random: inout CorpusLetters) -> String {
        let number = Int.random(in: range, using: &random)
        return number < 10 ? "0\(number)" : "\(number)"
    }

    /// Appends the check digit (ISO/IEC 15420).
    private static func barcode(_ digits: String) -> String {
        let sum = digits.compactMap(\.wholeNumberValue).enumerated().reduce(0) { sum, digit in
            sum + digit.element * (digit.offset.isMultiple(of: 2) ? 1 : 3)
        }
        return digits + "\((10 - sum % 10) % 10)"
    }

    static let harmlessHeaderFields = [
        ("Content-Type", "application/json; charset=utf-8"), ("Accept-Language", "en-US,en;q=0.9"),
        ("ETag", "\"33a64df551425fcc55e4d42a148795d9f25f89d4\""), ("Idempotency-Key", "order-42"),
        ("X-Request-Id", "01890a5d-ac96-774b-bcce-b302099a8057"), ("Cache-Control", "max-age=31536000, immutable"),
        ("Sec-WebSocket-Protocol", "graphql-transport-ws"), ("Sec-WebSocket-Version", "13"),
        ("Strict-Transport-Security", "max-age=63072000; includeSubDomains"),
        ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), ("Retry-After", "120"),
        ("User-Agent", "Shop/4.2 (iPhone; iOS 18.1) +https://shop.example"),
        ("Server-Timing", "db;dur=53, app;dur=47.2"),
        ("WWW-Authenticate", #"Digest realm="shop", nonce="42", qop="auth""#), ("Location", "/orders/42?created=1"),
        ("Link", "<https://a.example/items?page=3>; rel=\"next\""), ("Date", "Fri, 21 Nov 2025 10:11:43 GMT"),
        ("Content-Disposition", "attachment; filename=\"invoice-42.pdf\""), ("X-Cache-Key", "home-v2"),
    ]

    static let harmlessURLs = [
        "https://a.example/auth/login", "https://a.example/auth/v1/token", "https://a.example/oauth2/authorize",
        "https://a.example/password/reset", "https://a.example/session/new",
        "https://a.example/users/42/orders/9f3c21d7",
        "https://a.example/assets/app-9f3c21d7a8b9.js?v=1.2.3", "https://a.example/sessions/{id}",
        "https://a.example/a:b/c=d", "https://a.example/search?q=keyboard&author=ann&page=2",
        "https://a.example/products/R2-D2?color=%23ff8800&price=12.50", "https://a.example/invite/accept",
        "https://a.example/verify/email", "https://tokens.example/x1/y", "https://a.example/code/main.swift",
        "https://a.example/files/2025/11/21/report.pdf?size=12345", "https://a.example/webhooks/github",
        "https://a.example/cb?error=access_denied&error_code=404&code=404",
    ]

    static let harmlessBodies = [
        ("application/json", #"{"code":404,"error":{"code":"NOT_FOUND","key":"first_name"}}"#),
        ("application/json", #"{"items":[{"key":"city","value":"Rome"},{"value":7,"name":"count"}],"total":12.5}"#),
        ("application/json", #"{"columns":["id","code","title"],"author":"Ann","keywords":["pin","map"]}"#),
        ("application/json", #"{"value":[{"id":1,"state":"open"}],"next":"/a?page=2","t":"10:30"}"#),
        (
            "text/html",
            "<p>The <code>let x = 1</code> of a keynote</p><input type=\"text\" name=\"city\" value=\"Rome\">"
        ),
        ("application/xml", "<order><code>404</code><author>Ann</author><price>12.50</price></order>"),
        ("application/yaml", "author: Ann\nkeywords:\n  - pin\n  - map\nprice: 12.50\n"),
        ("text/plain", "line one\nstatus code: 200\nno secrets here\n"),
        ("application/x-www-form-urlencoded", "author=Ann&passenger=2&orderCode=AB-12&zip=90210"),
    ]
}
