#if Collector
import WaybillCore
import WaybillReport

/// What `waybill verify` has found, for people.
struct VerificationText {
    let verification: Verification

    init(_ verification: Verification) { self.verification = verification }

    /// The verdict first.
    func lines(_ palette: Palette) -> [String] {
        let verdict = verification.isSound ? palette.paint("sound", .green) : palette.paint("not sound", .red)
        let lines = [counts.isEmpty ? verdict : "\(verdict): \(counts)"]
        return lines + remarks(palette) + ledgers(palette)
    }

    private var counts: String {
        let counts = [
            verification.transactionCount.map { Words.count($0, "transaction") }, verification.factCount.map { Words.count($0, "fact") },
            verification.factCount.map { _ in Words.count(verification.sources.count, "source") },
        ]
        return counts.compactMap(\.self).joined(separator: ", ")
    }

    private func remarks(_ palette: Palette) -> [String] {
        verification.problems.map { palette.paint("problem", .red) + "  " + $0.printable }
            + verification.remarks.map { palette.paint("remark", .yellow) + "   " + $0.printable }
    }

    private func ledgers(_ palette: Palette) -> [String] {
        var table = TextTable(columns: [
            ("SOURCE", .left), ("RECORDED", .right), ("DELIVERED", .right), ("QUARANTINED", .right), ("DROPPED", .right),
            ("PENDING", .right), ("REFUSED", .right), ("GAPS", .left),
        ])
        for source in verification.sources {
            guard let ledger = source.ledger else { continue }
            let gaps = source.gaps.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }
            let counts = [
                ledger.recorded, ledger.delivered, ledger.quarantined, ledger.dropped.values.reduce(0, +), ledger.pending, ledger.refused,
            ]
            let list = gaps.prefix(5).joined(separator: " ") + (gaps.count > 5 ? " and \(gaps.count - 5) more" : "")
            table.rows.append([Cell("\(source.id)")] + counts.map { Cell("\($0)") } + [Cell(list.isEmpty ? "none" : list)])
        }
        return table.rows.isEmpty ? [] : [""] + table.lines(palette)
    }
}
#endif
