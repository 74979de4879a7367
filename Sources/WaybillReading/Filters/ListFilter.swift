package import WaybillCore

/// What filters of transactions and of exchanges have in common.
package protocol ListFilter: Hashable, Sendable, Codable {
    static var subject: FilterExpression.Subject { get }
    var useCase: Int? { get set }
    var outcomes: Set<TransactionOutcome> { get set }
    var sinceMicroseconds: Int64? { get set }
    var untilMicroseconds: Int64? { get set }
    var text: String? { get set }
    var conditions: [FilterCondition] { get set }

    /// A filter that lets everything through.
    init()
    /// Takes an order, where it has one.
    mutating func sort(_ order: TransactionFilter.Order)
    /// Lets transactions through by what is known of who began them, where it is about transactions.
    mutating func admit(_ beginner: TransactionFilter.Beginner)
    /// Leaves out what was begun below another one that passes, where it is about transactions.
    mutating func fold()
}

private enum ListFilterKey: CodingKey { case useCase, outcomes, sinceMicroseconds, untilMicroseconds, text, conditions }

extension ListFilter {
    /// Reads a filter but for what it alone has; a condition that is left out lets everything through.
    init(common decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ListFilterKey.self)
        self.init()
        useCase = try container.decodeIfPresent(Int.self, forKey: .useCase)
        outcomes = try container.decodeIfPresent(Set<TransactionOutcome>.self, forKey: .outcomes) ?? []
        sinceMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .sinceMicroseconds)
        untilMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .untilMicroseconds)
        text = try container.decodeIfPresent(String.self, forKey: .text)
        guard container.contains(.conditions), try !container.decodeNil(forKey: .conditions) else { return }
        var list = try container.nestedUnkeyedContainer(forKey: .conditions)
        while !list.isAtEnd {
            let condition = try list.superDecoder()
            conditions.append(
                try condition.filterText { (text) throws(FilterMistake) in
                    guard conditions.count < FilterExpression.termLimit else {
                        throw FilterExpression.tooMany("terms", at: 0, text.unicodeScalars.count)
                    }
                    return try FilterCondition(text, about: Self.subject)
                })
        }
    }

    /// The text as a condition; none where there is none.
    var textCondition: [FilterCondition] { text.map { $0.isEmpty ? [] : [.text($0)] } ?? [] }
}
