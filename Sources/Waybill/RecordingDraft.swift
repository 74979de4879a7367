import Foundation
public import WaybillCore

/// A fact that is about to be recorded, before redaction.
///
/// ``TransactionManager/Options/willRecord`` receives it and returns it, changed or not, or `nil`. You can change the
/// `var` properties. Waybill redacts the result and cuts it to the limits.
///
/// A collector's `willStore` receives the same drafts, of the facts that arrive there.
///
/// ## Usage
///
/// ```swift
/// options.willRecord = { draft in
///     switch draft {
///     case .event(var event):
///         event.attributes["note"] = nil
///         return .event(event)
///     case .exchangeOpened(let request) where request.url.contains("/medical/"):
///         return nil
///     default:
///         return draft
///     }
/// }
/// ```
///
/// Keep the `default:`; a later version may have more cases.
public enum RecordingDraft: Equatable, Sendable {
    /// A transaction is begun or joined. If withheld, nothing of it is recorded, and requests have no header field.
    case opened(Opened)
    /// An event.
    case event(Event)
    /// Attributes of this process's part were set or removed. If withheld, the previous values stay.
    case attributesSet(AttributesSet)
    /// This process's part in a transaction ended. If withheld, it stays open and eventually times out.
    case closed(Closed)
    /// A client is about to send a request, or a server received one. If withheld, nothing of the exchange is recorded.
    case exchangeOpened(ExchangeOpened)
    /// An exchange ended. If withheld, it stays in progress.
    case exchangeClosed(ExchangeClosed)
    /// A body, or one WebSocket message, that ``NetworkOptions/bodies`` asks for. If withheld, it is not stored.
    case body(Body)

    /// The beginning of this process's part in a transaction.
    public struct Opened: Equatable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// Whether another process began the transaction.
        public let isJoined: Bool
        /// The parent transaction; `nil` if there is none.
        public let parent: GUID?
        /// The attributes of the opening.
        public var attributes: Attributes
    }

    /// An event.
    public struct Event: Equatable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// The event's code, scoped to the use case.
        public let code: Int
        /// The name of an event that was logged by name; `nil` if it was logged by code.
        public let name: String?
        /// The error, if any. ``TransactionManager/Options/Privacy-swift.struct/keepsErrorTexts`` keeps its text.
        public var error: RecordedError?
        /// The event's attributes.
        public var attributes: Attributes
    }

    /// A change of attributes after the opening.
    public struct AttributesSet: Equatable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// The attributes that were set.
        public var attributes: Attributes
        /// The names of the attributes that were removed.
        public let removed: [String]
    }

    /// The end of this process's part in a transaction.
    public struct Closed: Equatable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// The outcome.
        public let outcome: TransactionOutcome
        /// The error; `nil` if there was none.
        public var error: RecordedError?
        /// The attributes of the ending.
        public var attributes: Attributes
    }

    /// The request of an exchange.
    public struct ExchangeOpened: Equatable, Sendable {
        /// The transaction of the exchange; `nil` outside any.
        public let transaction: GUID?
        /// Whether this process is the client or the server.
        public let role: ExchangeRole
        /// The method, such as `GET`.
        public var method: String
        /// A client's whole URL. A server's begins with `//` and the requested host and port, which may be empty.
        public var url: String
        /// The header fields, in the order that the HTTP stack keeps.
        public var headerFields: [HeaderField]
    }

    /// The end of an exchange.
    public struct ExchangeClosed: Equatable, Sendable {
        /// The request as the hook returned it.
        public let request: ExchangeOpened
        /// The final state of the exchange.
        public let state: ExchangeState
        /// The status code; `nil` without a response.
        public let status: Int?
        /// The response's header fields, in the order that the HTTP stack keeps.
        public var headerFields: [HeaderField]
        /// The error, if any. ``TransactionManager/Options/Privacy-swift.struct/keepsErrorTexts`` keeps its text.
        public var error: RecordedError?
        /// The redirects that were followed, in order. Remove one to keep it out of the record.
        public var redirects: [Redirect]
        /// The reason in the WebSocket's close frame; `nil` without one.
        public var closeReason: String?
    }

    /// A redirect that was followed.
    public struct Redirect: Equatable, Sendable {
        /// The target of the redirect.
        public var url: String
        fileprivate let fact: Fact.Redirect

        /// The status code, e.g. 302.
        public var status: Int { fact.status }
    }

    /// A body of an exchange, or a message of a WebSocket.
    public struct Body: Equatable, Sendable {
        /// The request of the exchange, as the hook returned it.
        public let request: ExchangeOpened
        /// Whether it is the request's or the response's body.
        public let direction: ExchangeBody.Direction
        /// The `Content-Type`; `nil` without one. For a WebSocket message, `text/plain` or `application/octet-stream`.
        public let contentType: String?
        /// The size of the whole body in bytes.
        public let byteCount: Int64
        /// Whether ``bytes`` holds the whole body rather than its beginning.
        public let isWhole: Bool
        /// The bytes to store, at most ``BodyPolicy/maximumByteCount``. The hook's result is cut to that, too.
        public var bytes: [UInt8]
    }
}

extension RecordingDraft {
    func isOfKind(of other: RecordingDraft) -> Bool { kind == other.kind }

    private var kind: Int {
        switch self {
        case .opened: 0
        case .event: 1
        case .closed: 2
        case .exchangeOpened: 3
        case .exchangeClosed: 4
        case .body: 5
        case .attributesSet: 6
        }
    }
}

extension RecordingDraft.Redirect {
    init(_ fact: Fact.Redirect) { (url, self.fact) = (fact.url, fact) }

    var changed: Fact.Redirect {
        var fact = fact
        fact.url = url
        return fact
    }
}

extension RecordingDraft.ExchangeOpened {
    init(_ request: ExchangeRequest, transaction: GUID?) {
        self.init(
            transaction: transaction, role: .client, method: request.method, url: request.url.absoluteString,
            headerFields: request.headerFields)
    }
}

struct RecordingHook: Sendable {
    /// Facts that the hook records itself skip it, or it would recurse forever.
    @TaskLocal static var isAsking = false

    let willRecord: @Sendable (RecordingDraft) -> RecordingDraft?
    let counters: Counters

    func ask(_ draft: RecordingDraft) -> RecordingDraft? {
        let changed = Self.$isAsking.withValue(true) { willRecord(draft) }
        guard let changed, changed.isOfKind(of: draft) else {
            counters.add(to: \.withheld)
            return nil
        }
        return changed
    }
}
