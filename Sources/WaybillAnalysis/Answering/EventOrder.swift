import WaybillCore

/// Puts the events of several sources into one order: within a source by its own clock and then by sequence, across
/// sources by their wall clocks as far as that allows; ties by source.
struct EventOrder {
    private let sources: SourceDirectory
    // Kept from transaction to transaction, so that they are made once.
    private var merged: [TimedEvent] = []
    private var next: [TimedEvent] = []
    private var events: [TimePoint] = []

    private struct TimedEvent {
        /// A wall clock that was set back must not turn the source's own order round: never less than that of the event
        /// before.
        var time: Int64
        var event: TimePoint
    }

    init(_ sources: SourceDirectory) { self.sources = sources }

    /// - Parameter events: By source, within a source by time and sequence: so each source's are in order, and have to be
    ///   merged.
    mutating func ordered(_ events: [TimePoint]) -> [TimePoint] {
        merged.removeAll(keepingCapacity: true)
        var index = events.startIndex
        while index < events.endIndex {
            let end =
                events[index...].firstIndex { [source = events[index].source] in $0.source != source }
                ?? events.endIndex
            merge(events[index..<end])
            index = end
        }
        self.events.removeAll(keepingCapacity: true)
        self.events.append(contentsOf: merged.lazy.map(\.event))
        return self.events
    }

    private mutating func merge(_ ofSource: ArraySlice<TimePoint>) {
        next.removeAll(keepingCapacity: true)
        var place = 0
        var time = Int64.min
        for event in ofSource {
            time = max(time, event.wall)
            while place < merged.count, !isEarlier(event, at: time, than: merged[place]) {
                next.append(merged[place])
                place += 1
            }
            next.append(TimedEvent(time: time, event: event))
        }
        next.append(contentsOf: merged[place...])
        swap(&merged, &next)
    }

    /// Of another source.
    private func isEarlier(_ event: TimePoint, at time: Int64, than other: TimedEvent) -> Bool {
        time == other.time ? other.event.hasLaterSource(than: event, sources) : time < other.time
    }
}
