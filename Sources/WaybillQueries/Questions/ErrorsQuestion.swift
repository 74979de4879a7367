public import Foundation
public import WaybillCore
import WaybillStore

/// The errors that transactions closed with, and which of them are new.
///
/// Errors of events and exchanges count only if the transaction closed with them.
public struct ErrorsQuestion: Question {
    /// The order of errors. Errors that it leaves equal are in the order of their domains and names.
    public enum Order: String, Hashable, Sendable, Codable, CaseIterable {
        /// The most frequent first.
        case count
        /// New ones first, then those whose first occurrence is the latest.
        case new
        /// The most recent first.
        case last
    }

    /// The transactions to count.
    public var filter: TransactionFilter
    package var newSinceMicroseconds: Int64?
    /// The order of the errors. Default: ``Order/count``.
    public var order: Order
    /// The most errors of the answer. Default: 100.
    public var limit: Int
    package var stepMicroseconds: Int64

    package static let limits = 1...1000

    /// Creates a question, by default about all transactions, without a time for new errors, with rates per day.
    public init(
        filter: TransactionFilter = TransactionFilter(), newSince: Date? = nil, order: Order = .count,
        limit: Int = 100, step: Duration = .seconds(86_400)
    ) {
        self.filter = filter
        newSinceMicroseconds = newSince?.microseconds
        self.order = order
        self.limit = limit
        stepMicroseconds = step.microseconds
    }

    /// The time from which on a first occurrence makes an error new; `nil` to leave this open.
    public var newSince: Date? {
        get { newSinceMicroseconds.map { Date(microseconds: $0) } }
        set { newSinceMicroseconds = newValue?.microseconds }
    }

    /// The step of ``ErrorsAnswer/Entry/rates``. Default: one day.
    public var step: Duration {
        get { .microseconds(stepMicroseconds) }
        set { stepMicroseconds = newValue.microseconds }
    }
}

extension ErrorsQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decode(TransactionFilter.self, forKey: .filter))
        newSinceMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .newSinceMicroseconds)
        order = try container.decodeIfPresent(Order.self, forKey: .order) ?? order
        limit = try container.decodeIfPresent(Int.self, forKey: .limit) ?? limit
        stepMicroseconds = try container.decodeIfPresent(Int64.self, forKey: .stepMicroseconds) ?? stepMicroseconds
    }
}

/// The errors that transactions closed with.
public struct ErrorsAnswer: QuestionAnswer {
    /// The errors in the order of the question, at most as many as its limit.
    public var errors: [Entry]
    /// The number of different errors, including those beyond the limit.
    public var errorCount: Int
    /// One sentence on why no error counts; `nil` if one does.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Creates an answer.
    public init(errors: [Entry], errorCount: Int, whyEmpty: String? = nil) {
        self.errors = errors
        self.errorCount = errorCount
        self.whyEmpty = whyEmpty
    }

    /// One error. Its domain, name and innermost cause identify it; without a name, the code does.
    public struct Entry: Hashable, Sendable, Codable {
        /// The error with its innermost cause as the only underlying one, and no text. A named error has its smallest code.
        public var error: RecordedError
        /// The use cases of the transactions, by code.
        public var useCases: [UseCase]
        /// The number of transactions that closed with the error.
        public var count: Int
        /// The number of all counted transactions of ``useCases``.
        public var transactions: Int
        /// The number of different values of the attribute `user`.
        public var users: Int
        /// The number of different installations that began the transactions.
        public var installations: Int
        package var firstMicroseconds: Int64
        package var lastMicroseconds: Int64
        /// The versions of the apps that began the transactions, in order; the last 100 of them.
        public var versions: [String]
        /// The transactions by begin time, in order. Steps without any are left out.
        public var rates: [Rate]
        /// Whether no transaction in the whole store closed with the error before ``ErrorsQuestion/newSince``; `nil`
        /// without this time.
        public var isNew: Bool?

        /// Creates an entry.
        public init(
            error: RecordedError, useCases: [UseCase], count: Int, transactions: Int, users: Int, installations: Int,
            first: Date, last: Date, versions: [String], rates: [Rate], isNew: Bool?
        ) {
            self.error = error
            self.useCases = useCases
            self.count = count
            self.transactions = transactions
            self.users = users
            self.installations = installations
            firstMicroseconds = first.microseconds
            lastMicroseconds = last.microseconds
            self.versions = versions
            self.rates = rates
            self.isNew = isNew
        }

        /// The begin time of the first counted transaction with the error.
        public var first: Date { Date(microseconds: firstMicroseconds) }
        /// The begin time of the last counted transaction with the error.
        public var last: Date { Date(microseconds: lastMicroseconds) }
    }

    /// A use case.
    public struct UseCase: Hashable, Sendable, Codable {
        /// The code.
        public var useCase: Int
        /// The alphabetically first name of the use case; `use case 17` without a known name.
        public var name: String

        /// Creates a use case.
        public init(useCase: Int, name: String) {
            self.useCase = useCase
            self.name = name
        }
    }

    /// The transactions with the error that began in one step of time.
    public struct Rate: Hashable, Sendable, Codable {
        package var startMicroseconds: Int64
        /// The number of transactions.
        public var count: Int

        /// Creates a rate.
        public init(start: Date, count: Int) {
            startMicroseconds = start.microseconds
            self.count = count
        }

        /// The start of the step, a multiple of its length since 1970.
        public var start: Date { Date(microseconds: startMicroseconds) }
    }
}

extension ErrorsQuestion: FoldedQuestion {
    public typealias Answer = ErrorsAnswer

    package var rowContents: RowContents {
        RowContents(attributes: ["user"], readsErrors: true, readsInstallations: true, readsProperties: true)
    }

    package func answered(_ answer: ErrorsAnswer) -> AnyAnswer { .errors(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<CollectedErrors> {
        let all = try EventCursor(self, reading: [.times, .error], attribute: "user", context)
        let step = wholeStep
        var folded = try context.fold(all, into: CollectedErrors()) { (events, collected) throws(WaybillError) in
            let sources = events.sources
            try events.transactions.forEach { (transaction, _) throws(WaybillError) in
                collected.useCases[transaction.useCase, default: CollectedUseCase()].weight
                    .addWeight(transaction.weight)
                guard let error = transaction.error else { return }
                collected.errors[error.identity, default: CollectedError(error)].add(
                    transaction, error, user: transaction.attribute?.description,
                    sources[transaction.source],
                    step: transaction.begun.quotientAndRemainder(flooringBy: step).quotient)
            }
        }
        let names = NameTable(context.connection)
        for useCase in Set(folded.collected.errors.values.flatMap(\.useCases)) {
            folded.collected.useCases[useCase]?.name = try names.knownUseCase(useCase)
        }
        folded.collected.known = context.elsewhere.errors
        try findKnown(for: &folded.collected, context.connection)
        return folded
    }

    /// Finds the errors of earlier transactions, whether or not they pass the filter.
    private func findKnown(for collected: inout CollectedErrors, _ connection: Connection) throws(WaybillError) {
        guard let newSinceMicroseconds else { return }
        let joined = filter.beginner.joined.map(String.init).joined(separator: ", ")
        try connection.statement(
            """
            SELECT p.error_code, p.closed_detail FROM parts p \
            WHERE p.listed_us < ? AND p.error_code IS NOT NULL AND p.joined IN (\(joined))
            """
        ).forEachRow(newSinceMicroseconds) { row in
            guard let error = DetailColumn(row.optionalText(1)).error(code: row.optionalInt(0)) else { return }
            collected.known.insert(error.identity)
        }
    }

    private var wholeStep: Int64 { max(1, stepMicroseconds) }

    package func answer(_ found: consuming Folded<CollectedErrors>) throws(WaybillError) -> ErrorsAnswer {
        let (asked, collected) = (found.asked, found.collected)
        let entries = collected.errors.filter { $0.value.weight > 0 }.map { identity, error in
            let entry = error.entry(
                collected.useCases, step: wholeStep,
                isNew: newSinceMicroseconds == nil ? nil : !collected.known.contains(identity))
            return (entry: entry, text: identity.identityText)
        }
        let sorted = entries.sorted { left, right in
            order.precedes(left.entry, right.entry)
                ?? left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
        }
        var answer = ErrorsAnswer(
            errors: sorted.prefix(max(0, limit)).map(\.entry), errorCount: sorted.count,
            whyEmpty: sorted.isEmpty ? asked.whyNone { "None of \($0) closed with an error." } : nil)
        answer.weighed = asked.weighing
        return answer
    }
}

extension ErrorsQuestion.Order {
    /// `nil` for errors that this order leaves equal.
    fileprivate func precedes(_ left: ErrorsAnswer.Entry, _ right: ErrorsAnswer.Entry) -> Bool? {
        func key(_ entry: ErrorsAnswer.Entry) -> (Int64, Int64) {
            switch self {
            case .count: (Int64(entry.count), 0)
            case .new: (entry.isNew == true ? 1 : 0, entry.firstMicroseconds)
            case .last: (entry.lastMicroseconds, 0)
            }
        }
        return key(left) == key(right) ? nil : key(left) > key(right)
    }
}
