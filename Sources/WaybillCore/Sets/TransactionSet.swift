/// The unit of flush: facts of one or more sources, with what is needed to understand and to count them.
///
/// Written as JSON of media type ``mediaType``; described by `Schemas/transaction-set.v1.schema.json`.
package struct TransactionSet: Hashable, Sendable {
    /// The version of the format that is written and read, as in ``mediaType``: a file of a set says it in its body,
    /// too.
    package static let version = 1
    /// The media type of version 1.
    package static let mediaType = "application/vnd.waybill.transaction-set.v1+json"

    /// The set's own ID, which the collector echoes.
    package var id: GUID
    /// A share for each source.
    package var sources: [Share]

    /// Makes a set.
    package init(id: GUID, sources: [Share]) {
        self.id = id
        self.sources = sources
    }

    /// How many facts it holds.
    package var factCount: Int { sources.reduce(0) { $0 + $1.facts.count } }

    /// About how many rows it makes work of: its facts, and what stands beside them.
    package var rowCount: Int {
        sources.reduce(0) { $0 + 1 + $1.facts.count + $1.clocks.count + $1.names.count + $1.dropped.count }
    }

    /// What a set holds of one source.
    package struct Share: Hashable, Sendable {
        /// Who recorded.
        package var source: SourceIdentity
        /// In order of time; at least one, at 0.
        package var clocks: [ClockAnchor]
        /// Whether the source has ended: what it left open was interrupted.
        package var hasEnded: Bool
        /// How it ended; nil: that is not known, or it has not.
        package var endedBy: SourceEnd?
        /// What its app calls the codes it uses.
        package var names: [RecordedName]
        /// As it stood when the set was made.
        package var ledger: Ledger
        /// All that was ever given up; of a source with very many ranges, those that the receiver was not told before.
        package var dropped: [DroppedRange]
        /// The parts that its facts belong to and that it does not open; empty: none, or of a sender of before 1.5.
        package var continuedParts: [ContinuedPart]
        /// In order of sequence.
        package var facts: [Fact]
        /// Shows that it is the source that speaks; nil: it has none, and then nobody who has can be spoken for, nor
        /// anything be erased, dropped or ended.
        package var sourceProof: IdentityProof?
        /// Shows that the source belongs to the installation that it names; nil: as for the source.
        package var installationProof: IdentityProof?

        /// Makes a share.
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
    /// A fact that the collector will not take, and why.
    public struct Rejection: Hashable, Sendable {
        /// The source in whose share it stood.
        public var source: GUID
        /// Its sequence; nil where it could not be read.
        public var sequence: Int64?
        /// Its place in the share's list of facts, from 0.
        public var index: Int
        /// One sentence.
        public var reason: String

        /// Makes a rejection.
        public init(source: GUID, sequence: Int64?, index: Int, reason: String) {
            self.source = source
            self.sequence = sequence
            self.index = index
            self.reason = reason
        }

        /// The reason if the collector has another fact with the same source and sequence. The sender continues under a new source.
        package static let sequenceIsTaken =
            "another fact of this source has this sequence: the process was cloned, or its disk was restored from a snapshot"
    }
}

/// A source of which nothing in a set was taken, because it was not shown that it is the source that speaks.
package struct RefusedSource: Hashable, Sendable {
    /// The source whose share it was.
    package var source: GUID
    /// One sentence.
    package var reason: String

    /// Makes a refusal.
    package init(source: GUID, reason: String) {
        self.source = source
        self.reason = reason
    }
}

/// The collector's verdicts on a set: the facts it rejects; all others are accepted or were known already.
///
/// Written as JSON of media type ``mediaType``; described by `Schemas/receipt.v1.schema.json`.
public struct Receipt: Hashable, Sendable {
    /// The media type of version 1.
    public static let mediaType = "application/vnd.waybill.receipt.v1+json"

    /// The set that it answers.
    public var set: GUID
    /// Facts that were new.
    public var acceptedCount: Int
    /// Facts that had been received before.
    public var knownCount: Int
    /// Facts that were refused; empty: none.
    public var rejections: [Receipt.Rejection]
    /// Sources whose shares were refused whole, with all that they tell; their facts are among the rejected, too.
    /// Empty: none.
    package var refusedSources: [RefusedSource]
    /// Names of codes that were new and were not taken, since there are too many already; the facts that they are of
    /// are taken all the same. 0: none.
    public var refusedNameCount: Int
    /// The rates by which the other side would have transactions sampled from now on, at most 256; empty: those of the
    /// app.
    public var samplingRates: [SamplingRate]
    /// How long the other side wants to be left alone now, at most a day; nil: it did not say. No part of the JSON:
    /// HTTP has `Retry-After` for it (RFC 9110, section 10.2.3).
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

    /// Accepted, known and rejected together: must be the number of facts sent.
    public var factCount: Int { acceptedCount + knownCount + rejections.count }
}

/// A set as it was read: what could be read of it, and the facts that could not.
package struct DecodedSet: Hashable, Sendable {
    package var set: TransactionSet
    /// In order of source and index.
    package var rejections: [Receipt.Rejection]

    package init(set: TransactionSet, rejections: [Receipt.Rejection] = []) {
        self.set = set
        self.rejections = rejections
    }
}

/// Why a set, or a receipt, was not read at all.
package struct SetDecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// Not JSON, not UTF-8, or nested too deep: answered with 400.
        case malformed
        /// JSON, but not the envelope: answered with 422.
        case invalid
    }

    package var kind: Kind
    /// Where, as a JSON pointer (RFC 6901); empty for the document itself.
    package var pointer: String
    /// One sentence without a full stop.
    package var message: String

    package init(kind: Kind, pointer: String, message: String) {
        self.kind = kind
        self.pointer = pointer
        self.message = message
    }

    /// Looks for where in the document a reader failed.
    init(_ failure: JSONFailure, in bytes: UnsafeBufferPointer<UInt8>) {
        var failure = failure
        if failure.kind == .invalid {
            // The first fault may stand in front of one that makes the whole thing no JSON.
            do throws(JSONFailure) {
                try JSONReader.read(bytes) { reader throws(JSONFailure) in try reader.skipValue() }
            } catch {
                failure = error
            }
        }
        switch failure.kind {
        case .malformed:
            self.init(kind: .malformed, pointer: "", message: "\(failure.message), at byte \(failure.offset)")
        case .invalid: self.init(kind: .invalid, pointer: "", message: failure.message)
        }
        pointer = JSONPointer.path(to: failure.offset, in: bytes)
    }

    package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }

    /// Reads one whole document; what fails is told with where.
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

/// A secret by which a source, or an installation, shows that it is the one that it says it is.
///
/// Their IDs are no secret: a source's travels in the header field. So a collector binds a hash of the secret to the ID
/// when it first hears of it, and takes nothing under that ID any more that comes without the secret. Sets carry it,
/// and no export, page or log does.
package struct IdentityProof: Hashable, Sendable {
    /// How many characters one has.
    package static let lengths = 32...128

    /// As sets carry it.
    package let text: String

    /// Makes a new one of 256 random bits, of the system's.
    package init() {
        text = (0..<4).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// Takes one that was made elsewhere; nil where it has fewer than 32 or more than 128 characters.
    package init?(_ text: String) {
        guard Self.lengths.contains(text.unicodeScalars.count) else { return nil }
        self.text = text
    }

    /// What the receiver of a set keeps of it: its SHA-256, 32 bytes.
    package var digest: [UInt8] { SHA256.hash(Array(text.utf8)) }
}

/// Words in place of the secret, so that a set can be printed.
extension IdentityProof: CustomStringConvertible, CustomReflectable {
    /// Never the secret itself.
    package var description: String { "(a secret)" }

    /// Without the secret.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A part whose opening is in an earlier set, as a set that continues it names it: so each of its facts can be placed
/// by itself, without waiting for that set.
package struct ContinuedPart: Hashable, Sendable {
    /// The sequence of its opening.
    package var part: Int64
    /// The transaction that it is a part of.
    package var transaction: GUID
    /// The transaction's use case, by its code.
    package var useCase: Int

    /// Makes one.
    package init(part: Int64, transaction: GUID, useCase: Int) {
        self.part = part
        self.transaction = transaction
        self.useCase = useCase
    }
}

extension TransactionSet.Share {
    /// The parts that its facts belong to and that it does not open, in order.
    package var earlierParts: [Int64] {
        var (opened, earlier): (Set<Int64>, Set<Int64>) = ([], [])
        for fact in facts where fact.part > 0 {
            if fact.part == fact.sequence { opened.insert(fact.part) } else { earlier.insert(fact.part) }
        }
        return earlier.subtracting(opened).sorted()
    }
}

extension JSONReader {
    /// - Parameter room: How many more the set may have.
    mutating func continuedParts(_ room: inout Int) throws(JSONFailure) -> [ContinuedPart] {
        var parts: [ContinuedPart] = []
        try array(of: "continued parts", &room) { reader, start throws(JSONFailure) in
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
            parts.append(
                ContinuedPart(
                    part: try reader.required(part, "part", at: start),
                    transaction: try reader.required(transaction, "transaction", at: start),
                    useCase: try reader.required(useCase, "use_case", at: start)))
        }
        return parts
    }
}
