import Testing

@testable import WaybillInspector

/// The inspector accepts forms from its own pages only.
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

    /// Breaks when a browser without `Sec-Fetch-Site` can send the form of a page whose host name only ends like ours.
    @Test(arguments: [
        "https://evilexample.com", "https://evil.example.com", "https://example.com.evil", "https://example.com:444",
        "https://example.comx", "https://xexample.com", "https://evil@example.com", "null", "", "example.com",
        "ftp://example.com", "https://EVILexample.com",
    ]) func aFormOfAnotherHostIsRefused(origin: String) {
        #expect(!isTaken(["host": "example.com", "origin": origin]))
    }

    /// Breaks when the inspector ignores the browser's `Sec-Fetch-Site` because the origin looks right.
    @Test func whatTheBrowserSaysOfTheSiteCountsFirst() {
        #expect(!isTaken(["host": "example.com", "origin": "https://example.com", "sec-fetch-site": "cross-site"]))
        #expect(!isTaken(["host": "example.com", "origin": "https://example.com", "sec-fetch-site": "same-site"]))
        #expect(isTaken(["host": "example.com", "origin": "https://example.com", "sec-fetch-site": "same-origin"]))
    }
}
