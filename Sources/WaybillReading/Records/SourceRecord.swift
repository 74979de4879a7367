public import WaybillCore

/// What a store knows of one source: who it is, what became of its facts, and what is missing.
public struct SourceRecord: Hashable, Sendable, Codable, Identifiable {
    /// The recorder's ID.
    public var id: GUID
    /// The app on its device; nil where none was told.
    public var installation: GUID?
    /// The app's or service's name.
    public var app: String
    /// The app's version.
    public var appVersion: String
    /// The model.
    public var device: String
    /// `iOS`, `Linux`.
    public var os: String
    /// The system's version.
    public var osVersion: String
    /// What the app said about this launch.
    public var attributes: Attributes
    /// Microseconds since 1970 when it started; nil where no clock anchor is known.
    package var startedMicroseconds: Int64?
    /// Microseconds since 1970 when a set of it last arrived; nil for a source that recorded into this very store.
    package var heardMicroseconds: Int64?
    /// Whether it runs no longer: what it left open was interrupted.
    public var hasEnded: Bool
    /// How it ended; nil: that is not known, or it has not.
    public var endedBy: SourceEnd?
    /// At a collector, `delivered` is what has arrived and `pending` what has not (yet).
    public var ledger: Ledger
    /// Sequences that were recorded and have not arrived, although later ones have; empty for a source of this very
    /// store. At most ``gapLimit``, the first.
    public var gaps: [Gap]
    /// How many gaps there are, where that is more than ``gaps`` has; nil: it has all of them.
    public var gapCount: Int?

    /// How many gaps are listed. Value: 1,000.
    public static let gapLimit = 1_000

    /// First and last sequence, both inside.
    public struct Gap: Hashable, Sendable, Codable {
        /// The first sequence that is missing.
        public var first: Int64
        /// The last sequence that is missing.
        public var last: Int64

        /// Makes a gap.
        public init(first: Int64, last: Int64) {
            self.first = first
            self.last = last
        }
    }

    /// Makes a record.
    package init(
        id: GUID, installation: GUID?, app: String, appVersion: String, device: String, os: String, osVersion: String,
        attributes: Attributes, startedMicroseconds: Int64?, heardMicroseconds: Int64?, hasEnded: Bool, ledger: Ledger,
        gaps: [Gap], endedBy: SourceEnd? = nil
    ) {
        self.id = id
        self.installation = installation
        self.app = app
        self.appVersion = appVersion
        self.device = device
        self.os = os
        self.osVersion = osVersion
        self.attributes = attributes
        self.startedMicroseconds = startedMicroseconds
        self.heardMicroseconds = heardMicroseconds
        self.hasEnded = hasEnded
        self.endedBy = endedBy
        self.ledger = ledger
        self.gaps = gaps
    }
}
