#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Verification: Encodable {
    var problems: [String] = []
    /// Findings that are no problems.
    var remarks: [String] = []
    /// `nil` if the transactions were not counted.
    var transactionCount: Int?
    var factCount: Int64?
    var sources: [Source] = []
    /// Sums of folded sources. Only stores have them.
    var totals: [AppTotal]?
    /// `nil` if the sizes are unknown.
    var tables: [StoreVerification.TableSize]?

    struct Source: Encodable {
        var id: GUID
        var ledger: Ledger?
        var gaps: [SourceRecord.Gap]
    }

    var isSound: Bool { problems.isEmpty }

    init(_ store: StoreVerification) {
        problems = store.problems
        remarks = store.remarks
        transactionCount = store.transactionCount
        factCount = store.factCount
        sources = store.sources.map { Source(id: $0.id, ledger: $0.ledger, gaps: $0.gaps) }
        totals = store.totals.isEmpty ? nil : store.totals
        tables = store.tables.isEmpty ? nil : store.tables
    }

    init(set bytes: [UInt8]) {
        do throws(SetDecodingFailure) {
            let decoded = try TransactionSet.decode(bytes)
            factCount = Int64(decoded.factCount)
            sources = decoded.sources.map { Source(id: $0.source.id, ledger: nil, gaps: []) }
            problems = decoded.rejections.map(Words.rejection)
        } catch {
            problems = ["This is no transaction set: \(error)."]
        }
    }
}

extension Verification: Redactable {
    mutating func redact(by redactor: Redactor) {
        problems.redact(by: redactor)
        remarks.redact(by: redactor)
        totals.redact(by: redactor)
    }
}

extension Verification {
    func lines(_ palette: Palette) -> [String] {
        let verdict = isSound ? palette.paint("sound", .green) : palette.paint("not sound", .red)
        let lines = [counts.isEmpty ? verdict : "\(verdict): \(counts)"]
        return lines + told(palette) + ledgers(palette) + sizes(palette)
    }

    private var counts: String {
        let counts = [
            transactionCount.map { Words.count($0, "transaction") },
            factCount.map { Words.count($0, "fact") },
            factCount.map { _ in Words.count(sources.count, "source") },
        ]
        return counts.compactMap(\.self).joined(separator: ", ")
    }

    private func told(_ palette: Palette) -> [String] {
        problems.map { palette.paint("problem", .red) + "  " + $0.printable }
            + remarks.map { palette.paint("remark", .yellow) + "   " + $0.printable }
    }

    private func ledgers(_ palette: Palette) -> [String] {
        var table = TextTable(columns: [
            ("SOURCE", .left), ("RECORDED", .right), ("DELIVERED", .right), ("QUARANTINED", .right),
            ("DROPPED", .right), ("PENDING", .right), ("REFUSED", .right), ("GAPS", .left),
        ])
        func add(_ name: String, _ ledger: Ledger, _ gaps: [SourceRecord.Gap] = []) {
            let ranges = gaps.prefix(5).map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }
            let list = ranges.joined(separator: " ") + (gaps.count > 5 ? " and \(gaps.count - 5) more" : "")
            table.rows.append([
                Cell(name), Cell("\(ledger.recorded)"), Cell("\(ledger.delivered)"), Cell("\(ledger.quarantined)"),
                Cell(dropped(ledger)), Cell("\(ledger.pending)"), Cell("\(ledger.refused)"),
                Cell(list.isEmpty ? "none" : list),
            ])
        }
        for source in sources {
            if let ledger = source.ledger { add("\(source.id)", ledger, source.gaps) }
        }
        for total in totals ?? [] {
            add("\(Words.count(total.sourceCount, "ended source")) of \(total.app.printable)", total.ledger)
        }
        return table.rows.isEmpty ? [] : [""] + table.lines(palette)
    }

    private func dropped(_ ledger: Ledger) -> String {
        let reasons = ledger.dropped.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        return reasons.isEmpty ? "0" : reasons.joined(separator: ", ")
    }

    private func sizes(_ palette: Palette) -> [String] {
        guard let tables = tables else { return [] }
        var text = TextTable(columns: [("TABLE WITH INDEXES", .left), ("BYTES", .right), ("PER EVENT", .right)])
        for table in tables {
            text.rows.append([
                Cell(table.name.printable), Cell("\(table.byteCount)"),
                Cell(table.bytesPerEvent.map(Self.rounded) ?? "none"),
            ])
        }
        let sum = tables.reduce(0) { $0 + $1.byteCount }
        let all = tables.compactMap(\.bytesPerEvent).reduce(0, +)
        text.rows.append([Cell("all"), Cell("\(sum)"), Cell(all > 0 ? Self.rounded(all) : "none")])
        return [""] + text.lines(palette)
    }

    private static func rounded(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
#endif
