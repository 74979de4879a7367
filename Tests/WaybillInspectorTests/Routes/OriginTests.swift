import Testing

@testable import WaybillInspector

/// Whose forms are taken: those of the inspector's own pages.
@Suite(.timeLimit(.minutes(5))) struct OriginTests {
    private func isTaken(_ fields: [String: String]) -> Bool {
        do {
            try InspectorRequest(method: "POST", path: "/login", fields: fields).checkOrigin()
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: ["https://example.com", "http://example.com"]) func aFormOfTheSameHostIsTaken(origin: String) {
        #expect(isTaken(["host": "example.com", "origin": origin]))
    }

    /// Broken, a browser that sends no `Sec-Fetch-Site` would send the form of a page whose name only ends like ours.
    @Test(arguments: [
        "https://evilexample.com", "https://evil.example.com", "https://example.com.evil", "https://example.com:444",
        "https://example.comx", "https://xexample.com", "https://evil@example.com", "null", "", "example.com",
        "ftp://example.com", "https://EVILexample.com",
    ]) func aFormOfAnotherHostIsRefused(origin: String) {
        #expect(!isTaken(["host": "example.com", "origin": origin]))
    }

    /// Broken, what a browser says of the site would not count where the origin looks right.
    @Test func whatTheBrowserSaysOfTheSiteCountsFirst() {
        #expect(!isTaken(["host": "example.com", "origin": "https://example.com", "sec-fetch-site": "cross-site"]))
        #expect(!isTaken(["host": "example.com", "origin": "https://example.com", "sec-fetch-site": "same-site"]))
        #expect(isTaken(["host": "example.com", "origin": "https://example.com", "sec-fetch-site": "same-origin"]))
    }
}
