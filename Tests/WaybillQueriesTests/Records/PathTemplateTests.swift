import Testing

@testable import WaybillCore
@testable import WaybillQueries

/// A template that keeps an ID makes a group for every request. One that loses a name mixes unrelated requests.
@Suite(.timeLimit(.minutes(5))) struct PathTemplateTests {
    @Test(arguments: [
        ("/users/123/orders/9f3c21d7", "/users/{id}/orders/{id}"),
        ("/items/0", "/items/{id}"), ("/items/-7/", "/items/{id}/"), ("/20260301", "/{id}"),
        ("/a/123e4567-e89b-12d3-a456-426614174000", "/a/{id}"),
        ("/a/123E4567-E89B-12D3-A456-426614174000/b", "/a/{id}/b"),
        ("/c/deadbee1", "/c/{id}"),
        // Git, Mongo, MD5.
        ("/c/0a1b2c3d", "/c/{id}"), ("/c/507f1f77bcf86cd799439011", "/c/{id}"),
        ("/c/D41D8CD98F00B204E9800998ECF8427E", "/c/{id}"),
        // ULID, nanoid, cuid, KSUID, a video ID, a payment ID.
        ("/t/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/t/{id}"), ("/t/V1StGXR8_Z5jdHi6B-myT", "/t/{id}"),
        ("/t/cjld2cjxh0000qzrmn831i7rn", "/t/{id}"),
        ("/t/0ujtsYcgvSTl8PAuAdqWYSMnLOv", "/t/{id}"), ("/t/dQw4w9WgXcQ", "/t/{id}"),
        ("/t/ch_3MmlLrLkdIwHu7ix0snN0B15", "/t/{id}"),
        // base64 with and without padding; a JSON Web Token.
        ("/t/dGhpcyBpcyBhIHRlc3Q9MTIz", "/t/{id}"), ("/t/TWFuIGlzIGRpc3Rpbmd1aXNoZWQ=", "/t/{id}"),
        (
            "/t/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
            "/t/{id}"
        ),
        ("/log/2026-03-01", "/log/{date}"), ("/log/2026-03", "/log/{date}"),
        ("/log/2026-03-01T12:00:00Z", "/log/{date}"),
        ("/log/2026-03-01T12:00:00+01:00/7", "/log/{date}/{id}"),
        ("/images/9f3c21d7.jpg", "/images/{id}.jpg"), ("/users/123.json", "/users/{id}.json"),
        ("/log/2026-03-01.csv", "/log/{date}.csv"),
        ("/users/123?page=4", "/users/{id}"), ("/users?id=123", "/users"), ("/users/123#45", "/users/{id}"),
    ]) func whatDiffersByAnIDIsOne(path: String, template: String) {
        #expect(PathTemplate(path).description == template)
    }

    @Test(arguments: [
        "", "/", "//", "/login", "/api/v1/users", "/api/1.1/statuses", "/v2.1.3-beta4", "/oauth2/token",
        "/OAuth2Callback",
        "/getUserByIdV2",
        "/base64", "/sha256", "/x86_64", "/mp3", "/h264-1080p-mp4", "/deadbeef", "/deadbe1", "/facade", "/a1b2",
        "/.well-known/acme-2024",
        "/index2.html",
        "/how-we-made-2024-the-best-year-for-10-of-us", "/iPhone-15-Pro-128GB-5G", "/jquery-3.7.1.min.js",
        "/[redacted]/x1",
        // A word that needs percent-encoding.
        "/%D0%BF%D1%80%D0%B8%D0%B2%D0%B5%D1%82", "/caf%C3%A9-1", "/2026-03-01x",
    ]) func whatIsANameStays(path: String) {
        #expect(PathTemplate(path).description == path)
    }

    /// Breaks when every user name is a separate endpoint, and no template can fold them.
    @Test func aWrittenTemplateFoldsWhatLooksLikeAName() {
        let templates = PathTemplates(["/users/me", "/users/{name}", "/{a}/{b}/c"])
        for (path, template) in [
            ("/users/me", "/users/me"), ("/users/ann?x=1", "/users/{name}"), ("/users/7", "/users/{name}"),
            ("/users/", "/users/"), ("/users/7/orders", "/users/{id}/orders"), ("/x/y/c", "/{a}/{b}/c"), ("", ""),
        ] {
            #expect(templates.template(of: path) == template)
        }
    }

    @Test func templatesAreFewAndBeginWithASlash() {
        #expect(NetworkQuestion.mistake(in: ["/a", "/{b}"]) == nil)
        #expect(NetworkQuestion.mistake(in: ["a"]) != nil)
        #expect(NetworkQuestion.mistake(in: ["/" + String(repeating: "a", count: 1_000)]) != nil)
        #expect(NetworkQuestion.mistake(in: [String](repeating: "/a", count: 101)) != nil)
    }

    @Test func aTemplateIsItsOwnTemplate() {
        for path in ["/users/{id}/orders/{date}", "/images/{id}.jpg"] {
            #expect(PathTemplate(path).description == path)
        }
    }
}
