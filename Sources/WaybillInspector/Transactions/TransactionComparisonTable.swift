import WaybillCore
import WaybillExport
import WaybillReading

/// What happened in two transactions, a row for each fact, with what is different in words.
struct TransactionComparisonTable {
    private let comparison: TransactionComparison
    private let names: (SourceNames, SourceNames)
    private let scale: TimeScale

    init(_ comparison: TransactionComparison, names: (SourceNames, SourceNames)) {
        self.comparison = comparison
        self.names = names
        let times = comparison.rows.flatMap { [$0.first?.time, $0.second?.time] }.compactMap(\.self)
        scale = TimeScale(longest: times.map { abs($0) }.max() ?? 0)
    }

    var html: HTML {
        let count = comparison.differentCount
        let different = count == 0 ? "nothing is different" : "\(count) of \(comparison.rows.count) are different"
        return """
            <table class=comparison><caption>What happened, and when since the opening\(scale.unit.map { ", in \($0)" } ?? ""): \(different)</caption>
            <thead><tr><th scope=col>What<th scope=col>First<th scope=col>Second<th scope=col>Difference</thead>
            <tbody>\(comparison.rows.map(row))</table>
            """
    }

    private func row(_ row: TransactionComparison.Row) -> HTML {
        guard let fact = row.first ?? row.second else { return "" }
        let lane = min(fact.lane, 3)
        let differences = row.differences
        let classes: HTML = "\("l\(lane)", if: lane > 0)\(" one", if: row.first == nil || row.second == nil)"
        let isTold = !differences.isEmpty || comparison.isFarOff(row)
        return """

            <tr class="\(classes)"><th scope=row class=\(fact.entry.kind.mark)>\(label(of: fact))\(cell(row.first))\(cell(row.second))\
            <td\(" class=differs", if: isTold)>\(words(row, differences))
            """
    }

    private func label(of fact: TransactionComparison.Fact) -> HTML {
        let text =
            switch fact.entry.kind {
            case .event, .attributesSet, .opened: fact.entry.words
            case .closed: "closed"
            case .exchangeOpened, .exchangeClosed:
                fact.exchange.map { "\($0.method) \(PathTemplate($0.path))" } ?? fact.entry.words
            }
        return "\(text)"
    }

    private func cell(_ fact: TransactionComparison.Fact?) -> HTML {
        guard let fact else { return "<td><i>-</i>" }
        let result =
            switch fact.entry.kind {
            case .closed: fact.entry.words
            case .exchangeClosed: fact.exchange?.result ?? fact.entry.words
            case .event, .attributesSet, .opened, .exchangeOpened: ""
            }
        let (small, time): (HTML, String) = ("<small>\(result)</small>", fact.time == 0 ? "0" : scale.text(fact.time))
        return "<td>\(time)\(small, if: !result.isEmpty)"
    }

    private func words(_ row: TransactionComparison.Row, _ differences: [TransactionComparison.Difference]) -> String {
        var words = differences.map { difference in
            switch difference {
            case .onlyInFirst: "only in the first"
            case .onlyInSecond: "only in the second"
            case .status(let one, let other), .outcome(let one, let other): "\(other) instead of \(one)"
            case .error(let one?, let other?): "\(Words.error(other)) instead of \(Words.error(one))"
            case .error(let one?, nil): "without \(Words.error(one))"
            case .error(nil, let other?): "with \(Words.error(other))"
            case .error(nil, nil): ""
            case .attribute(let name, let one, let other): Self.attribute(name, one, other)
            }
        }
        if let later = row.laterMicroseconds, later != 0 {
            let uncertainty = row.uncertaintyMicroseconds
            let doubt = uncertainty == 0 ? "" : " ± \(Words.duration(uncertainty))"
            words.append("\(Words.duration(abs(later)))\(doubt) \(later < 0 ? "earlier" : "later")")
        }
        return words.joined(separator: " · ")
    }

    private static func attribute(_ name: String, _ one: String?, _ other: String?) -> String {
        guard let other else { return "without \(name)=\(one ?? "")" }
        return "\(name)=\(other)" + (one.map { " instead of \($0)" } ?? ", which the first has not")
    }
}

extension TransactionRecord.Kind {
    /// The class that tells the kinds apart; that of events has no sign.
    fileprivate var mark: HTML {
        switch self {
        case .event: "event"
        case .attributesSet: "set"
        case .opened: "from"
        case .closed: "to"
        case .exchangeOpened: "out"
        case .exchangeClosed: "in"
        }
    }
}
