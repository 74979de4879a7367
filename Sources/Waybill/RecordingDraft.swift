import Foundation
public import WaybillCore

/// What is about to be recorded, as it came: nothing is redacted yet, and nothing stored.
///
/// ``TransactionManager/Options/willRecord`` gets it, and gives it back changed, as it is, or not at all. What is a
/// `var` can be changed; what says which transaction, event or exchange it is, how it ended and when, cannot. What
/// comes back is redacted and cut to the limits after that, as everything is.
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
public enum RecordingDraft: Hashable, Sendable {
    /// A transaction is begun or joined. Withheld, nothing of it is recorded by this process, and no request carries
    /// its header field.
    case opened(Opened)
    /// Something happened in a use case.
    case event(Event)
    /// Attributes of this process's part in a transaction were set or removed, by the caller or with the context.
    /// Withheld, those from before count.
    case attributesSet(AttributesSet)
    /// This process's part in a transaction is over. Withheld, it stays open, and counts as timed out at last.
    case closed(Closed)
    /// A request is about to be sent (client) or has come in (server). Withheld, nothing of the exchange is recorded;
    /// the request is sent all the same.
    case exchangeOpened(ExchangeOpened)
    /// An exchange is over. Withheld, it stays in progress.
    case exchangeClosed(ExchangeClosed)
    /// A body that ``NetworkOptions/bodies`` asks for has passed, or one message of a WebSocket. Withheld, nothing is
    /// kept of it.
    case body(Body)

    /// The beginning of this process's part in a transaction.
    public struct Opened: Hashable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// Whether another process began the transaction.
        public let isJoined: Bool
        /// The transaction below which it is begun; nil where it stands by itself.
        public let parent: GUID?
        /// What the caller said about it.
        public var attributes: Attributes
    }

    /// An event.
    public struct Event: Hashable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// The event's code, scoped to the use case.
        public let code: Int
        /// What it is called, where it was logged by a name and not by a code; else nil.
        public let name: String?
        /// What went wrong; nil when nothing did. Its text is nil unless
        /// ``TransactionManager/Options/keepsErrorTexts`` asks for it.
        public var error: RecordedError?
        /// What the caller said about it.
        public var attributes: Attributes
    }

    /// What was said about a part after its beginning.
    public struct AttributesSet: Hashable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// The names that got a value.
        public var attributes: Attributes
        /// The names that have none any more.
        public let removed: [String]
    }

    /// The end of this process's part in a transaction.
    public struct Closed: Hashable, Sendable {
        /// The transaction's ID.
        public let transaction: GUID
        /// The use case's code.
        public let useCase: Int
        /// How it ended.
        public let outcome: TransactionOutcome
        /// Why it did not succeed; nil where nothing was said.
        public var error: RecordedError?
        /// What the caller said about the ending.
        public var attributes: Attributes
    }

    /// The request of an exchange.
    public struct ExchangeOpened: Hashable, Sendable {
        /// The transaction it belongs to; nil outside any.
        public let transaction: GUID?
        /// Which end of the exchange this process is.
        public let role: ExchangeRole
        /// `GET`, `POST`.
        public var method: String
        /// A client's whole; a server's begins with `//` and the host and port that were asked for, which may be empty:
        /// `//api.example.com/login?step=1`.
        public var url: String
        /// In order, as far as the HTTP stack keeps it.
        public var headerFields: [HeaderField]
    }

    /// What became of an exchange.
    public struct ExchangeClosed: Hashable, Sendable {
        /// The request, as the hook left it.
        public let request: ExchangeOpened
        /// How it ended.
        public let state: ExchangeState
        /// The status code; nil where no response came.
        public let status: Int?
        /// Of the response, in order, as far as the HTTP stack keeps it.
        public var headerFields: [HeaderField]
        /// Why it failed; nil when it did not. Its text is nil unless
        /// ``TransactionManager/Options/keepsErrorTexts`` asks for it.
        public var error: RecordedError?
        /// The redirects that were followed, in order; those that are taken out are not recorded.
        public var redirects: [Redirect]
        /// What the close frame of a WebSocket said in words; nil where there was none, or it said nothing.
        public var closeReason: String?
    }

    /// A redirect that was followed.
    public struct Redirect: Hashable, Sendable {
        /// Where it led to.
        public var url: String
        /// With the time and the status.
        fileprivate let fact: Fact.Redirect

        /// The status code, e.g. 302.
        public var status: Int { fact.status }
    }

    /// A body of an exchange, or a message of a WebSocket.
    public struct Body: Hashable, Sendable {
        /// The request of the exchange, as the hook left it.
        public let request: ExchangeOpened
        /// Whether the request's body or the response's.
        public let direction: ExchangeBody.Direction
        /// The value of its `Content-Type` field; nil where it has none. Of a message `text/plain` or
        /// `application/octet-stream`.
        public let contentType: String?
        /// Bytes of the whole body.
        public let byteCount: Int64
        /// Whether ``bytes`` are all of it; else they are its beginning.
        public let isWhole: Bool
        /// What is to be kept: ``BodyPolicy/maximumByteCount`` bytes at most, also of what the hook makes of it.
        public var bytes: [UInt8]
    }
}

extension RecordingDraft {
    /// Whether both are of one case.
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

    /// What is recorded of it, not redacted yet.
    var changed: Fact.Redirect {
        var fact = fact
        fact.url = url
        return fact
    }
}

extension RecordingDraft.ExchangeOpened {
    /// A client's request.
    init(_ request: ExchangeRequest, transaction: GUID?) {
        self.init(
            transaction: transaction, role: .client, method: request.method, url: request.url.absoluteString,
            headerFields: request.headerFields)
    }
}

/// Asks the app about what is about to be recorded: ``TransactionManager/Options/willRecord``.
struct RecordingHook: Sendable {
    /// Whether the app is being asked here. What it records while it answers is recorded without asking again, since it
    /// would be asked without end; so is what tasks record that it starts then.
    @TaskLocal static var isAsking = false

    let willRecord: @Sendable (RecordingDraft) -> RecordingDraft?
    let counters: Counters

    /// What the app makes of it, of the same case; nil: it is withheld, and counted.
    func ask(_ draft: RecordingDraft) -> RecordingDraft? {
        let changed = Self.$isAsking.withValue(true) { willRecord(draft) }
        guard let changed, changed.isOfKind(of: draft) else {
            counters.add(to: \.withheld)
            return nil
        }
        return changed
    }
}
