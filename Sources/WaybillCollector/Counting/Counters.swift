#if Collector
import WaybillAnalysis
import WaybillCore
import WaybillExport
import WaybillInspector
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
#endif
