import WaybillCore
package import WaybillQueries
import WaybillStore

extension UseCaseSummary.ErrorCount {
    var condition: FilterCondition {
        let which = name ?? "\(code)"
        return .error(domain.isEmpty ? which : "\(domain) \(which)")
    }
}

extension FunnelAnswer {
    func tables(_ question: FunnelQuestion, _ subject: String) -> [AnswerTable] {
        let text = ", \(Words.count(total.transactions, "transaction")); times from the step before"
        let scale = TimeScale(([total] + segments).flatMap(\.steps).map(\.statistics))
        var tables = tables(\.value, by: question.segmentation, counting: \.transactions, (subject, text), scale) {
            $0.table($1)
        }
        tables[tables.count - 1].notes = ["A step counts where it comes after the one before."]
        return tables
    }
}

extension FunnelSegment {
    func table(_ title: String) -> AnswerTable {
        func before(_ index: Int) -> Step? { index == 0 ? nil : steps[index - 1] }
        var fields: [Field<Int>] = [
            Field("segment") { _ in .text(title) },
            Field("step", "Step", .name) { index in
                let point = steps[index].point
                let cell = AnswerTable.Cell.text(point.description, as: Words.point(point), .strong)
                if case .event(let name) = point { return cell.listing([.event(name)]) }
                return cell
            }, Field("transactions") { _ in .count(transactions) },
        ]
        fields += [
            Field("reached", "Reached") { .count(steps[$0].reached) },
            Field(nil, "Of all") { .share(steps[$0].reached, of: transactions) },
            Field("lost", "Lost") { index in
                guard steps[index].lost > 0 else { return .count(steps[index].lost, as: "") }
                return .count(steps[index].lost, .bad).listing(
                    Self.lost(steps[index].point, after: before(index)?.point))
            },
            Field(nil, "Of those before") { index in
                let lost = steps[index].lost
                return lost > 0 ? .share(lost, of: before(index)?.reached ?? transactions, .bad) : .empty
            },
        ]
        fields += Field.durations({ steps[$0].statistics }, titles: ["p50", "p90"])
        var table = AnswerTable(Array(steps.indices), fields)
        table.addBars(
            steps.map { [.init(Int64($0.reached)), .init(Int64($0.lost), "lost")] }, of: Int64(transactions))
        return table
    }

    /// Roughly the lost transactions: those without the step's event. Lists ignore the order of events.
    private static func lost(_ point: TransactionPoint, after before: TransactionPoint?) -> [FilterCondition] {
        var conditions: [FilterCondition] = []
        if case .event(let name)? = before { conditions.append(.event(name)) }
        switch point {
        case .event(let name): conditions.append(.not(.event(name)))
        case .finished: conditions.append(.outcome([.open, .interrupted, .timedOut]))
        case .begun: break
        }
        return conditions
    }
}

extension DropOffAnswer {
    func table(_ question: DropOffQuestion, _ subject: String) -> AnswerTable {
        let unfinished = question.unfinishedParameters
        var fields: [Field<LastEvent>] = [
            Field("last_event", "Last event", .name) { last in
                guard let event = last.event else { return .text(nil, as: "(no event)", .faint) }
                return .text(event, .strong).listing(
                    [.event(event)], where: unfinished, hint: "Those that have this event and did not finish")
            },
            Field("count", "Times") { .count($0.count) }, Field(nil, "Of them") { .share($0.count, of: transactions) },
        ]
        fields += Field.durations({ $0.statistics }, titles: ["p50", "p90"]).dropFirst()
        var table = AnswerTable(lastEvents, fields)
        table.heading = (subject, ", \(Words.count(transactions, "transaction")); times since the beginning")
        table.scale = TimeScale(lastEvents.map(\.statistics))
        table.addBars(lastEvents.map { [.init(Int64($0.count), TransactionOutcome.abandoned.name)] })
        return table
    }
}

extension DropOffQuestion {
    /// The parameters of a list of the same transactions; none if the filter specifies outcomes.
    package var unfinishedParameters: [(name: String, value: String)] {
        filter.outcomes == nil ? [("outcome", "abandoned,interrupted,timed_out")] : []
    }
}

extension LegsAnswer {
    func tables(_ question: LegsQuestion, _ subject: String) -> [AnswerTable] {
        let text = ", where the time of \(Words.count(total.duration.count, "transaction")) goes"
        let scale = TimeScale(([total] + segments).map(\.duration))
        var tables = tables(
            \.value, by: question.segmentation, counting: \.duration.count, (subject, text), scale
        ) { $0.table($1) }
        tables[tables.count - 1].notes = Words.remarks(total)
        return tables
    }
}

extension LegsSegment {
    func table(_ title: String) -> AnswerTable {
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        typealias Row = (leg: Leg?, total: Int64?, statistics: DurationStatistics)
        var fields: [Field<Row>] = [
            Field("segment") { _ in .text(title) },
            Field("leg", "Leg", .word) { row in
                guard let leg = row.leg else { return .text(nil, as: "All of it") }
                var cell = AnswerTable.Cell.text(leg.rawValue, as: Words.leg(leg), .strong)
                cell.sign = leg.rawValue
                return cell
            }, Field("total_us") { .time($0.total) },
        ]
        fields += [Field(nil, "Of all time") { row in row.total.map { .share($0, of: whole) } ?? .empty }]
        fields += Field.durations({ $0.statistics }, count: "Transactions", titles: ["p50", "p90", "p99", "Max"])
        var table = AnswerTable(
            legs.map { ($0.leg, $0.totalMicroseconds, $0.statistics) }, fields, sum: (nil, nil, duration),
            isShown: { $0.statistics.count > 0 })
        table.addBars(legs.map { [.init($0.totalMicroseconds, $0.leg.rawValue)] })
        return table
    }
}

extension CompareAnswer {
    func table(_ question: CompareQuestion, _ subject: String) -> AnswerTable {
        var table = AnswerTable(columns: [
            .init("measure", "Measure", .word), .init("a", "A", .group, note: Segmentation.title(of: a.value)),
            .init("b", "B", .group, note: Segmentation.title(of: b.value)), .init("difference", "Difference"),
            .init("low"), .init("high"), .init(nil, "95 % interval", .interval), .init("verdict", "Verdict", .word),
        ])
        table.rows = rates.map { rate in
            let difference = rate.difference
            func points(_ rate: Double?) -> AnswerTable.Cell {
                AnswerTable.Cell(value: .number(rate), shown: rate.map { "\($0.pointsText) points" } ?? "-")
            }
            let isKnown = difference.low != nil || difference.high != nil
            return AnswerTable.Row([
                .text(rate.measure.rawValue), AnswerTable.Cell(value: .rate(rate.a.value)),
                AnswerTable.Cell(value: .rate(rate.b.value)),
                points(difference.value), points(difference.low), points(difference.high),
                .text(isKnown ? "\(difference.pointsInterval) points" : "unknown", .faint), rate.verdict.cell,
            ])
        }
        table.rows += quantiles.map { quantile in
            let difference = quantile.differenceMicroseconds
            return AnswerTable.Row([
                .text("p\(quantile.percent)_us", as: "p\(quantile.percent)"), .time(quantile.aMicroseconds.value),
                .time(quantile.bMicroseconds.value), AnswerTable.Cell(value: .difference(difference.value)),
                AnswerTable.Cell(value: .difference(difference.low)),
                AnswerTable.Cell(value: .difference(difference.high)),
                AnswerTable.Cell(value: .interval(difference.low, difference.high), tone: .faint),
                quantile.verdict.cell,
            ])
        }
        let path = "from \(Words.point(question.from)) to \(Words.point(question.to))"
        table.heading = (subject, ", A and B; durations \(path)")
        table.scale = TimeScale([a.statistics, b.statistics])
        table.sentences = sentences
        table.notes = ["A has \(Words.count(a.transactions, "transaction")), B has \(b.transactions)."]
        return table
    }
}

extension Verdict {
    var cell: AnswerTable.Cell {
        switch self {
        case .higher: .text(rawValue, as: "more", .warning)
        case .lower: .text(rawValue, as: "less", .warning)
        case .noise: .text(rawValue, as: "noise", .faint)
        case .tooFew: .text(rawValue, as: "too few", .faint)
        }
    }
}
