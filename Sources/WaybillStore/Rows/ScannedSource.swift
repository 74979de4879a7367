package import WaybillCore

/// Which facts of a source are exported.
package struct ScannedShare: Sendable {
    /// The `sources.id`.
    package var row: Int64
    /// By sequence; nil: all that are there.
    package var sequences: SequenceRanges?
    /// Only facts from this time on, in microseconds since 1970; nil: of any time.
    package var earliest: Int64?
    /// Only facts of parts that were opened by these.
    package var parts = Int64.min...Int64.max

    package init(row: Int64, sequences: SequenceRanges? = nil, earliest: Int64? = nil) {
        self.row = row
        self.sequences = sequences
        self.earliest = earliest
    }

    /// No fact of a sequence outside is exported.
    package var window: ClosedRange<Int64> {
        guard let ranges = sequences?.ranges, let first = ranges.first, let last = ranges.last else {
            return 0...Int64.max
        }
        return first.lowerBound...last.upperBound
    }
}

/// A source whose facts are exported.
package struct ScannedSource: Sendable {
    package var share: ScannedShare
    package var source: RecordedSource
    package var clock: WallClock
    /// Whether it has ended: what it left open was interrupted.
    package var hasEnded: Bool
    /// How it ended; nil: that is not known, or it has not.
    package var endedBy: SourceEnd?
    /// Whether it came from elsewhere.
    package var isReceived: Bool

    package init(
        share: ScannedShare, source: RecordedSource, clock: WallClock, hasEnded: Bool = false,
        endedBy: SourceEnd? = nil, isReceived: Bool = false
    ) {
        self.share = share
        self.source = source
        self.clock = clock
        self.hasEnded = hasEnded
        self.endedBy = endedBy
        self.isReceived = isReceived
    }

    package func includes(_ fact: Fact) -> Bool { includes(fact.sequence, at: fact.atMicroseconds) }

    /// - Parameter microseconds: Of the fact of that sequence.
    package func includes(_ sequence: Int64, at microseconds: Int64) -> Bool {
        if let sequences = share.sequences, !sequences.contains(sequence) { return false }
        if let earliest = share.earliest, clock.wall(microseconds) < earliest { return false }
        return true
    }
}

extension ScannedSource {
    /// Reads what is known of a source; nil where it has gone.
    package init?(_ share: ScannedShare, _ connection: Connection) throws(WaybillError) {
        let source = try connection.statement(
            """
            SELECT uuid, installation, app, app_version, device, os, os_version, attributes, \(SQL.endedBy("sources")), \
            heard_us IS NOT NULL, ended FROM sources WHERE id = ?
            """
        ).first(share.row) { row in
            let source = RecordedSource(
                id: row.guid(0), installation: row.optionalGUID(1), app: row.text(2), appVersion: row.text(3),
                device: row.text(4),
                os: row.text(5), osVersion: row.text(6), attributes: Attributes(columnText: row.optionalText(7)))
            return (source: source, endedBy: row.sourceEnd(8), isReceived: row.bool(9), hasEnded: row.bool(10))
        }
        guard let source else { return nil }
        self.init(
            share: share, source: source.source, clock: try WallClock(of: share.row, connection),
            hasEnded: source.hasEnded, endedBy: source.endedBy, isReceived: source.isReceived)
    }
}

/// A part whose facts are exported.
package struct ScannedPart {
    /// Its sequence; 0: outside any transaction.
    package var sequence: Int64
    /// nil: outside any transaction, or the fact `opened` has not arrived.
    package var opened: Fact?
    package var closed: Fact?
    /// nil where `opened` is.
    package var useCaseName: String?

    package init(sequence: Int64, opened: Fact?, closed: Fact?, useCaseName: String?) {
        self.sequence = sequence
        self.opened = opened
        self.closed = closed
        self.useCaseName = useCaseName
    }
}
