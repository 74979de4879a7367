package import WaybillCore
package import WaybillStore

/// A transaction as one row of a table, with the properties that most questions read.
package struct TransactionRow: Sendable {
    package var id: GUID
    /// The opening of the leading part.
    package var opening: FactID
    package var isJoined = false
    /// Whether its times may change without new facts, because a clock is far ahead.
    package var isUnsettled = false
    package var useCase = 0
    package var at: Int64 = 0
    package var begun: Int64 = 0
    package var closing: (sequence: Int64, at: Int64)?
    /// The stored value of ``TransactionOutcome``, which does not say `timedOut`.
    package var outcome = 0
    package var timeout: Int64 = 0
    package var lastActivity: Int64 = 0
    package var errorCode: Int64?
    /// The details of the closing, as in a store; empty without an error.
    package var errorDetail = ""
    package var sampling: Fact.Sampling?
    package var parent: GUID?
    /// The sequence of the part that began it.
    package var parentPart: Int64?
    /// Those that lists show.
    package var listedAttributes: Attributes = [:]
    /// The latest values, as ``Segmentation/attribute(_:)`` describes.
    package var attributes: Attributes = [:]
    /// All attributes of parts, events and sources, some of them several times.
    package var said: [(name: String, value: AttributeValue)] = []
    /// The sources of the parts, that of the leading part first. Without events, they may be missing.
    package var sources: [Source] = []
    package var parts: [Part] = []
    /// Sorted by source, time and sequence.
    package var events: [Event] = []
    /// Sorted by part and sequence.
    package var exchanges: [Exchange] = []
    /// Errors of parts, events and exchanges, and the underlying ones.
    package var errors: [FoundError] = []
    /// The searchable texts, in lowercase, except names and IDs.
    package var texts: [String] = []
    /// Whether the transaction counts; see ``RowSelection/others``.
    package var isChosen = true
    /// For segments by parents; `nil` if the parent is unknown.
    package var parentRow: Parent?
    /// Of transactions that differ in nothing else that is read, with their sources; `nil` for one transaction.
    package var durations: [Int64]?

    package struct Parent: Sendable {
        package var outcome: TransactionOutcome
        package var useCase: Int
        /// The source that names the use case.
        package var source: GUID
        package var app, appVersion: String

        package init(outcome: TransactionOutcome, useCase: Int, source: GUID, app: String, appVersion: String) {
            (self.outcome, self.useCase) = (outcome, useCase)
            (self.source, self.app, self.appVersion) = (source, app, appVersion)
        }
    }

    package struct Source: Sendable {
        package var id: GUID
        package var installation: GUID?
        package var app = "", appVersion = "", device = "", os = "", osVersion = ""
        /// How the process ended; empty if unknown.
        package var endedBy = ""
        /// Those that date the facts.
        package var clock = WallClock([])
        /// Its place among all sources. Lists sort ties by it.
        package var rank: Int64 = 0

        package init(id: GUID) { self.id = id }
    }

    package struct Part: Sendable {
        /// The index in ``TransactionRow/sources``.
        package var source: Int
        package var useCase: Int
        package var sequence: Int64 = 0
        package var at: Int64 = 0
        package var closedAt: Int64?
        /// The exchange that caused a joined part.
        package var cause: FactID?
        package var outcome = 0
        package var timeout: Int64 = 0
        package var sampling: Fact.Sampling?

        package init(source: Int, useCase: Int) { (self.source, self.useCase) = (source, useCase) }
    }

    package struct Exchange: Sendable {
        /// The index in ``TransactionRow/parts``.
        package var part: Int
        package var sequence: Int64
        package var at: Int64
        /// The wall time of its opening.
        package var opened: Int64
        package var role: ExchangeRole
        package var method: String
        package var host: String?
        package var path: String
        package var closedAt: Int64?
        package var firstByteAt: Int64?
        package var state: ExchangeRecord.State
        package var status: Int?
        package var sentByteCount, receivedByteCount: Int64?
        package var closeCode: Int?
        package var error: RecordedError?
        /// The searchable texts, in lowercase, behind zero bytes.
        package var texts = ""

        package init(
            part: Int, sequence: Int64, at: Int64, opened: Int64, role: ExchangeRole, method: String, host: String?,
            path: String, state: ExchangeRecord.State
        ) {
            (self.part, self.sequence, self.at, self.opened) = (part, sequence, at, opened)
            (self.role, self.method, self.host, self.path, self.state) = (role, method, host, path, state)
        }
    }

    package struct FoundError: Sendable {
        /// The index in ``TransactionRow/exchanges``; `nil` for an error of a part or event.
        package var exchange: Int?
        package var code: Int64
        package var domain: String
        package var name: String
        /// Empty for underlying errors.
        package var text: String
    }

    package struct Event: Sendable {
        /// The index in ``TransactionRow/parts``.
        package var part: Int
        package var sequence: Int64
        package var at: Int64
        package var code: Int

        package init(part: Int, sequence: Int64, at: Int64, code: Int) {
            (self.part, self.sequence, self.at, self.code) = (part, sequence, at, code)
        }
    }

    package init(id: GUID, opening: FactID) { (self.id, self.opening) = (id, opening) }
}

/// The optional parts of rows.
package struct RowContents: Sendable {
    /// The codes of events; `nil` for all.
    package var codes: Set<Int>? = []
    /// The names of attributes; `nil` for all.
    package var attributes: Set<String>? = []
    /// The source of the leading part.
    package var readsSources = true
    package var readsErrors = false
    package var readsInstallations = false
    /// App, device and system.
    package var readsProperties = false
    /// The parts and exchanges with their times.
    package var readsExchanges = false
    /// With exchanges: method, host, path and status.
    package var readsRequests = false
    package var readsParents = false
    /// Groups transactions that began in the same step and differ only in their duration; `nil` for a row of each.
    package var groupStep: Int64?
}

extension RowContents {
    package init(readsSources: Bool = true) { self.readsSources = readsSources }
}
