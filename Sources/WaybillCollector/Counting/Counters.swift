#if Collector
import WaybillCore
import WaybillExport
import WaybillInspector
import WaybillQueries
import WaybillSpans

/// What a collector has done for a project since it started; each number only grows.
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
    /// Microseconds since 1970 when counting began.
    let begunMicroseconds: Int64

    init(clock: any TransactionClock = SystemClock()) {
        self.clock = clock
        begunMicroseconds = clock.wallMicroseconds()
    }

    var values: Values { counted.withLock { $0 } }

    /// Counts the sets of one commit.
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

    /// Counts what a backend said about spans.
    func count(_ receipt: SpanReceipt) {
        counted.withLock { values in
            values.acceptedSpans += receipt.acceptedCount
            values.rejectedSpans += receipt.rejectedCount
        }
    }

    /// Counts what became of spans that were received, and the facts that came of them.
    func count(_ verdict: SpanVerdict) {
        counted.withLock { values in
            values.commits += 1
            values.acceptedFacts += verdict.factCount
            values.takenSpans += verdict.acceptedCount
            values.knownSpans += verdict.knownCount
            values.refusedSpans += verdict.refusedCount
        }
    }

    /// Counts an answer.
    func count(_ route: Route, status: Int) {
        counted.withLock { $0.answers[Answer(route: route.rawValue, status: status), default: 0] += 1 }
    }

    /// Counts an answer that is a refusal.
    func count(_ refusal: Refusal) { counted.withLock { $0.refusals[refusal, default: 0] += 1 } }
}

/// Why a request got a 401, 403, 429 or 503, for a reason other than what it asked: in one word, for `/metrics` and the
/// log.
enum Refusal: String, Sendable, CaseIterable {
    /// 401: it carries no token.
    case noToken = "no_token"
    /// 401: it carries something that is no token of the collector's.
    case unknownToken = "unknown_token"
    /// 401: its token has ended.
    case endedToken = "ended_token"
    /// 403: its token may not do that.
    case role
    /// 429: its token sends more requests than it may.
    case rate
    /// 503: there is no room for it.
    case overload
    /// 503: the store cannot be read or written.
    case store
    /// 503: the bytes of what was to be erased are still there.
    case unfinishedErasure = "unfinished_erasure"
}

/// Which refusals the log is told of: of each kind and token the first, and then one in ten seconds, so that refused
/// requests cannot fill a disk.
final class RefusalLog: Sendable {
    /// What is told apart.
    struct Kind: Hashable {
        var refusal: Refusal
        /// The ID of the token; nil where there is none, or none that is known. So there are only as many kinds as
        /// tokens times refusals.
        var token: String?
    }

    private struct Told {
        /// When last, in microseconds of uptime.
        var at: Int64
        /// Refusals after that.
        var since = 0
    }

    private static let intervalMicroseconds: Int64 = 10_000_000
    private let told = Locked<[Kind: Told]>([:])

    /// Counts a refusal; how many there were since the line before, this one included, where a line is due now.
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
