import Foundation
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct RedactedURLTests {
    let redactor = Redactor()

    private func parts(_ scheme: String?, _ host: String?, _ port: Int?, _ path: String, _ query: String?)
        -> Fact.ExchangeOpened
    {
        var url = Fact.ExchangeOpened(method: "", path: "")
        (url.scheme, url.host, url.port, url.path, url.query) = (scheme, host, port, path, query)
        return url
    }

    @Test func partsAreAsOnTheWire() {
        #expect(
            redactor.url("HTTPS://API.example.com:8443/a%20b/c?x=1&y=%C3%A9#top")
                == parts("https", "api.example.com", 8443, "/a%20b/c", "x=1&y=%C3%A9"))
        #expect(redactor.url("http://[2001:db8::1]:80/") == parts("http", "[2001:db8::1]", 80, "/", nil))
        #expect(redactor.url("http://[2001:db8::1]/") == parts("http", "[2001:db8::1]", nil, "/", nil))
        #expect(redactor.url("/login?page=1") == parts(nil, nil, nil, "/login", "page=1"))
        #expect(redactor.url("*") == parts(nil, nil, nil, "*", nil))
        #expect(redactor.url("https://example.com") == parts("https", "example.com", nil, "", nil))
        #expect(redactor.url("https://example.com?") == parts("https", "example.com", nil, "", ""))
        #expect(redactor.url("") == parts(nil, nil, nil, "", nil))
        #expect(redactor.url("https://example.com:port/") == parts("https", "example.com", nil, "/", nil))
    }

    @Test func userInfoAndFragmentAreDropped() {
        #expect(
            redactor.url("https://user:p@ss@example.com:1/#access_token=x")
                == parts("https", "example.com", 1, "/", nil))
        #expect(redactor.url("//user@example.com/a") == parts(nil, "example.com", nil, "/a", nil))
    }

    @Test(arguments: [
        ("token=abc&x=1", "token=[redacted]&x=1"), ("x=1&Access-Token=a%20b&", "x=1&Access-Token=[redacted]&"),
        ("p%61ssword=x", "p%61ssword=[redacted]"),
        ("user%5Bpassword%5D=x", "user%5Bpassword%5D=[redacted]"), ("q=Bearer%20abc", "q=[redacted]"),
        ("q=Bearer+abc", "q=[redacted]"),
        ("q=\(RedactorTests.token)", "q=[redacted]"), (RedactorTests.token, "[redacted]"),
        ("c=4111+1111+1111+1111", "c=[redacted]"),
        ("c=4111%201111-1111%2D1111", "c=[redacted]"), ("j=%7B%22password%22%3A%22x%22%7D", "j=[redacted]"),
        ("next=%2Fa%3Ftoken%3Dx", "next=[redacted]"),
        ("next=%2Fa%3Fpage%3D2", "next=%2Fa%3Fpage%3D2"), ("a=b=c&&d", "a=b=c&&d"), ("token=", "token=[redacted]"),
        ("a=100%&b=%zz", "a=100%&b=%zz"),
        ("u=https%3A%2F%2Fme%3Apw%40h%2F", "u=[redacted]"), ("token", "token"),
    ]) func aQueryIsRedactedByNameAndShape(query: String, expected: String) {
        #expect(redactor.url("https://h/p?\(query)").query == expected)
        #expect(redactor.form(query) == expected)
        #expect(redactor.form(expected) == expected)
    }

    @Test(arguments: [
        ("/users/42/orders", "/users/42/orders"), ("/reset/\(RedactorTests.token)", "/reset/[redacted]"),
        ("/pay/4111111111111111/ok", "/pay/[redacted]/ok"),
        ("/a;token=x/b", "/[redacted]/b"), ("/Bearer%20abc", "/[redacted]"), ("/a:b/c=d", "/a:b/c=d"), ("//", "//"),
        ("/4111%2D1111-1111-1111", "/[redacted]"),
    ]) func aPathIsRedactedBySegment(path: String, expected: String) {
        #expect(redactor.url("https://h\(path)").path == expected)
        #expect(redactor.url("https://h\(expected)").path == expected)
    }

    @Test func whatASchemeWithoutAuthorityCarriesIsHidden() {
        #expect(redactor.url("data:text/plain;base64,aGVsbG8=") == parts("data", nil, nil, "[redacted]", nil))
        #expect(redactor.url("mailto:bob@example.com?subject=x") == parts("mailto", nil, nil, "[redacted]", nil))
        #expect(redactor.url("file:///etc/hosts") == parts("file", nil, nil, "/etc/hosts", nil))
    }

    @Test func marksWithCombiningCharactersAreStillMarks() {
        #expect(redactor.url("https://h/p?a=b&\u{301}token=x#\u{301}y").query == "a=b&\u{301}token=[redacted]")
        #expect(redactor.url("https://h/p#\u{301}secret") == parts("https", "h", nil, "/p", nil))
    }

    @Test func partsKeepTheLimits() {
        let url = redactor.url(
            "https://\(String(repeating: "h", count: 300))/\(String(repeating: "p", count: 5000))?\(String(repeating: "q", count: 5000))"
        )
        #expect(url.host?.count == Limits.labelLength)
        #expect(url.path.count == Limits.fieldLength)
        #expect(url.query?.count == Limits.fieldLength)
    }

    @Test func randomURLsNeverCrash() {
        var random = SeededGenerator(seed: 9)
        let original = Array("https://user:pw@host.example:8443/a/b%20c;d=e?token=secret&x=%7B%7D#frag".utf8)
        for _ in 0..<10_000 {
            let text = String(decoding: random.mutated(original), as: UTF8.self)
            let url = redactor.url(text)
            #expect(url.path.utf8.count <= 200 && (url.port ?? 0) <= 65_535)
        }
    }
}
