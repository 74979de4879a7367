public import WaybillCore
import WaybillReading
import WaybillStore

/// One pass over the transactions, with the attribute of each.
extension MeasureQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> MeasureAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<NamedSegments<CollectedNumbers>> {
        let sources = try SourceDirectory(context.connection)
        let all = try TransactionCursor(filter, segmentation: segmentation, reading: [], sources: sources, context)
        let query =
            "SELECT \(AttributeSQL(literally: attribute).latest) FROM parts p WHERE p.source = ? AND p.sequence = ?"
        let folded = try context.fold(all, into: Segmented(CollectedNumbers())) {
            (transactions, collected) throws(WaybillError) in
            let said = try transactions.connection.statement(query)
            try transactions.forEach { (transaction, _) throws(WaybillError) in
                let detail = try said.first(transaction.source, transaction.sequence) { row in row.optionalText(0) }
                let value = DetailColumn(detail ?? nil).attributes[attribute] as AttributeValue?
                collected.add(transaction) { $0.add(value, transaction.weight) }
            }
        }
        return folded.map { $0.named(all.segmentValues) }
    }

    package func answer(_ found: consuming Folded<NamedSegments<CollectedNumbers>>) throws(WaybillError)
        -> MeasureAnswer
    {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.answer(by: segmentation) { $0.segment($1) }
        answer.weighed = asked.weighing
        guard answer.total.statistics.count == 0 else { return answer }
        answer.whyEmpty = asked.whyNone { found in "None of \(found) has a number as its attribute “\(attribute)”." }
        return answer
    }
}

package struct CollectedNumbers: Mergeable {
    private var numbers: [(value: Double, weight: Int64)] = []
    /// Weights, added up.
    private var without: Int64 = 0

    mutating func add(_ value: AttributeValue?, _ weight: Int64) {
        switch value {
        case .integer(let number): numbers.append((Double(number), weight))
        case .double(let number) where number.isFinite: numbers.append((number, weight))
        case .double, .string, .bool, nil: without += weight
        }
    }

    package mutating func merge(_ other: consuming CollectedNumbers) {
        numbers += other.numbers
        without += other.without
    }

    func segment(_ value: String?) -> MeasureSegment {
        MeasureSegment(value: value, statistics: NumberStatistics(numbers), without: Weights.count(without))
    }
}
