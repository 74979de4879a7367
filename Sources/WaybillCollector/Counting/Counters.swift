#if Collector
import WaybillCore
import WaybillExport
import WaybillInspector
import WaybillQueries
import WaybillSpans

final class Counters: Sendable {
    struct Values: Sendable {
        var acceptedFacts = 0
        var knownFacts = 0
        var rejectedFacts = 0
        var failedSets = 0
        var refusedSources = 0
        var refusedNames = 0
        var commits = 0
        var acceptedSpans = 0
        var rejectedSpans = 0
        var takenSpans = 0
        var knownSpans = 0
        var refusedSpans = 0
        var answers: [Answer: Int] = [:]
        var refusals: [Refusal: Int] = [:]
        var rejections = RejectedFacts()
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

    func count(_ receipt: SpanReceipt) {
        counted.withLock { values in
            values.acceptedSpans += receipt.acceptedCount
            values.rejectedSpans += receipt.rejectedCount
        }
    }

    func count(_ verdict: SpanVerdict) {
        counted.withLock { values in
            values.commits += 1
            values.acceptedFacts += verdict.factCount
            values.takenSpans += verdict.acceptedCount
            values.knownSpans += verdict.knownCount
            values.refusedSpans += verdict.refusedCount
        }
    }

    func count(_ route: Route, status: Int) {
        counted.withLock { $0.answers[Answer(route: route.rawValue, status: status), default: 0] += 1 }
    }

    func count(_ refusal: Refusal) { counted.withLock { $0.refusals[refusal, default: 0] += 1 } }
}

/// The reason for a 401, 403, 429 or 503 other than the request's content, for `/metrics` and the log.
enum Refusal: String, Sendable, CaseIterable {
    case noToken = "no_token"
    case unknownToken = "unknown_token"
    case endedToken = "ended_token"
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
        /// The token's ID; `nil` for no token or an unknown one, which limits the number of kinds.
        var token: String?
    }

    private struct Told {
        var at: Int64
        var since = 0
    }

    private static let intervalMicroseconds: Int64 = 10_000_000
    private let told = Locked<[Kind: Told]>([:])

    /// Counts a refusal. Returns the refusals since the previous line, including this one; `nil` if no line is due.
    func count(_ kind: Kind, now uptime: Int64) -> Int? {
        told.withLock { told in
            if var latest = told[kind], uptime - latest.at < Self.intervalMicroseconds {
                latest.since += 1
                told[kind] = latest
                return nil
            }
            let count = (told[kind]?.since ?? 0) + 1
            told[kind] = Told(at: uptime)
            return count
        }
    }
}
#endif
