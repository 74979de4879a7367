import WaybillCore

/// Which facts of a source are exported.
struct ScannedShare: Sendable {
    /// The `sources.id`.
    var row: Int
    /// By sequence; nil: all that are there.
    var sequences: SequenceRanges?
    /// Only facts from this time on, in microseconds since 1970; nil: of any time.
    var earliest: Int?

    /// No fact of a sequence outside is exported.
    var window: ClosedRange<Int> {
        guard let ranges = sequences?.ranges, let first = ranges.first, let last = ranges.last else { return 0...Int.max }
        return first.lowerBound...last.upperBound
    }
}

/// A source whose facts are exported.
struct ScannedSource: Sendable {
    var share: ScannedShare
    var source: Source
    var clock: WallClock

    func includes(_ fact: Fact) -> Bool {
        if let sequences = share.sequences, !sequences.contains(fact.sequence) { return false }
        if let earliest = share.earliest, clock.wall(fact.atMicroseconds) < earliest { return false }
        return true
    }
}

extension ScannedSource {
    /// Reads what is known of a source; nil where it has gone.
    init?(_ share: ScannedShare, _ connection: Connection) throws(WaybillError) {
        let source = try connection.statement(
            "SELECT uuid, installation, app, app_version, device, os, os_version, attributes FROM sources WHERE id = ?"
        ).first(share.row) { row in
            Source(
                id: row.guid(0), installation: row.optionalGUID(1), app: row.text(2), appVersion: row.text(3), device: row.text(4),
                os: row.text(5), osVersion: row.text(6), attributes: Attributes(columnText: row.optionalText(7)))
        }
        guard let source else { return nil }
        self.init(share: share, source: source, clock: try WallClock(of: share.row, connection))
    }
}

/// A part whose facts are exported.
struct ScannedPart {
    /// Its sequence; 0: outside any transaction.
    var sequence: Int
    /// nil: outside any transaction, or the fact `opened` has not arrived.
    var opened: Fact?
    var closed: Fact?
    /// nil where `opened` is.
    var useCaseName: String?
}
