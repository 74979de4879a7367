/// An immutable record, identified permanently by its source and its sequence. Times are whole microseconds.
package struct Fact: Equatable, Sendable {
    package var sequence: Int64
    /// The sequence of its part's `opened` fact, which can be this one; 0 for an exchange outside any transaction.
    package var part: Int64
    /// Microseconds since the start of the source; negative if it happened earlier and was recorded later.
    package var atMicroseconds: Int64
    package var content: Content

    package init(sequence: Int64, part: Int64, atMicroseconds: Int64, content: Content) {
        self.sequence = sequence
        self.part = part
        self.atMicroseconds = atMicroseconds
        self.content = content
    }

    package enum Content: Equatable, Sendable {
        indirect case opened(Opened)
        case event(Event)
        case attributesSet(AttributesSet)
        case closed(Closed)
        indirect case exchangeOpened(ExchangeOpened)
        indirect case exchangeClosed(ExchangeClosed)
        /// A kind that a later version of Waybill defines. It is kept, counted and passed on.
        case unknown(Unknown)
    }

    package struct Opened: Equatable, Sendable {
        package var transaction: GUID
        package var useCase: Int
        /// Whether another source began the transaction. A joined part never decides the outcome.
        package var isJoined: Bool
        package var timeoutMicroseconds: Int64
        package var cause: FactID?
        /// `nil` for a root transaction and for a joined part.
        package var parent: GUID?
        /// The `opened` sequence of this source's part of ``parent``; `nil` if another source has that part.
        package var parentPart: Int64?
        package var attributes: Attributes

        /// The timeout that sets and stores leave out: 24 hours.
        package static let usualTimeoutMicroseconds: Int64 = 86_400_000_000

        /// The sampling rate of the use case. `nil` if all of its transactions are delivered.
        package var sampling: Sampling?

        package init(
            transaction: GUID, useCase: Int, isJoined: Bool = false,
            timeoutMicroseconds: Int64 = usualTimeoutMicroseconds,
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

    package struct Event: Equatable, Sendable {
        package var code: Int
        package var error: RecordedError?
        package var attributes: Attributes

        package init(code: Int, error: RecordedError? = nil, attributes: Attributes = [:]) {
            self.code = code
            self.error = error
            self.attributes = attributes
        }

        @inlinable
        package init(plain code: Int) {
            self.code = code
            error = nil
            attributes = Attributes()
        }

        /// Whether the event consists of its code only, as most events do. Such an event needs no redaction.
        @inlinable package var isPlain: Bool {
            // A pattern match, because a comparison with `nil` copies the error.
            let hasError = if case .some = error { true } else { false }
            return Self.isPlain(hasError: hasError, attributes: attributes)
        }

        @inlinable
        package static func isPlain(hasError: Bool, attributes: Attributes) -> Bool {
            !hasError && attributes.isEmpty
        }
    }

    package struct AttributesSet: Equatable, Sendable {
        package var attributes: Attributes
        /// The names that no longer have a value: sorted, unique, and disjoint from ``attributes``.
        package var removed: [String]

        package init(attributes: Attributes = [:], removed: [String] = []) {
            self.attributes = attributes
            self.removed = removed
        }

        package var isEmpty: Bool { attributes.isEmpty && removed.isEmpty }
    }

    package struct Unknown: Equatable, Sendable {
        /// The longest text of the members, in bytes. Readers reject longer facts.
        package static let byteLimit = 16 << 10

        package var kind: String
        /// The members other than those of every fact, as the text of a JSON object.
        package var members: String

        package init(kind: String, members: String) {
            (self.kind, self.members) = (kind, members)
        }
    }

    package struct Closed: Equatable, Sendable {
        package var outcome: TransactionOutcome
        package var error: RecordedError?
        package var attributes: Attributes

        package init(outcome: TransactionOutcome, error: RecordedError? = nil, attributes: Attributes = [:]) {
            self.outcome = outcome
            self.error = error
            self.attributes = attributes
        }
    }

    /// A redacted request, recorded before it is sent (client) or when it arrives (server).
    package struct ExchangeOpened: Equatable, Sendable {
        package var role: ExchangeRole
        package var method: String
        /// `nil` if a server does not know it.
        package var scheme: String?
        package var host: String?
        /// `nil` for the scheme's default.
        package var port: Int?
        /// As on the wire, percent-encoded.
        package var path: String
        package var query: String?
        package var headerFields: [HeaderField]

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

    package struct ExchangeClosed: Equatable, Sendable {
        /// The sequence of its `exchange_opened`, in the same part of the same source.
        package var exchange: Int64
        package var state: ExchangeState
        package var status: Int?
        /// Microseconds since the start of the source.
        package var firstByteAtMicroseconds: Int64?
        package var sentByteCount: Int64?
        /// Bytes of the response's body as the caller received them, after decoding.
        package var receivedByteCount: Int64?
        /// In order if the platform preserves it, otherwise sorted by name.
        package var headerFields: [HeaderField]
        package var error: RecordedError?
        package var transfer: Transfer

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
    package init(_ name: String, _ value: (any AttributeConvertible)?) {
        self.init()
        if let value = value?.attributeValue { attributes[name] = value } else { removed = [name] }
    }

    package var label: String {
        removed.isEmpty
            ? "attributes set"
            : (attributes.isEmpty ? "" : "attributes set, ") + "removed \(removed.joined(separator: ", "))"
    }
}

extension Attributes {
    /// The most attributes of one part that are shown: twice what an opening can have. Waybill never records more.
    private static var limit: Int { 2 * Limits.attributes }

    package mutating func apply(_ changes: Fact.AttributesSet) {
        for name in changes.removed { self[name] = nil }
        for (name, value) in changes.attributes.sortedByName where count < Self.limit || self[name] != nil {
            self[name] = value
        }
    }
}

/// The identity of a fact: its source and its sequence in that source.
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
    /// The name, in its original case.
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
    /// The caller cancelled it.
    case cancelled = 3
}

extension FactID: CustomStringConvertible {
    /// The source and the sequence: `01890a5d-ac96-774b-bcce-b302099a8057:17`.
    public var description: String { "\(source):\(sequence)" }

    /// The same with the source's support code, which is easy to read aloud: `K7QD-3M2X:17`.
    public var code: String { "\(source.supportCode):\(sequence)" }

    /// Parses the format of ``description``; `nil` for other text.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let source = GUID(text[..<colon]),
            let sequence = Self.sequence(text[text.index(after: colon)...])
        else { return nil }
        self.init(source: source, sequence: sequence)
    }

    package static func sequence(_ digits: some StringProtocol) -> Int64? {
        guard digits.utf8.allSatisfy(\.isDigit), let sequence = Int64(digits) else { return nil }
        return (1...Limits.largestInteger).contains(sequence) ? sequence : nil
    }
}

/// A span ID (W3C Trace Context, section 3.2.2.4). One of 37 million traces of a million spans has a collision.
package struct SpanID: Hashable, Sendable {
    package let rawValue: UInt64

    /// An existing ID; `nil` for 0, which is invalid.
    package init?(rawValue: UInt64) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }

    /// `nil` unless it is 8 bytes that are not all zero.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        self.init(rawValue: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    package init(_ fact: FactID) {
        var hash = fact.source.high.splitMixed
        hash = (hash ^ fact.source.low).splitMixed
        hash = (hash ^ UInt64(bitPattern: Int64(fact.sequence))).splitMixed
        rawValue = hash == 0 ? 1 : hash
    }
}

extension SpanID: CustomStringConvertible {
    package var description: String { rawValue.hexadecimalDigits }
}

extension GUID {
    /// The trace ID (W3C Trace Context, section 3.2.2.3): 32 hexadecimal digits; `nil` if all are zero.
    package var traceID: String? { high == 0 && low == 0 ? nil : high.hexadecimalDigits + low.hexadecimalDigits }
}

extension UInt64 {
    /// One step of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
    var splitMixed: UInt64 {
        var value = self &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    package var hexadecimalDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
