import WaybillCore
import WaybillStore

/// Reads the events of parts.
struct PartEvents {
    private var rows: ForwardRows
    private let sources: SourceDirectory
    private var source: Int64 = -1
    private var useCase = 0
    private var clock = WallClock([])
    private var names = NameCodes()
    /// Whether an event of the part that was read last happened before one that was recorded before it.
    private(set) var isOutOfOrder = false

    /// - Parameters:
    ///   - codes: Of the events that are wanted; nil: all.
    ///   - purpose: Tells apart the statements of two that read in turn.
    init(_ codes: [Int]?, _ sources: SourceDirectory, _ purpose: String, _ connection: Connection) throws(WaybillError)
    {
        rows = try ForwardRows(
            "SELECT part, after, at_us, code FROM events AS \(purpose)", key: ("source", "part"),
            only: codes.map { ("code", $0) },
            connection)
        self.sources = sources
    }

    func stop() { rows.stop() }

    mutating func read(_ part: JoinedParts.Part, into events: inout [TimePoint]) throws(WaybillError) {
        if part.source != source || part.useCase != useCase {
            (source, useCase) = (part.source, part.useCase)
            clock = sources.entries[source]?.clock ?? WallClock([])
            names = try sources.codes(of: useCase, in: source)
        }
        isOutOfOrder = false
        var latest = Int64.min
        var next = try rows.row(from: source, part.sequence)
        while let row = next, row.int(0) == part.sequence {
            let (at, code) = (row.int(2) as Int64, row.int(3) as Int)
            // Attributes that were set have their rows among the events', and are none.
            if code >= 0 {
                isOutOfOrder = isOutOfOrder || at < latest
                latest = max(latest, at)
                events.append(
                    TimePoint(
                        source: source, sequence: part.sequence + row.int(1), at: at, wall: clock.wall(at),
                        name: names[code] ?? sources.number(ofUnnamed: code)))
            }
            next = try rows.next()
        }
    }
}
