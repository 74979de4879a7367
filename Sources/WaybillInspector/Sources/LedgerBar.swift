import WaybillCore
import WaybillExport
import WaybillQueries

struct LedgerBar {
    struct Share {
        var word: String
        var count: Int64
        var tone: String
        var meaning: String
    }

    private let ledger: Ledger
    private let gapCount: Int
    let shares: [Share]

    /// `missing` facts are pending ones before others that have arrived.
    init(_ ledger: Ledger, missing: Int64 = 0, gapCount: Int = 0) {
        self.ledger = ledger
        self.gapCount = gapCount
        let dropped = ledger.dropped.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        shares =
            [
                Share(word: "delivered", count: ledger.delivered, tone: "succeeded", meaning: "A collector took them."),
                Share(
                    word: "pending", count: ledger.pending - missing, tone: "open",
                    meaning: "They were recorded, and have not come in yet."),
                Share(
                    word: "missing", count: missing, tone: "interrupted",
                    meaning: "They have not come in, although later ones have."),
                Share(
                    word: "quarantined", count: ledger.quarantined, tone: "failed",
                    meaning: "A collector rejected them."),
            ].filter { $0.count > 0 }
            + dropped.map {
                Share(word: "dropped: \($0.key)", count: $0.value, tone: "cancelled", meaning: Self.meaning(of: $0.key))
            }
    }

    private static func meaning(of reason: String) -> String {
        switch Ledger.DropReason(rawValue: reason) {
        case .quota: "Given up before they were delivered: the store had no room."
        case .age: "Given up before they were delivered: they were too old."
        case .erased: "Erased because somebody asked for it."
        case .damaged: "Given up: they could not be read any more."
        case .sampled: "Left out by sampling: their transactions were not chosen, and ended well."
        case .withheld: "Withheld by the collector: its rules keep such facts out of the store."
        case nil: "Given up before they were delivered."
        }
    }

    /// Screen readers read `words` instead.
    var html: HTML {
        let total = max(1, shares.reduce(0) { $0 + $1.count })
        // Even one fact in a million is visible.
        let widths = shares.map { max(12, Int(Double($0.count) / Double(total) * 1000)) }
        let scale = Double(1000) / Double(max(1000, widths.reduce(0, +)))
        var start = 0
        var rects: [HTML] = []
        for (index, share) in shares.enumerated() {
            let width = index == shares.count - 1 ? 1000 - start : Int(Double(widths[index]) * scale)
            rects.append("<rect class=\(share.tone) x=\(percent: start)% width=\(percent: width)% />")
            start += width
        }
        return "<svg class=strip aria-hidden=true>\(rects)</svg>"
    }

    var words: String {
        let parts =
            shares.map { "\($0.count) \($0.word)\($0.word == "missing" ? gaps : "")" }
            + (ledger.refused > 0 ? ["\(ledger.refused) refused"] : [])
            + (imbalance == nil ? [] : ["does not balance"])
        return parts.isEmpty ? "nothing recorded" : parts.joined(separator: ", ")
    }

    private var gaps: String { gapCount == 0 ? "" : " in \(Words.count(gapCount, "gap"))" }

    /// `nil` if the ledger balances.
    var imbalance: String? {
        guard !ledger.isBalanced else { return nil }
        return
            "The ledger does not balance: \(Words.count(ledger.recorded, "fact")) recorded, \(ledger.accountedFor) accounted for."
    }

    var tone: String {
        if imbalance != nil { return "failed" }
        return ["failed", "interrupted", "open"].first { tone in shares.contains { $0.tone == tone } } ?? "succeeded"
    }
}

extension LedgerBar {
    init(_ record: SourceRecord) {
        self.init(record.ledger, missing: record.missingCount, gapCount: record.gapCount ?? record.gaps.count)
    }
}

extension SourceRecord {
    var missingCount: Int64 { gaps.reduce(0) { $0 + $1.last - $1.first + 1 } }

    var appName: String { app.isEmpty ? "source" : app }

    var system: String { [os, osVersion].filter { !$0.isEmpty }.joined(separator: " ") }
}
