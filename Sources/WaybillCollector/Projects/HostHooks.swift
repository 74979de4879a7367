#if Collector
import Foundation
public import Waybill
public import WaybillCore
import WaybillStore

extension Collector {
    /// Where facts come from.
    public struct Origin: Sendable, Hashable {
        /// The project that stores them.
        public let project: String
        /// The ID of the source: one launch of a process, or one service that sends spans.
        public let source: GUID
        /// The name of the app or service, such as its bundle identifier; `apptxnset-v0.0.1` for sets of that version.
        public let app: String
        /// The version of the app; empty if it is unknown.
        public let appVersion: String

        init(_ source: SourceIdentity, in project: ProjectName) {
            (self.project, self.source) = (project.description, source.id)
            (app, appVersion) = (source.app, source.appVersion)
        }
    }

    /// New facts of one source that are stored, synced to the disk.
    public struct Stored: Sendable, Hashable {
        /// Where the facts come from.
        public let origin: Origin
        /// The transactions with new facts. A part whose opening has not arrived yet is not among them.
        public let transactions: [GUID]
        /// The number of new facts, at least 1.
        public let factCount: Int
    }

    /// Returns the facts of a draft to store, changed or not; `nil` withholds them.
    public typealias WillStore = @Sendable (_ draft: RecordingDraft, _ origin: Origin) -> RecordingDraft?

    /// Receives what a collector stored.
    public typealias DidStore = @Sendable (_ stored: Stored) -> Void
}

struct HostHooks: Sendable {
    let willStore: Collector.WillStore?
    /// `nil` if the host doesn't want to know.
    let notices: StoredNotices?

    init(_ willStore: Collector.WillStore? = nil, _ didStore: Collector.DidStore? = nil) {
        self.willStore = willStore
        notices = didStore.map(StoredNotices.init)
    }

    func hooks(of project: ProjectName, _ redactor: Redactor, _ counters: Counters) -> IngestHooks {
        var hooks = IngestHooks()
        hooks.didFinish = { counters.count($0) }
        if let willStore {
            hooks.willStore = { fact, origin in
                guard let draft = RecordingDraft(fact, of: origin) else { return fact }
                guard let kept = willStore(draft, Collector.Origin(origin.source, in: project)) else { return nil }
                return kept == draft ? fact : kept.applied(to: fact, redactedBy: redactor)
            }
        }
        if let notices {
            hooks.didStore = { stored in
                for facts in stored {
                    let isPassed = notices.pass(
                        Collector.Stored(
                            origin: Collector.Origin(facts.source, in: project), transactions: facts.transactions,
                            factCount: facts.factCount))
                    if !isPassed { counters.count { $0.missedNotices += 1 } }
                }
            }
        }
        return hooks
    }
}

/// A queue of notices for the host, which no write waits for.
final class StoredNotices: Sendable {
    static let limit = 1_000

    private let didStore: Collector.DidStore
    private let queue = DispatchQueue(label: "waybill.notices")
    private let waitingCount = Locked(0)

    init(_ didStore: @escaping Collector.DidStore) { self.didStore = didStore }

    /// Returns `false` if the queue is full.
    func pass(_ stored: Collector.Stored) -> Bool {
        let hasRoom = waitingCount.withLock { count in
            guard count < Self.limit else { return false }
            count += 1
            return true
        }
        guard hasRoom else { return false }
        queue.async {
            self.didStore(stored)
            self.waitingCount.withLock { $0 -= 1 }
        }
        return true
    }
}
#endif
