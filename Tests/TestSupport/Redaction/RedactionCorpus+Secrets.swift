import WaybillCore

/// A secret that is recognized by its look.
package struct SecretShape: Sendable {
    package var name: String
    /// Makes a text with a secret, and the part of it that must not be kept.
    package var make: @Sendable (inout CorpusLetters) -> (text: String, secret: String)

    private init(_ name: String, _ make: @escaping @Sendable (inout CorpusLetters) -> (String, String)) {
        (self.name, self.make) = (name, make)
    }

    /// A secret that must be hidden as a whole.
    fileprivate static func whole(_ name: String, _ make: @escaping @Sendable (inout CorpusLetters) -> String) -> Self {
        Self(name) { random in
            let text = make(&random)
            return (text, text)
        }
    }

    /// A secret within other text, which may stay.
    fileprivate static func part(
        _ name: String, _ make: @escaping @Sendable (inout CorpusLetters) -> (String, String)
    ) -> Self { Self(name, make) }
}

extension RedactionCorpus {
    package static let shapes: [SecretShape] = [
        .part("e-mail") { random in
            let local = "ann." + random.word(10)
            return ("write to \(local)@mail.example today", local)
        },
        .whole("IBAN") { account($0.digits(18)) },
        .whole("IBAN in groups") { random in grouped(account(random.digits(18))) },
        .whole("social security number") { "2\($0.digits(2))-\($0.digits(2))-\($0.digits(4))" },
        .whole("telephone number") { "+49 151 \($0.digits(8))" },
        .whole("telephone number, US") { "+1 (\($0.digits(3))) \($0.digits(3))-\($0.digits(4))" },
        .whole("card") { card($0.digits(14), separator: "") },
        .whole("card in groups") { card($0.digits(14), separator: " ") },
        .whole("JSON Web Token") { "eyJhbGciOiJIUzI1NiJ9.eyJ\($0.word(30)).\($0.word(30))" },
        .part("bearer") { random in
            let secret = random.word(24)
            return ("Bearer \(secret)", secret)
        },
        .part("basic") { random in
            let secret = random.word(24)
            return ("Basic \(secret)", secret)
        },
        .part("digest") { random in
            let secret = random.hexadecimal(32)
            return (#"Digest username="ann", realm="r", nonce="n", uri="/", response="\#(secret)""#, secret)
        },
        .part("password is") { random in
            let secret = random.word(12)
            return ("the password is \(secret), she said", secret)
        },
        .part("password =") { random in
            let secret = random.word(12)
            return ("password=\(secret)", secret)
        },
        .whole("AWS key ID") { "AKIA\($0.capitals(16))" }, .whole("AWS temporary key ID") { "ASIA\($0.capitals(16))" },
        .whole("AWS secret key") { "\($0.word(20))/\($0.word(19))" },
        .part("AWS secret key by name") { random in
            let secret = random.word(40)
            return ("aws_secret_access_key = \(secret)", secret)
        },
        .part("Azure connection string") { random in
            let secret = random.word(60)
            return ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey=\(secret)==", secret)
        },
        .whole("GitHub") { "ghp_\($0.word(36))" }, .whole("GitHub OAuth") { "gho_\($0.word(36))" },
        .whole("GitHub user") { "ghu_\($0.word(36))" }, .whole("GitHub server") { "ghs_\($0.word(36))" },
        .whole("GitHub refresh") { "ghr_\($0.word(36))" },
        .whole("GitHub fine-grained") { "github_pat_\($0.word(22))_\($0.word(59))" },
        .whole("GitLab") { "glpat-\($0.word(20))" },
        .whole("Slack bot") { "xoxb-\($0.digits(11))-\($0.digits(11))-\($0.word(24))" },
        .whole("Slack user") { "xoxp-\($0.digits(11))-\($0.word(32))" },
        .whole("Stripe") { "sk_live_\($0.word(24))" }, .whole("Stripe restricted") { "rk_live_\($0.word(24))" },
        .whole("Google API") { "AIza\($0.word(35))" }, .whole("Google OAuth") { "ya29.\($0.word(40))" },
        .whole("OpenAI") { "sk-proj-\($0.word(48))" }, .whole("Anthropic") { "sk-ant-api03-\($0.word(48))" },
        .whole("SendGrid") { "SG.\($0.word(22)).\($0.word(43))" }, .whole("npm") { "npm_\($0.word(36))" },
        .whole("PyPI") { "pypi-AgEIcHlwaS5vcmc\($0.word(40))" }, .whole("Hugging Face") { "hf_\($0.word(34))" },
        .whole("DigitalOcean") { "dop_v1_\($0.hexadecimal(64))" }, .whole("Shopify") { "shpat_\($0.hexadecimal(32))" },
        .whole("Vault") { "hvs.\($0.word(40))" }, .whole("Waybill") { "waybill_\($0.word(43))" },
        .part("private key") { random in
            let secret = random.word(64)
            return ("-----BEGIN RSA PRIVATE KEY-----\n\(secret)\n-----END RSA PRIVATE KEY-----", secret)
        },
        .part("private key, cut off") { random in
            let secret = random.word(64)
            return ("-----BEGIN PRIVATE KEY-----\n\(secret)", secret)
        },
        .part("Slack webhook") { random in
            let secret = random.word(24)
            return ("https://hooks.slack.com/services/T\(random.capitals(8))/B\(random.capitals(8))/\(secret)", secret)
        },
        .part("Discord webhook") { random in
            let secret = random.word(60)
            return ("https://discord.com/api/webhooks/\(random.digits(18))/\(secret)", secret)
        },
        .part("Telegram bot") { random in
            let secret = "AA" + random.word(33)
            return ("https://api.telegram.org/bot\(random.digits(9)):\(secret)/sendMessage", secret)
        },
        .part("user-info") { random in
            let secret = random.word(12)
            return ("postgres://ann:\(secret)@db.example/x", secret)
        },
        .part("query of a URL") { random in
            let secret = random.word(12)
            return ("https://a.example/?page=1&access_token=\(secret)", secret)
        },
        .part("path of a URL") { random in
            let secret = random.word(12)
            return ("https://a.example/reset/\(secret)", secret)
        },
    ]

    package static let names = [
        "authorization", "cookie", "token", "access_token", "refreshToken", "id_token", "password", "passwd", "pwd",
        "passphrase", "passcode", "secret", "client_secret", "api_key", "apiKey", "accessKey", "private_key",
        "credentials", "jwt", "code", "code_verifier", "SAMLResponse", "SAMLRequest", "RelayState", "assertion",
        "client_assertion", "sig", "signature", "hmac", "auth", "key", "pass", "pw", "pin", "userPin", "otp", "totp",
        "cvv", "cvc", "ssn", "session", "session_id", "session_state", "sid", "connect.sid", "PHPSESSID", "JSESSIONID",
        "csrf", "_csrf", "xsrf", "authenticity_token", "ticket", "device_code", "user_code", "verification_code",
        "security_code", "bearer", "connectionString", "X-Amz-Signature", "X-Amz-Credential", "X-Goog-Signature",
        "consumer_key", "account_key", "master_key", "subscription-key", "signing_key", "encryptionKey",
        "sharedAccessKey", "oauth_verifier", "mnemonic", "recovery_code", "card_number", "user[password]",
        "passkey", "passkeyResponse", "mfa", "mfa_code", "userMFA", "reset", "magic", "invite", "tokens", "tokenValue",
        "tokenvalue", "secretkey", "passwort", "newpassword2", "tokenCount",
    ]

    package static let headerNames = [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth", "X-Auth-Key",
        "X-Auth-Token", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "DPoP", "X-Session", "X-Session-Id", "X-Otp",
        "X-Pin", "Sec-WebSocket-Protocol", "X-Plex-Pass", "X-Plex-Token", "X-Parse-Master-Key",
        "X-Parse-REST-API-Key", "X-Signature", "X-Hub-Signature-256", "Stripe-Signature", "X-Amz-Security-Token",
        "X-Shopify-Hmac-SHA256", "X-Vault-Token", "X-CSRF-Token", "X-Consumer-Key", "X-Master-Key", "X-App-Key",
        "x-amz-server-side-encryption-customer-key", "X-Goog-Api-Key", "X-Password", "X-Secret", "X-Sid",
        "PRIVATE-TOKEN",
    ]

    /// The places where shapes and names are looked for.
    static let places: [Place] = [
        Place(name: "query") { $0.wholeURL("https://a.example/x?p=1&\(percent($1))=\(percent($2))&q=2") },
        Place(name: "query, unencoded") { $0.wholeURL("https://a.example/x?\($1)=\(escapingMarks($2))") },
        Place(name: "fragment", isKept: false) { $0.wholeURL("https://a.example/x#\($1)=\(percent($2))") },
        Place(name: "form") { body($0, "p=1&\(percent($1))=\(percent($2))", "application/x-www-form-urlencoded") },
        Place(name: "form, plus signs") {
            body($0, "\($1)=\(percent($2).replacing("%20", with: "+"))", "application/x-www-form-urlencoded")
        },
        Place(name: "JSON") { body($0, #"{"a":[{"\#($1)":"\#(json($2))"}]}"#, "application/json") },
        Place(name: "JSON, escaped") { body($0, #"{"\#(escaped($1))":"\#(escaped($2))"}"#, "application/json") },
        Place(name: "JSON in JSON") {
            body($0, #"{"a":"\#(json(#"{"\#($1)":"\#(json($2))"}"#))"}"#, "application/json")
        },
        Place(name: "lines of JSON") { body($0, #"{"a":1}"# + "\n" + #"{"\#($1)":"\#(json($2))"}"#, "text/plain") },
        Place(name: "attribute") { redactor, name, value in
            let kept = redactor.attributes([name: .string(value)]).0[name]
            guard case .string(let text) = kept else { return "" }
            return text
        },
        Place(name: "attribute of JSON") { $0.text(#"{"a":1,"\#($1)":"\#(json($2))"}"#) },
        Place(name: "Location") { $0.value("https://a.example/x?p=1&\($1)=\(percent($2))", named: "Location") },
        Place(name: "fragment of a Location") {
            $0.value("https://a.example/x#\($1)=\(percent($2))", named: "Location")
        },
        Place(name: "Referer") { $0.value("https://a.example/x?\($1)=\(percent($2))&q=1", named: "Referer") },
        Place(name: "redirect") { redactor, name, value in
            var transfer = Fact.Transfer()
            let url = "https://a.example/x?\(name)=\(percent(value))"
            transfer.redirects = [Fact.Redirect(status: 302, url: url, atMicroseconds: 1)]
            return transfer.redacted(by: redactor).redirects.map(\.url).joined()
        },
        Place(name: "multipart") {
            body(
                $0, "--B\r\nContent-Disposition: form-data; name=\"\($1)\"\r\n\r\n\($2)\r\n--B--\r\n",
                "multipart/form-data; boundary=B")
        },
        Place(name: "markup") { body($0, "<a \($1)=\"\(markup($2))\">x</a>", "text/html") },
        Place(name: "text") { $0.text("it failed: \($1)=\(quoted($2)) at last") },
        Place(name: "text, colon") { $0.text("it failed\n\($1): \($2)\n") },
        Place(name: "text of an error") {
            $0.error(RecordedError(domain: "D", code: 1, text: "sent \($1)=\(quoted($2)); refused")).text ?? ""
        },
        Place(name: "log") { body($0, "first\n12:00 INFO \($1)=\(quoted($2)) end\nlast\n", "text/plain") },
    ]

    /// The places without a name.
    static let unnamedPlaces: [Place] = [
        Place(name: "path") { $0.wholeURL("https://a.example/x/\(percent($2))/y") },
        Place(name: "header") { $0.value($2, named: "X-Note") },
        Place(name: "list of JSON") { body($0, #"[1,"\#(json($2))"]"#, "application/json") },
        Place(name: "reason") { $0.text("rejected: \($2)") },
        Place(name: "element") { body($0, "<p>\(markup($2))</p>", "text/html") },
        Place(name: "plain body") { body($0, "a\n\($2)\nb", "text/plain") },
        Place(name: "name of a file") {
            body(
                $0,
                "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(percent($2))\"\r\n\r\nx\r\n--B--\r\n",
                "multipart/form-data; boundary=B")
        },
    ]

    /// The places where only a name reveals a secret.
    static let namedPlaces: [Place] = [
        Place(name: "path") { $0.wholeURL("https://a.example/\(percent($1))/\($2)/x") },
        Place(name: "path of a Location") { $0.value("/a/\($1)/\($2)", named: "Location") },
        Place(name: "value before name") {
            body($0, #"[{"value":"\#($2)","type":1,"name":"\#($1)"}]"#, "application/json")
        },
        Place(name: "name before value") { body($0, #"{"name":"\#($1)","value":"\#($2)"}"#, "application/json") },
        Place(name: "input") { body($0, "<input name=\"\($1)\" value=\"\($2)\">", "text/html") },
        Place(name: "YAML") { body($0, "a: 1\n\($1): \($2)\nb: 2\n", "application/yaml") },
    ]

    /// Secrets that need a special place.
    static let forms: [(name: String, keep: @Sendable (Redactor, String) -> String)] = [
        ("reset", { $0.wholeURL("https://a.example/reset/\($1)") }),
        ("password reset", { $0.wholeURL("https://a.example/password-reset/\($1)/form") }),
        ("magic link", { $0.wholeURL("https://a.example/magic-link/\($1)") }),
        ("invite", { $0.wholeURL("https://a.example/invite/\($1)") }),
        ("token in a path", { $0.wholeURL("https://a.example/v1/token/\($1)") }),
        ("token in a path, encoded", { $0.wholeURL("https://a.example/v1/t%6Fken/\($1)") }),
        ("user-info in a path", { $0.wholeURL("https://a.example/fetch/https://joe:\($1)@db.example/x") }),
        ("user-info in a path, host of one word", { $0.wholeURL("https://a.example/fetch/https:/joe:\($1)@db/x") }),
        ("user-info in a path of a Location", { $0.value("/fetch/https://joe:\($1)@db/x", named: "Location") }),
        ("user-info", { $0.wholeURL("https://joe:\($1)@a.example/x") }),
        ("code in a Location", { $0.value("https://a.example/cb?state=x&code=\($1)", named: "Location") }),
        ("code in a Referer", { $0.value("https://a.example/cb?code=\($1)&state=x", named: "Referer") }),
        ("code in JSON", { body($0, #"{"grant_type":"authorization_code","code":"\#($1)"}"#, "application/json") }),
        ("WebSocket, bearer", { $0.value("bearer, \($1)", named: "Sec-WebSocket-Protocol") }),
        (
            "WebSocket, Kubernetes",
            { $0.value("base64url.bearer.authorization.k8s.io.\($1)", named: "Sec-WebSocket-Protocol") }
        ),
        ("Digest in text", { $0.text(#"sent Digest username="a", response="\#($1)""#) }),
        ("password is", { $0.text("Your password is \($1).") }),
        ("API key is", { $0.text("The API key is '\($1)'") }),
        ("YAML block", { body($0, "a:\n  password: |\n    \($1)\n    \($1)\n  b: 1\n", "application/yaml") }),
        ("YAML list", { body($0, "passwords:\n  - \($1)\n  - \($1)\nb: 1\n", "application/yaml") }),
        ("YAML list, not indented", { body($0, "tokens:\n- \($1)\n- \($1)\nb: 1\n", "application/yaml") }),
        ("YAML block in a text", { $0.text("a: 1\nsecret: >-\n  \($1)\nb: 2") }),
        ("password field", { body($0, "<input value='\($1)' type=password>", "text/html") }),
        ("one-time field", { body($0, "<input autocomplete='current-password' value='\($1)'>", "text/html") }),
        ("Set-Cookie in markup", { body($0, "<meta http-equiv=Set-Cookie content='a=\($1)'>", "text/html") }),
        (
            "name of a secret file",
            {
                body(
                    $0,
                    "--B\r\nContent-Disposition: form-data; name=\"password\"; filename=\"\($1).txt\"\r\n\r\nx\r\n--B--\r\n",
                    "multipart/form-data; boundary=B")
            }
        ),
        ("pair of JSON", { body($0, #"[["Cookie","\#($1)"]]"#, "application/json") }),
        ("property list", { body($0, "<key>password</key><string>\($1)</string>", "application/xml") }),
        ("key in a text of JSON", { $0.text(#"{"value":"\#($1)","name":"password"}"#) }),
        (
            "private key over lines",
            { body($0, "a\n-----BEGIN PRIVATE KEY-----\n\($1)\n\($1)\n-----END PRIVATE KEY-----\nb\n", "text/plain") }
        ),
        ("private key in JSON", { body($0, #"{"a":"-----BEGIN PRIVATE KEY-----\n\#($1)\n"}"#, "application/json") }),
    ]

    // MARK: Check digits

    /// A German account number (ISO 13616).
    private static func account(_ number: String) -> String {
        // DE counts as 13 and 14.
        let remainder = (number + "131400").reduce(0) { ($0 * 10 + ($1.wholeNumberValue ?? 0)) % 97 }
        let check = 98 - remainder
        return "DE" + (check < 10 ? "0" : "") + "\(check)" + number
    }

    private static func grouped(_ text: String, separator: String = " ") -> String {
        text.enumerated().map { ($0.offset > 0 && $0.offset % 4 == 0 ? separator : "") + String($0.element) }.joined()
    }

    /// A card's number with its check digit (ISO/IEC 7812).
    private static func card(_ number: String, separator: String) -> String {
        let digits = [4] + number.compactMap(\.wholeNumberValue)
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let doubled = digit.element * (digit.offset % 2 == 0 ? 2 : 1)
            return sum + (doubled > 9 ? doubled - 9 : doubled)
        }
        return grouped((digits + [(10 - sum % 10) % 10]).map(String.init).joined(), separator: separator)
    }
}
