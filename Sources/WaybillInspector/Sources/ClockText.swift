import WaybillCore
import WaybillExport
import WaybillReading

/// A source's clocks in words. What is not known is said to be unknown, and is never zero.
struct ClockText {
    let clocks: SourceClocks?

    /// For a line of a list: the source met last, and whether the clock was set.
    var short: String {
        let offset =
            clocks?.others.first.map { "\(Self.place($0)) \(Self.name(of: $0.source))" } ?? "clock not compared"
        let changes = clocks?.changes.count ?? 0
        return changes == 0 ? offset : "\(offset), set \(changes == 1 ? "once" : "\(changes) times")"
    }

    /// `1.20 s ahead of`, `within 12 ms of`.
    static func place(_ other: SourceClocks.Other) -> String {
        let (offset, uncertainty) = (other.offset.microseconds, other.offset.uncertaintyMicroseconds)
        guard abs(offset) > uncertainty else { return "within \(Words.roundDuration(abs(offset) + uncertainty)) of" }
        return "\(Words.roundDuration(abs(offset))) \(offset > 0 ? "ahead of" : "behind")"
    }

    /// What the estimate stands on.
    static func ground(_ other: SourceClocks.Other) -> String {
        switch other.offset.sampleCount {
        case 0: "one request alone"
        case let count: "\(count + 1) requests"
        }
    }

    static func name(of source: TransactionRecord.Source) -> String {
        source.app.isEmpty ? source.id.supportCode.description : source.app
    }

    /// What is known of the wall clock.
    var changes: String {
        guard let clocks, !clocks.anchors.isEmpty else { return "No clock anchor is known: its times count from 1970." }
        let count = clocks.changes.count
        guard count > 0 else { return "Nobody set its wall clock while it ran, as far as is known here." }
        return "Its wall clock was set \(count == 1 ? "once" : "\(count) times") while it ran."
    }

    /// `1 h forward`.
    static func words(of change: SourceClocks.Change) -> String {
        "\(Words.roundDuration(abs(change.byMicroseconds))) \(change.byMicroseconds > 0 ? "forward" : "back")"
    }
}
