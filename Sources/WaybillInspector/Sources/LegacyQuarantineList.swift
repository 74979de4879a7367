import WaybillCore
import WaybillExport
import WaybillReading

/// What could not be read of sets of version 0.0.1, whose senders keep nothing of it.
struct LegacyQuarantineList {
    let state: DeliveryState
    let frame: InspectorFrame

    var html: HTML {
        guard state.legacyQuarantinedCount > 0 else { return "" }
        let more = state.legacyQuarantinedCount - state.legacyQuarantine.count
        let rest: HTML =
            "<p class=why>And \(Words.count(more, "more transaction")): the table legacy_quarantine has them.</p>"
        return """
            <p>\(Words.count(state.legacyQuarantinedCount, "transaction")) of sets 0.0.1 that could not be read. What else was in those sets was \
            taken, and their senders keep nothing: it is here alone.</p>
            <ul class=causes>\(state.legacyQuarantine.map(entry))</ul>\(rest, if: more > 0)
            """
    }

    private func entry(_ entry: LegacyQuarantined) -> HTML {
        let time = WallTime(entry.receivedMicroseconds, in: frame.timeZone)
        return """
            <li class=failed><details><summary><b>\(entry.reason)</b> <span>\(entry.transaction?.description ?? "without a readable ID")</span> \
            <time>\(time.date) \(String(time.time.prefix(8)))</time></summary>\(JSONTree.html(entry.json) ?? "<pre>\(entry.json)</pre>")</details>

            """
    }
}
