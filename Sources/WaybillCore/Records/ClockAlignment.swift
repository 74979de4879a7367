/// How far the clocks of a transaction's sources are apart: what makes one picture of their times.
///
/// The times of a ``TransactionRecord`` are raw: each source's, as its own clock said. ``align(_:)`` makes a record whose times go by one clock.
public struct ClockAlignment: Hashable, Sendable, Codable {
    /// The source whose clock the others are compared with: the one of the leading part.
    public var reference: GUID
    /// One for each other source whose part was caused by an exchange that is known, directly or by way of others; in the order of the record's sources.
    public var offsets: [Offset]

    /// Makes an alignment.
    public init(reference: GUID, offsets: [Offset]) {
        self.reference = reference
        self.offsets = offsets
    }

    /// One source's clock beside that of the reference.
    public struct Offset: Hashable, Sendable, Codable {
        /// The source.
        public var source: GUID
        /// Microseconds to add to its times.
        public var microseconds: Int
        /// Microseconds by which that may be too much or too little.
        public var uncertaintyMicroseconds: Int
        /// Exchanges of other transactions that it was found by; 0: only the transaction's own say something, so that requests and responses cannot be
        /// told apart.
        public var sampleCount: Int

        /// Makes an offset.
        public init(source: GUID, microseconds: Int, uncertaintyMicroseconds: Int, sampleCount: Int) {
            self.source = source
            self.microseconds = microseconds
            self.uncertaintyMicroseconds = uncertaintyMicroseconds
            self.sampleCount = sampleCount
        }
    }
}
