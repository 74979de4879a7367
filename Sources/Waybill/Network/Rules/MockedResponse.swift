public import Foundation
public import WaybillCore

/// The answer of a rule, in place of a server's.
///
/// It is the answer as it stands: a 302 is not followed, `Set-Cookie` sets no cookie, `Content-Encoding` decodes
/// nothing. A missing `Content-Length` is added. There is no body where HTTP has none (RFC 9110, section 6.4.1): after
/// `HEAD`, with 204 and with 304.
public struct MockedResponse: Sendable, Hashable {
    /// The status code, from 200 to 599.
    public var status: Int
    /// In order; those of one name are joined by commas, as `HTTPURLResponse` has them.
    public var headerFields: [Fact.HeaderField]
    /// The whole body.
    public var body: Data
    /// How long the answer takes to come.
    public var delay: Duration
    /// How long it takes at most: each answer takes a time that is drawn between ``delay`` and this; nil: always
    /// ``delay``.
    public var longestDelay: Duration?

    /// Makes an answer.
    public init(
        status: Int = 200, headerFields: [Fact.HeaderField] = [], body: Data = Data(), delay: Duration = .zero,
        longestDelay: Duration? = nil
    ) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
        self.delay = delay
        self.longestDelay = longestDelay
    }

    /// An answer that is a text in UTF-8, and says that it is JSON unless a content type is given.
    public static func text(
        _ text: String, status: Int = 200, contentType: String = "application/json", delay: Duration = .zero,
        longestDelay: Duration? = nil
    ) -> MockedResponse {
        MockedResponse(
            status: status, headerFields: [Fact.HeaderField(name: "Content-Type", value: contentType)],
            body: Data(text.utf8), delay: delay, longestDelay: longestDelay)
    }

    var problem: String? {
        (200...599).contains(status)
            ? Duration.problem(from: delay, to: longestDelay) : "No answer has the status \(status)."
    }
}
