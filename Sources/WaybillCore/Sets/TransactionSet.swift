/// One export request, in the format of `Schemas/transaction-set.v1.schema.json`.
package struct TransactionSet: Equatable, Sendable {
    /// A body contains the version too, for sets in files.
    package static let version = 1
    package static let mediaType = "application/vnd.waybill.transaction-set.v1+json"

    package var id: GUID
    package var sources: [Share]
    /// The facts that could not be read, in order of source and index. Not part of the JSON.
    package var rejections: [Receipt.Rejection] = []

    package init(id: GUID, sources: [Share], rejections: [Receipt.Rejection] = []) {
        (self.id, self.sources, self.rejections) = (id, sources, rejections)
    }

    package var factCount: Int { sources.reduce(0) { $0 + $1.facts.count } }

    package var sentFactCount: Int { factCount + rejections.count }

    package var rowCount: Int {
        sources.reduce(0) { $0 + 1 + $1.facts.count + $1.clocks.count + $1.names.count + $1.dropped.count }
    }

    package struct Share: Equatable, Sendable {
        package var source: SourceIdentity
        /// In chronological order; at least one, at 0.
        package var clocks: [ClockAnchor]
        /// If true, parts that the source left open are interrupted.
        package var hasEnded: Bool
        package var endedBy: SourceEnd?
        package var names: [RecordedName]
        package var ledger: Ledger
        /// All dropped ranges; if a source has very many, only those that the receiver does not know yet.
        package var dropped: [DroppedRange]
        package var continuedParts: [ContinuedPart]
        package var facts: [Fact]
        /// Authenticates the source. Without it, a receiver ignores drops and the source's end.
        package var sourceProof: IdentityProof?
        /// Authenticates the source's claim to belong to its installation.
        package var installationProof: IdentityProof?

        package init(
            source: SourceIdentity, clocks: [ClockAnchor], hasEnded: Bool = false, endedBy: SourceEnd? = nil,
            names: [RecordedName] = [], ledger: Ledger = Ledger(),
            dropped: [DroppedRange] = [], continuedParts: [ContinuedPart] = [], facts: [Fact] = [],
            sourceProof: IdentityProof? = nil, installationProof: IdentityProof? = nil
        ) {
            self.source = source
            self.clocks = clocks
            self.hasEnded = hasEnded
            self.endedBy = endedBy
            self.names = names
            self.ledger = ledger
            self.dropped = dropped
            self.continuedParts = continuedParts
            self.facts = facts
            self.sourceProof = sourceProof
            self.installationProof = installationProof
        }
    }
}

extension Receipt {
    /// A fact that the collector rejected.
    public struct Rejection: Equatable, Sendable {
        /// The source of the fact.
        public var source: GUID
        /// The fact's sequence; `nil` if it could not be read.
        public var sequence: Int64?
        /// The index in the source's list of facts, from 0.
        public var index: Int
        /// The reason, in one sentence.
        public var reason: String

        /// Creates a rejection.
        public init(source: GUID, sequence: Int64?, index: Int, reason: String) {
            self.source = source
            self.sequence = sequence
            self.index = index
            self.reason = reason
        }

        /// The reason if another fact has the same source and sequence. The sender then continues under a new source.
        package static let sequenceIsTaken =
            "another fact of this source has this sequence: the process was cloned, or its disk was restored from a snapshot"
    }
}

package struct RefusedSource: Equatable, Sendable {
    package var source: GUID
    package var reason: String

    package init(source: GUID, reason: String) {
        self.source = source
        self.reason = reason
    }
}

/// A collector's verdicts on a set. Facts without a rejection are accepted, or known already.
///
/// Its JSON format is `Schemas/receipt.v1.schema.json`, with the media type ``mediaType``.
public struct Receipt: Equatable, Sendable {
    /// The media type of version 1.
    public static let mediaType = "application/vnd.waybill.receipt.v1+json"

    /// The ID of the set.
    public var set: GUID
    /// The number of facts that were new.
    public var acceptedCount: Int
    /// The number of facts that the collector had received before.
    public var knownCount: Int
    /// The rejected facts; empty if there are none.
    public var rejections: [Receipt.Rejection]
    /// The sources whose shares were refused as a whole. Their facts are among the rejections, too.
    package var refusedSources: [RefusedSource]
    /// The number of new code names that were not stored because there are too many. Their facts are accepted.
    public var refusedNameCount: Int
    /// The sampling rates that the collector requests, at most 256; empty to leave the app's rates in effect.
    public var samplingRates: [SamplingRate]
    /// How long to wait before the next set, at most a day; `nil` if the collector did not say.
    ///
    /// Not part of the JSON: HTTP uses `Retry-After` (RFC 9110, section 10.2.3).
    public var retryAfter: Duration?

    /// Creates a receipt. The counts and `rejections` together must account for every fact of the set.
    public init(
        set: GUID, acceptedCount: Int, knownCount: Int = 0, rejections: [Receipt.Rejection] = [],
        refusedNameCount: Int = 0, samplingRates: [SamplingRate] = [], retryAfter: Duration? = nil
    ) {
        self.set = set
        self.acceptedCount = acceptedCount
        self.knownCount = knownCount
        self.rejections = rejections
        self.refusedSources = []
        self.refusedNameCount = refusedNameCount
        self.samplingRates = samplingRates
        self.retryAfter = retryAfter
    }

    /// The number of accepted, known and rejected facts. It must equal the number of facts sent.
    public var factCount: Int { acceptedCount + knownCount + rejections.count }
}

package struct SetDecodingFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package var kind: JSONFailure.Kind
    /// The location as a JSON pointer (RFC 6901); empty for the document itself.
    package var pointer: String
    /// One sentence without a full stop.
    package var message: String

    package init(kind: JSONFailure.Kind, pointer: String, message: String) {
        self.kind = kind
        self.pointer = pointer
        self.message = message
    }

    init(_ failure: JSONFailure, in bytes: UnsafeBufferPointer<UInt8>) {
        var failure = failure
        if failure.kind == .invalid {
            // A later fault can make the document malformed, which takes precedence.
            do throws(JSONFailure) {
                try JSONReader.read(bytes) { reader throws(JSONFailure) in try reader.skipValue() }
            } catch {
                failure = error
            }
        }
        self.init(
            kind: failure.kind, pointer: JSONPointer.path(to: failure.offset, in: bytes),
            message: failure.message + (failure.kind == .malformed ? ", at byte \(failure.offset)" : ""))
    }

    package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }

    package static func decoding<Value>(
        _ bytes: [UInt8], _ body: (inout JSONReader) throws(JSONFailure) -> Value
    ) throws(SetDecodingFailure) -> Value {
        try bytes.withUnsafeBufferPointer { buffer throws(SetDecodingFailure) in
            do throws(JSONFailure) { return try JSONReader.read(buffer, body) } catch {
                throw SetDecodingFailure(error, in: buffer)
            }
        }
    }
}

/// A secret that authenticates a source or an installation, whose IDs are public. A collector stores its hash on first
/// use, and then requires it. Only sets contain it; exports, pages and logs never do.
package struct IdentityProof: Hashable, Sendable {
    package static let lengths = 32...128

    package let text: String

    package init() {
        text = (0..<4).map { _ in UInt64.random(in: .min ... .max).hexadecimalDigits }.joined()
    }

    /// Wraps an existing proof; `nil` unless it has 32 to 128 characters.
    package init?(_ text: String) {
        guard Self.lengths.contains(text.unicodeScalars.count) else { return nil }
        self.text = text
    }

    /// The SHA-256 of the secret, 32 bytes. Receivers store only this.
    package var digest: [UInt8] { SHA256.hash(Array(text.utf8)) }
}

extension IdentityProof: CustomStringConvertible, CustomReflectable {
    package var description: String { "(a secret)" }

    package var customMirror: Mirror { Mirror(self, children: []) }
}

package struct ContinuedPart: Equatable, Sendable {
    package var part: Int64
    package var transaction: GUID
    package var useCase: Int

    package init(part: Int64, transaction: GUID, useCase: Int) {
        self.part = part
        self.transaction = transaction
        self.useCase = useCase
    }
}

extension TransactionSet.Share {
    package var earlierParts: [Int64] {
        var (opened, earlier): (Set<Int64>, Set<Int64>) = ([], [])
        for fact in facts where fact.part > 0 {
            if fact.part == fact.sequence { opened.insert(fact.part) } else { earlier.insert(fact.part) }
        }
        return earlier.subtracting(opened).sorted()
    }
}

extension JSONReader {
    mutating func continuedParts(_ room: inout Int) throws(JSONFailure) -> [ContinuedPart] {
        try array(of: "continued parts", &room) { (reader, start) throws(JSONFailure) -> ContinuedPart in
            var part: Int64?
            var transaction: GUID?
            var useCase: Int?
            while let key = try reader.nextKey() {
                switch key {
                case "part": part = try reader.integer(in: 1...Limits.largestInteger)
                case "transaction": transaction = try reader.guid()
                case "use_case": useCase = try reader.count()
                default: try reader.skipValue()
                }
            }
            return ContinuedPart(
                part: try reader.required(part, "part", at: start),
                transaction: try reader.required(transaction, "transaction", at: start),
                useCase: try reader.required(useCase, "use_case", at: start))
        }
    }
}
