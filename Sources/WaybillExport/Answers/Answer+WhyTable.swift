import WaybillCore
package import WaybillQueries

extension WhyAnswer {
    func table(_ subject: String) -> AnswerTable {
        let fields: [Field<Difference>] = [
            Field("kind") { .text($0.trait.kind.rawValue) }, Field("name") { .text($0.trait.name) },
            Field("value") { .text($0.trait.value) },
            Field(nil, "What differs", .name) { .text($0.trait.words, .strong) },
            Field("chosen_count") { .count($0.chosenCount) }, Field("other_count") { .count($0.otherCount) },
            Field("chosen", "Chosen") { AnswerTable.Cell(value: .rate($0.chosen.value)) },
            Field("others", "Others") { AnswerTable.Cell(value: .rate($0.others.value)) },
            Field("difference", "Points") { Self.points($0.difference.value) },
            Field("low") { Self.points($0.difference.low) }, Field("high") { Self.points($0.difference.high) },
            Field(nil, "Interval", .interval) { .text($0.difference.pointsInterval, .faint) },
        ]
        var table = AnswerTable(differences, fields)
        table.heading = (subject, ", what sets \(chosen) chosen transactions apart from \(others) others")
        table.spare = ["Interval", "Others"]
        table.sentences = differences.prefix(Self.sentenceCount).map(\.sentence) + [remark]
        return table
    }

    /// The others are in the table.
    private static let sentenceCount = 3

    package var remark: String {
        let none = differences.isEmpty ? "Nothing sets the chosen transactions apart. " : ""
        return """
            \(none)\(Words.count(comparisons, "trait")) compared: with 95 % confidence, all intervals hold together (Bonferroni). \
            A trait can be a consequence rather than the cause.
            """
    }

    private static func points(_ rate: Double?) -> AnswerTable.Cell {
        AnswerTable.Cell(value: .number(rate), shown: rate?.pointsText ?? "-")
    }
}
