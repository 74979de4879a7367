import Foundation
import WaybillCore

package struct CollectedErrors: Mergeable {
    var errors: [RecordedError: CollectedError] = [:]
    var useCases: [Int: CollectedUseCase] = [:]
    /// The errors of transactions before the time from which on errors are new.
    var known: Set<RecordedError> = []

    package mutating func merge(_ other: consuming CollectedErrors) {
        errors.merge(other.errors)
        useCases.merge(other.useCases)
        known.formUnion(other.known)
    }
}

struct CollectedUseCase: Mergeable {
    var name: String?
    var weight: Int64 = 0

    mutating func merge(_ other: consuming CollectedUseCase) {
        name = EmptyReason.least(name, other.name)
        weight.addWeight(other.weight)
    }
}

struct CollectedError: Mergeable {
    private var error: RecordedError
    private(set) var weight: Int64 = 0
    private(set) var useCases: Set<Int> = []
    private var users: Set<String> = []
    private var installations: Set<GUID> = []
    private var versions: Set<String> = []
    private var first = Int64.max
    private var last = Int64.min
    private var rates: [Int64: Int64] = [:]

    private static let versionLimit = 100

    init(_ error: RecordedError) {
        self.error = error
        self.error.text = nil
        self.error.underlying = error.underlying.suffix(1)
    }

    mutating func add(
        _ transaction: TransactionCursor.Transaction, _ error: RecordedError, user: String?,
        _ source: TransactionRow.Source?, step: Int64
    ) {
        takeLesserCodes(of: error)
        weight.addWeight(transaction.weight)
        useCases.insert(transaction.useCase)
        if let user { users.insert(user) }
        if let installation = source?.installation { installations.insert(installation) }
        if let version = source?.appVersion, !version.isEmpty { versions.insert(version) }
        (first, last) = (min(first, transaction.begun), max(last, transaction.begun))
        rates[step, default: 0].addWeight(transaction.weight)
    }

    mutating func merge(_ other: consuming CollectedError) {
        takeLesserCodes(of: other.error)
        weight.addWeight(other.weight)
        useCases.formUnion(other.useCases)
        users.formUnion(other.users)
        installations.formUnion(other.installations)
        versions.formUnion(other.versions)
        (first, last) = (min(first, other.first), max(last, other.last))
        rates.merge(other.rates, uniquingKeysWith: { $0.addingWeight($1) })
    }

    /// App versions may give different codes to the same name.
    private mutating func takeLesserCodes(of other: RecordedError) {
        error.code = min(error.code, other.code)
        guard let cause = other.underlying.last, !error.underlying.isEmpty else { return }
        error.underlying[0].code = min(error.underlying[0].code, cause.code)
    }

    func entry(_ known: [Int: CollectedUseCase], step: Int64, isNew: Bool?) -> ErrorsAnswer.Entry {
        let useCases = useCases.sorted()
        let transactions = useCases.reduce(Int64(0)) { $0.addingWeight(known[$1]?.weight ?? 0) }
        return ErrorsAnswer.Entry(
            error: error,
            useCases: useCases.map { .init(useCase: $0, name: known[$0]?.name ?? "use case \($0)") },
            count: Weights.count(weight), transactions: Weights.count(transactions), users: users.count,
            installations: installations.count, first: Date(microseconds: first), last: Date(microseconds: last),
            versions: versions.sorted(by: Self.isEarlier).suffix(Self.versionLimit),
            rates: rates.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map {
                .init(start: Date(microseconds: $0.key * step), count: Weights.count($0.value))
            }, isNew: isNew)
    }

    /// Compares digits as numbers: 2.9 is earlier than 2.10.
    private static func isEarlier(_ left: String, _ right: String) -> Bool {
        switch left.compare(right, options: .numeric) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: left.utf8.lexicographicallyPrecedes(right.utf8)
        }
    }
}
