/// The unit of flush: facts of one or more sources, with what is needed to understand and to count them.
///
/// Written as JSON of media type ``mediaType``; described by `Schemas/transaction-set.v1.schema.json`.
public struct TransactionSet: Hashable, Sendable {
    /// The version of the format that is written and read, as in ``mediaType``: a file of a set says it in its body,
    /// too.
    public static let version = 1
    /// The media type of version 1.
    public static let mediaType = "application/vnd.waybill.transaction-set.v1+json"

    /// The set's own ID, which the collector echoes.
    public var id: GUID
    /// A share for each source.
    public var sources: [Share]

    /// Makes a set.
    public init(id: GUID, sources: [Share]) {
        self.id = id
        self.sources = sources
    }

    /// How many facts it holds.
    public var factCount: Int { sources.reduce(0) { $0 + $1.facts.count } }

    /// About how many rows it makes work of: its facts, and what stands beside them.
    package var rowCount: Int {
        sources.reduce(0) { $0 + 1 + $1.facts.count + $1.clocks.count + $1.names.count + $1.dropped.count }
    }

    /// What a set holds of one source.
    public struct Share: Hashable, Sendable {
        /// Who recorded.
        public var source: RecordedSource
        /// In order of time; at least one, at 0.
        public var clocks: [ClockAnchor]
        /// Whether the source has ended: what it left open was interrupted.
        public var hasEnded: Bool
        /// How it ended; nil: that is not known, or it has not.
        public var endedBy: SourceEnd?
        /// What its app calls the codes it uses.
        public var names: [RecordedName]
        /// As it stood when the set was made.
        public var ledger: Ledger
        /// All that was ever given up; of a source with very many ranges, those that the receiver was not told before.
        public var dropped: [DroppedRange]
        /// The parts that its facts belong to and that it does not open; empty: none, or of a sender of before 1.5.
        public var continuedParts: [ContinuedPart]
        /// In order of sequence.
        public var facts: [Fact]
        /// Shows that it is the source that speaks; nil: it has none, and then nobody who has can be spoken for, nor
        /// anything be erased, dropped or ended.
        public var sourceProof: IdentityProof?
        /// Shows that the source belongs to the installation that it names; nil: as for the source.
        public var installationProof: IdentityProof?

        /// Makes a share.
        public init(
            source: RecordedSource, clocks: [ClockAnchor], hasEnded: Bool = false, endedBy: SourceEnd? = nil,
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

/// A source of which nothing in a set was taken, because it was not shown that it is the source that speaks.
public struct RefusedSource: Hashable, Sendable {
    /// The source whose share it was.
    public var source: GUID
    /// One sentence.
    public var reason: String

    /// Makes a refusal.
    public init(source: GUID, reason: String) {
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
    public var rejections: [Rejection]
    /// Sources whose shares were refused whole, with all that they tell; their facts are among the rejected, too.
    /// Empty: none.
    public var refusedSources: [RefusedSource]
    /// Names of codes that were new and were not taken, since there are too many already; the facts that they are of
    /// are taken all the same. 0: none.
    public var refusedNameCount: Int
    /// The rates by which the other side would have transactions sampled from now on, at most 256; empty: those of the
    /// app.
    public var samplingRates: [SamplingRate]
    /// How long the other side wants to be left alone now, at most a day; nil: it did not say. No part of the JSON:
    /// HTTP has `Retry-After` for it (RFC 9110, section 10.2.3).
    public var retryAfter: Duration?

    /// Makes a receipt.
    public init(
        set: GUID, acceptedCount: Int, knownCount: Int = 0, rejections: [Rejection] = [],
        refusedSources: [RefusedSource] = [], refusedNameCount: Int = 0, samplingRates: [SamplingRate] = [],
        retryAfter: Duration? = nil
    ) {
        self.set = set
        self.acceptedCount = acceptedCount
        self.knownCount = knownCount
        self.rejections = rejections
        self.refusedSources = refusedSources
        self.refusedNameCount = refusedNameCount
        self.samplingRates = samplingRates
        self.retryAfter = retryAfter
    }

    /// Accepted, known and rejected together: must be the number of facts sent.
    public var factCount: Int { acceptedCount + knownCount + rejections.count }
}
