/// An immutable record with its own sequence in its source: the unit of recording, delivery and counting.
///
/// (source, sequence) identifies a fact permanently. The source is not repeated in the value: facts are always held by
/// source. Its times are whole microseconds, as the format has them; records, questions and answers have dates and
/// durations.
package struct Fact: Hashable, Sendable {
    /// 1 for the first fact of a source, then one more for each.
    package var sequence: Int64
    /// The sequence of the `opened` fact of the part it belongs to; its own for an `opened`; 0 for an exchange outside
    /// any transaction.
    package var part: Int64
    /// Microseconds from the start of its source to this fact; below 0 if it happened before that, and was recorded
    /// later.
    package var atMicroseconds: Int64
    /// What happened.
    package var content: Content

    /// Makes a fact.
    package init(sequence: Int64, part: Int64, atMicroseconds: Int64, content: Content) {
        self.sequence = sequence
        self.part = part
        self.atMicroseconds = atMicroseconds
        self.content = content
    }

    /// The kinds of facts. Five are told apart where facts are counted and sent; see ``attributesSet(_:)``.
    package enum Content: Hashable, Sendable {
        /// A part was begun or joined.
        indirect case opened(Opened)
        /// Something happened in the use case.
        case event(Event)
        /// Attributes of a part were set or removed after it was opened. No event: it is in no list, count or question of
        /// events. In a set it is written as one, so that readers who do not know it take it.
        case attributesSet(AttributesSet)
        /// A part was given its outcome.
        case closed(Closed)
        /// An HTTP exchange is about to start (client) or has arrived (server).
        indirect case exchangeOpened(ExchangeOpened)
        /// An HTTP exchange ended.
        indirect case exchangeClosed(ExchangeClosed)
    }

    /// One source's share in a transaction begins.
    package struct Opened: Hashable, Sendable {
        /// The transaction's ID, the same for all its parts.
        package var transaction: GUID
        /// The use case's code.
        package var useCase: Int
        /// Whether another source began the transaction; a joined part never decides its outcome.
        package var isJoined: Bool
        /// Microseconds without a fact after which the transaction counts as timed out.
        package var timeoutMicroseconds: Int64
        /// The exchange that caused a joined part, as the header field told it; nil where none was told.
        package var cause: FactID?
        /// The transaction below which this one was begun; nil where it stands by itself, and in a joined part.
        package var parent: GUID?
        /// The sequence of the `opened` fact of the part of ``parent`` that the same source has; nil where another
        /// source has it, or nobody said.
        package var parentPart: Int64?
        /// What the caller said about the transaction.
        package var attributes: Attributes
        /// By what share the transactions of its use case were chosen; nil: all of them are delivered.
        package var sampling: Sampling?

        /// Makes the content of an `opened` fact.
        package init(
            transaction: GUID, useCase: Int, isJoined: Bool = false, timeoutMicroseconds: Int64 = 86_400_000_000,
            cause: FactID? = nil, parent: GUID? = nil, parentPart: Int64? = nil,
            attributes: Attributes = [:], sampling: Sampling? = nil
        ) {
            self.transaction = transaction
            self.useCase = useCase
            self.isJoined = isJoined
            self.timeoutMicroseconds = timeoutMicroseconds
            self.cause = cause
            self.parent = parent
            self.parentPart = parentPart
            self.attributes = attributes
            self.sampling = sampling
        }
    }

    /// Something happened in the use case.
    package struct Event: Hashable, Sendable {
        /// The event's code, scoped to the use case.
        package var code: Int
        /// What went wrong with it; nil when nothing did.
        package var error: RecordedError?
        /// What the caller said about it.
        package var attributes: Attributes

        /// Makes the content of an `event` fact.
        package init(code: Int, error: RecordedError? = nil, attributes: Attributes = [:]) {
            self.code = code
            self.error = error
            self.attributes = attributes
        }

        /// Makes one of which there is no more to say.
        @inlinable
        package init(plain code: Int) {
            self.code = code
            error = nil
            attributes = Attributes()
        }

        /// Whether there is no more to say of it than its code, as of most: what has nothing else takes no room, and
        /// needs no redaction.
        ///
        /// Decided here and in ``isPlain(hasError:attributes:)`` alone.
        @inlinable package var isPlain: Bool {
            // By its case: to be compared with nil, an error is copied.
            let hasError = if case .some = error { true } else { false }
            return Self.isPlain(hasError: hasError, attributes: attributes)
        }

        /// Whether an event of this would be plain: to be asked before it is made, which costs more than to record it.
        @inlinable
        package static func isPlain(hasError: Bool, attributes: Attributes) -> Bool {
            !hasError && attributes.isEmpty
        }
    }

    /// What was said about a part after it was opened.
    package struct AttributesSet: Hashable, Sendable {
        /// The names that were given a value, each with the value that counts from here on.
        package var attributes: Attributes
        /// The names that have no value any more, in order; each once, and none that is in ``attributes``.
        package var removed: [String]

        /// Makes the content of such a fact.
        package init(attributes: Attributes = [:], removed: [String] = []) {
            self.attributes = attributes
            self.removed = removed
        }

        /// Whether it says anything.
        package var isEmpty: Bool { attributes.isEmpty && removed.isEmpty }
    }

    /// A part was given its outcome.
    package struct Closed: Hashable, Sendable {
        /// One of the four that can be recorded.
        package var outcome: TransactionOutcome
        /// Why it did not succeed; nil where nothing was said.
        package var error: RecordedError?
        /// What the caller said about the ending.
        package var attributes: Attributes

        /// Makes the content of a `closed` fact.
        package init(outcome: TransactionOutcome, error: RecordedError? = nil, attributes: Attributes = [:]) {
            self.outcome = outcome
            self.error = error
            self.attributes = attributes
        }
    }

    /// A request, redacted, recorded before it was sent (client) or when it arrived (server).
    package struct ExchangeOpened: Hashable, Sendable {
        /// Which end recorded it.
        package var role: ExchangeRole
        /// `GET`, `POST`.
        package var method: String
        /// `https`; nil where a server does not know it.
        package var scheme: String?
        /// Without port; nil where it is not known.
        package var host: String?
        /// nil for the scheme's own.
        package var port: Int?
        /// As on the wire, percent-encoded; empty for none.
        package var path: String
        /// As on the wire, without the question mark; nil for none.
        package var query: String?
        /// In order.
        package var headerFields: [HeaderField]

        /// Makes the content of an `exchange_opened` fact.
        package init(
            role: ExchangeRole = .client, method: String, scheme: String? = nil, host: String? = nil, port: Int? = nil,
            path: String,
            query: String? = nil, headerFields: [HeaderField] = []
        ) {
            self.role = role
            self.method = method
            self.scheme = scheme
            self.host = host
            self.port = port
            self.path = path
            self.query = query
            self.headerFields = headerFields
        }
    }

    /// The end of an exchange.
    package struct ExchangeClosed: Hashable, Sendable {
        /// The sequence of its `exchange_opened`, in the same part of the same source.
        package var exchange: Int64
        /// How it ended.
        package var state: ExchangeState
        /// The status code; nil where no response came.
        package var status: Int?
        /// Microseconds from the start of the source to the first byte of the response; nil where it was not measured.
        package var firstByteAtMicroseconds: Int64?
        /// Bytes of the request's body; nil where it is not known.
        package var sentByteCount: Int64?
        /// Bytes of the response's body as the caller got them; nil where it is not known.
        package var receivedByteCount: Int64?
        /// In order where the platform keeps it, else by name.
        package var headerFields: [HeaderField]
        /// Why it failed; nil when it did not.
        package var error: RecordedError?
        /// How it went on its way.
        package var transfer: Transfer

        /// Makes the content of an `exchange_closed` fact.
        package init(
            exchange: Int64, state: ExchangeState, status: Int? = nil, firstByteAtMicroseconds: Int64? = nil,
            sentByteCount: Int64? = nil,
            receivedByteCount: Int64? = nil, headerFields: [HeaderField] = [], error: RecordedError? = nil,
            transfer: Transfer = Transfer()
        ) {
            self.exchange = exchange
            self.state = state
            self.status = status
            self.firstByteAtMicroseconds = firstByteAtMicroseconds
            self.sentByteCount = sentByteCount
            self.receivedByteCount = receivedByteCount
            self.headerFields = headerFields
            self.error = error
            self.transfer = transfer
        }
    }
}

extension Fact.AttributesSet {
    /// One name that gets a value, or loses it: nil.
    package init(_ name: String, _ value: (any AttributeConvertible)?) {
        self.init()
        if let value = value?.attributeValue { attributes[name] = value } else { removed = [name] }
    }

    /// What it says, in a few words beside its attributes: `attributes set`, `removed user`.
    package var label: String {
        removed.isEmpty
            ? "attributes set"
            : (attributes.isEmpty ? "" : "attributes set, ") + "removed \(removed.joined(separator: ", "))"
    }
}

extension Attributes {
    /// Names of one part that are shown and grouped by: those of its opening, and as many that were set since; more come
    /// from no recorder of ours.
    private static var limit: Int { 2 * Limits.attributes }

    /// Makes them those that count after some were set.
    package mutating func apply(_ changes: Fact.AttributesSet) {
        for name in changes.removed { self[name] = nil }
        for (name, value) in changes.attributes.sorted(by: { $0.key < $1.key })
        where count < Self.limit || self[name] != nil {
            self[name] = value
        }
    }
}

/// The identity of a fact: the source that recorded it, and its sequence there.
public struct FactID: Hashable, Sendable, Codable {
    /// The source's ID.
    public var source: GUID
    /// The sequence in that source, from 1.
    public var sequence: Int64

    /// Creates an ID.
    public init(source: GUID, sequence: Int64) {
        self.source = source
        self.sequence = sequence
    }
}

/// A header field of a request or a response. Its value is redacted before it is stored.
public struct HeaderField: Hashable, Sendable, Codable {
    /// The name, as it was written.
    public var name: String
    /// The value.
    public var value: String

    /// Creates a field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// The end of an HTTP exchange that recorded it.
public enum ExchangeRole: Int, Hashable, Sendable, CaseIterable {
    /// The end that sends the request.
    case client = 0
    /// The end that answers it.
    case server = 1
}

/// How an HTTP exchange ended.
public enum ExchangeState: Int, Hashable, Sendable, CaseIterable {
    /// With a whole response, of any status.
    case completed = 1
    /// Without a whole response; the error says why.
    case failed = 2
    /// The caller canceled it.
    case canceled = 3
}

extension FactID: CustomStringConvertible {
    /// The source and the sequence: `01890a5d-ac96-774b-bcce-b302099a8057:17`.
    public var description: String { "\(source):\(sequence)" }

    /// The same with the source's support code, to be read out: `K7QD-3M2X:17`.
    public var code: String { "\(source.supportCode):\(sequence)" }

    /// Reads the form of ``description``; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let source = GUID(text[..<colon]),
            let sequence = Self.sequence(text[text.index(after: colon)...])
        else { return nil }
        self.init(source: source, sequence: sequence)
    }

    /// Reads a sequence: digits alone, from 1 to 2^53 - 1; nil for anything else.
    package static func sequence(_ digits: some StringProtocol) -> Int64? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let sequence = Int64(digits),
            (1...Limits.largestInteger).contains(sequence)
        else { return nil }
        return sequence
    }
}

/// What a fact is called where it is a span (W3C Trace Context, section 3.2.2.4): 8 bytes, never all zero, the same
/// wherever it is computed.
///
/// Half as long as what it stands for, so two facts may share one; within a trace of a million spans the odds are one
/// in 10 million.
package struct SpanID: Hashable, Sendable {
    package let rawValue: UInt64

    /// One that somebody else has made; nil for 0, which is none.
    package init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Mixes source and sequence.
    package init(_ fact: FactID) {
        var hash = fact.source.high.splitMixed
        hash = (hash ^ fact.source.low).splitMixed
        hash = (hash ^ UInt64(bitPattern: Int64(fact.sequence))).splitMixed
        rawValue = hash == 0 ? 1 : hash
    }
}

extension SpanID: CustomStringConvertible {
    /// 16 hexadecimal digits in lower case.
    package var description: String { rawValue.hexadecimalDigits }
}

extension GUID {
    /// The ID of its trace (W3C Trace Context, section 3.2.2.3): the 16 bytes as 32 hexadecimal digits; nil where all
    /// are zero, which is none.
    package var traceID: String? { high == 0 && low == 0 ? nil : high.hexadecimalDigits + low.hexadecimalDigits }
}

extension UInt64 {
    /// The next number of SplitMix64 from this state (Steele, Lea, Flood: "Fast splittable pseudorandom number
    /// generators", 2014).
    var splitMixed: UInt64 {
        var value = self &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    fileprivate var hexadecimalDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
