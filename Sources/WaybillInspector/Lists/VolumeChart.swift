import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

package struct VolumeChart {
    private let volume: ListVolume
    private let noun: String
    private let address: ListAddress
    private let steps: TimeSteps

    init(_ volume: ListVolume, of noun: String, in frame: InspectorFrame) {
        (self.volume, self.noun, address) = (volume, noun, frame.address)
        steps = Self.steps(for: volume.times, in: frame.timeZone)
    }

    static func steps(for times: ClosedRange<Int64>, in zone: TimeZone) -> TimeSteps {
        TimeSteps(
            covering: [times.lowerBound, times.upperBound], each: TimeSteps.step(for: times),
            atLeast: TimeSteps.leastCount, in: zone)
    }

    private var count: Int { volume.counts.reduce(0) { $0 + ($1?.values.reduce(0, +) ?? 0) } }

    /// The number of rows of the list; a lower bound if counting all would take too long.
    var total: String {
        guard count > 0 else { return "" }
        return (volume.counts.contains { $0 == nil } ? "at least " : "") + Words.count(count, noun)
    }

    var html: HTML {
        guard steps.count == volume.counts.count, count > 0 else { return "" }
        let over = OutcomeSteps(volume.counts.map { $0 ?? [:] }, steps: steps)
        let columns = over.columns(address: link(to:))
        // Steps begin at whole seconds.
        let seconds = steps.borders.map { "\($0 / 1_000_000)" }.joined(separator: " ")
        return """
            <figure class=volume data-times="\(seconds)">\(ColumnChart(columns: columns, label: steps.label).html)\
            <figcaption class=hint>A column for each \(steps.length), in \(steps.zoneName).\(isShort) \
            Select a column to choose its time<span class=drags hidden>, or drag over several</span>.</figcaption></figure>

            """
    }

    private var isShort: HTML {
        guard let first = volume.counts.firstIndex(where: { $0 != nil }), first > 0 else { return "" }
        return " To appear without delay, the page does not count what was before \(steps.title(first))."
    }

    private func link(to window: [(name: String, value: String)]) -> String {
        ListAddress(address.items(besides: window.map(\.name) + ["cursor"]) + window).query
    }
}
