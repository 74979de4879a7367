import WaybillCore
import WaybillReading

/// Where a good part of the time passed, and nothing was recorded and no request was under way: a person thought, or
/// waited, or something is not recorded.
extension Waterfall {
    /// A time in which nothing is known to have happened.
    package struct Gap: Equatable {
        /// Microseconds since 1970.
        var start: Int64
        /// Microseconds since 1970.
        var end: Int64
        /// What happened last before it.
        var after: String
        /// What ended it.
        var until: String
    }

    /// The longest, at most three, each at least a tenth of the whole, in order of time.
    ///
    /// None by raw clocks of several sources: between two of them, what looks like a pause may be how far the clocks
    /// are apart.
    var gaps: [Gap] {
        guard !record.isMixed else { return [] }
        let length = span.upperBound - span.lowerBound
        var gaps: [Gap] = []
        // In one sweep from the left: how far the time is covered, and by what.
        var (covered, last) = (span.lowerBound, "the beginning")
        for stretch in stretches {
            if stretch.start - covered >= max(2, length / 10) {
                gaps.append(Gap(start: covered, end: stretch.start, after: last, until: stretch.beginning))
            }
            if stretch.end >= covered { (covered, last) = (stretch.end, stretch.ending) }
        }
        let longest = gaps.sorted { $0.end - $0.start > $1.end - $1.start }.prefix(3)
        return longest.sorted { $0.start < $1.start }
    }

    private struct Stretch {
        var start: Int64
        var end: Int64
        var beginning: String
        var ending: String
    }

    /// Facts, which have no length, requests, and what was begun below, by time of beginning.
    private var stretches: [Stretch] {
        let facts = record.timeline.map { entry in
            let label = entry.label.spaced
            return Stretch(start: entry.timeMicroseconds, end: entry.timeMicroseconds, beginning: label, ending: label)
        }
        let requests = bars.filter { $0.kind != .part }.map { bar in
            let ending = bar.kind == .child ? "the end of \(bar.label)" : "the answer to \(bar.label)"
            return Stretch(start: bar.start, end: bar.end, beginning: bar.label, ending: ending)
        }
        return (facts + requests).sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }
}
