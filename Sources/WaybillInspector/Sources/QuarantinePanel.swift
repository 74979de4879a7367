import WaybillCore
import WaybillExport
import WaybillReading

/// What was rejected and why: by the collector to which this store delivers, and by the one that keeps it.
struct QuarantinePanel {
    let state: DeliveryState
    let collected: DeliveryPage.Collected?
    let frame: InspectorFrame

    var html: HTML {
        "<section class=\"panel wide\"><h2>Quarantine</h2>\(kept)\(LegacyQuarantineList(state: state, frame: frame).html)\(rejected)</section>\n"
    }

    // MARK: Here

    private var kept: HTML {
        guard state.quarantinedCount > 0 else { return "<p class=why>\(whyNone)</p>" }
        let more = state.quarantinedCount - state.quarantine.reduce(0) { $0 + $1.count }
        let rest: HTML = "<p class=why>And \(Words.count(more, "more fact")): the file has them.</p>"
        return """
            <p>\(Words.count(state.quarantinedCount, "fact")) that a collector rejected. They block nothing, and are kept until somebody sends \
            them again. <a class=copier download href="delivery/\(DeliveryFile.quarantine.rawValue)">JSON</a></p>
            <ul class=causes>\(state.quarantine.map(group))</ul>\(rest, if: more > 0)
            """
    }

    private var whyNone: String {
        guard let own = state.own else {
            return collected == nil
                ? "What is received here has no quarantine: a rejected fact stays with its source, and a collector that runs tells of it."
                : "What this collector rejects stays in the quarantine of its source."
        }
        return own.deliveredCount == 0
            ? "Nothing is in quarantine: nothing has been delivered from here yet."
            : "Nothing is in quarantine: every set that went out was taken."
    }

    private func group(_ group: DeliveryState.QuarantineGroup) -> HTML {
        let sample: HTML =
            if let fact = group.sample {
                "<p>The first of them:</p>\(JSONTree.html(QuarantineJSON.text(fact)) ?? "")"
            } else {
                "<p>The fact itself is no longer here, or not among the first that are shown.</p>"
            }
        return """
            <li class=failed><details><summary><b>\(group.reason)</b> <span>\(Words.count(group.count, "fact")), \
            \(sequences(group.first, group.last))</span> <span>\(group.app.isEmpty ? "source" : group.app)</span> \
            \(times(group.firstMicroseconds, group.lastMicroseconds))</summary>
            <p>From <a href="sources/\(group.source.description)">source \(group.source.description)</a></p>\(sample)</details>

            """
    }

    // MARK: At a collector

    private var rejected: HTML {
        guard let collected else { return "" }
        guard collected.rejected > 0 else {
            return "<p class=why>Nothing was rejected: every set that came was taken.</p>"
        }
        let more = collected.rejections.othersCount
        let rest: HTML = "<p class=why>And \(Words.count(more, "more fact")) of further sources and reasons.</p>"
        return """
            <p>\(Words.count(collected.rejected, "fact")) rejected since this collector was started. \
            <a class=copier download href="delivery/\(DeliveryFile.rejections.rawValue)">JSON</a></p>
            <ul class=causes>\(collected.rejections.groups.prefix(DeliveryState.groupLimit).map(rejection))</ul>\(rest, if: more > 0)
            """
    }

    private func rejection(_ group: RejectedFacts.Group) -> HTML {
        let place = group.first.map { sequences($0, group.last ?? $0) } ?? "without a readable sequence"
        return """
            <li class=failed><p><b>\(group.reason)</b> <span>\(Words.count(group.count, "fact")), \(place)</span> \
            <span><a href="sources/\(group.source.description)">source \(group.source.supportCode.description)</a></span> \
            \(times(group.firstMicroseconds, group.lastMicroseconds))</p>

            """
    }

    private func sequences(_ first: Int64, _ last: Int64) -> String {
        first == last ? "sequence \(first)" : "sequences between \(first) and \(last)"
    }

    private func times(_ first: Int64, _ last: Int64) -> HTML {
        let until: HTML = " to \(HTML.moment(last, .dateAndTime, in: frame.timeZone))"
        return "<span>\(HTML.moment(first, .dateAndTime, in: frame.timeZone))\(until, if: first != last)</span>"
    }
}

/// What the page of delivery offers as JSON.
package enum DeliveryFile: String, CaseIterable, Sendable {
    /// The facts in quarantine, with the reasons.
    case quarantine = "quarantine.json"
    /// What a running collector has rejected.
    case rejections = "rejections.json"
}
