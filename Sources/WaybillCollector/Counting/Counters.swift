#if Collector
import WaybillCore
import WaybillExport
import WaybillInspector
import WaybillQueries
import WaybillSpans
import WaybillStore

final class Counters: Sendable {
    struct Values: Sendable {
        var acceptedFacts = 0
        var knownFacts = 0
        var rejectedFacts = 0
        var failedSets = 0
        var refusedSources = 0
        var refusedNames = 0
        var missedNotices = 0
        var commits = 0
        var sentSpans = SpanReceipt()
        var takenSpans = 0
        var knownSpans = 0
        var refusedSpans = 0
        var acceptedPosts = 0
        var failedPosts = 0
        var answers: [Answer: Int] = [:]
        var refusals: [Refusal: Int] = [:]
        var rejections = RejectedFacts()
        var useCases: [String: FinishedTransactions] = [:]
    }

    struct Answer: Sendable, Hashable {
        var route: String
        var status: Int
    }

    private let counted = Locked(Values())
    private let clock: any TransactionClock
    let begunMicroseconds: Int64

    init(clock: any TransactionClock = SystemClock()) {
        self.clock = clock
        begunMicroseconds = clock.wallMicroseconds()
    }

    var values: Values { counted.withLock { $0 } }

    func count(_ results: [Result<Receipt, WaybillError>]) {
        let wall = clock.wallMicroseconds()
        counted.withLock { values in
            values.commits += 1
            for result in results {
                switch result {
                case .success(let receipt):
                    values.acceptedFacts += receipt.acceptedCount
                    values.knownFacts += receipt.knownCount
                    values.rejectedFacts += receipt.rejections.count
                    values.refusedSources += receipt.refusedSources.count
                    values.refusedNames += receipt.refusedNameCount
                    for rejection in receipt.rejections { values.rejections.add(rejection, at: wall) }
                case .failure: values.failedSets += 1
                }
            }
        }
    }

    func count(_ change: (inout Values) -> Void) { counted.withLock(change) }

    func count(_ verdict: SpanVerdict) {
        counted.withLock { values in
            values.commits += 1
            values.acceptedFacts += verdict.factCount
            values.takenSpans += verdict.acceptedCount
            values.knownSpans += verdict.knownCount
            values.refusedSpans += verdict.refusedCount
        }
    }

    /// Use cases beyond the limit share one name, because clients choose the names.
    func count(_ finished: [FinishedTransaction]) {
        counted.withLock { values in
            for transaction in finished {
                let isCounted =
                    values.useCases[transaction.useCase] != nil
                    || values.useCases.count < FinishedTransactions.useCaseLimit
                let name = isCounted ? transaction.useCase : FinishedTransactions.otherUseCases
                values.useCases[name, default: FinishedTransactions()].add(transaction)
            }
        }
    }

    func count(_ refusal: Refusal) { counted.withLock { $0.refusals[refusal, default: 0] += 1 } }
}

struct FinishedTransactions {
    static let useCaseLimit = 100
    static let otherUseCases = "other"
    /// The upper bounds of the histogram in milliseconds: a tap, a request, a checkout, a sync.
    static let bounds = [10, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000]

    private(set) var counts: [TransactionOutcome: Int] = [:]
    /// The transactions up to each of the bounds, and longer ones at the end.
    private(set) var buckets = Array(repeating: 0, count: bounds.count + 1)
    private(set) var microseconds: Int64 = 0

    mutating func add(_ transaction: FinishedTransaction) {
        counts[transaction.outcome, default: 0] += 1
        let took = max(0, transaction.durationMicroseconds)
        buckets[Self.bounds.firstIndex { took <= Int64($0) * 1_000 } ?? Self.bounds.count] += 1
        let (sum, isTooLarge) = microseconds.addingReportingOverflow(took)
        microseconds = isTooLarge ? .max : sum
    }
}

/// The reason for a 401, 403, 429 or 503 other than the request's content, for `/metrics` and the log.
enum Refusal: String, Sendable, CaseIterable {
    case noToken = "no_token"
    case unknownToken = "unknown_token"
    case endedToken = "ended_token"
    /// The closure of ``Access/authorizing(_:)`` refused the client.
    case host
    /// That closure failed.
    case hostFailure = "host_failure"
    case role
    case rate
    case overload
    case store
    /// 503: The rows may be erased already, but their bytes are not.
    case unfinishedErasure = "unfinished_erasure"
}

/// Limits the log to one line in ten seconds per kind of refusal, because refused requests could fill a disk.
final class RefusalLog: Sendable {
    struct Kind: Hashable {
        var refusal: Refusal
        /// The name of the identity; `nil` for no token or an unknown one, which limits the number of kinds.
        var name: String?
    }

    private struct Told {
        var at: Int64
        var since = 0
    }

    private static let intervalMicroseconds: Int64 = 10_000_000
    /// A host may have millions of users, so old kinds are removed at this count.
    private static let kindLimit = 10_000
    private let told = Locked<[Kind: Told]>([:])

    /// Returns the refusals since the previous line, including this one; `nil` if no line is due.
    func count(_ kind: Kind, now uptime: Int64) -> Int? {
        told.withLock { told in
            if var latest = told[kind], uptime - latest.at < Self.intervalMicroseconds {
                latest.since += 1
                told[kind] = latest
                return nil
            }
            let count = (told[kind]?.since ?? 0) + 1
            if told.count >= Self.kindLimit { told = told.filter { uptime - $0.value.at < Self.intervalMicroseconds } }
            guard told.count < Self.kindLimit || told[kind] != nil else { return nil }
            told[kind] = Told(at: uptime)
            return count
        }
    }
}
#endif
