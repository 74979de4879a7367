package import Foundation
package import WaybillCore

/// A store of the facts of several sources, as the collector, the command line and exports use it: an SQLite file, a
/// collector over HTTP, or a ClickHouse database.
///
/// Values go in and come out. A store has a clock of its own, which decides what has timed out and what a time like
/// `1h` means. Throws ``QueryFailure`` if it does not understand the request, and `WaybillError` if the store cannot be
/// read, written or reached.
///
/// What can be put together from these is an extension. Pages need more, see ``BrowsableStore``; questions and exports
/// are refinements in the targets that know them.
package protocol RecordStore: Sendable {
    /// Takes in a set: what is new is stored, what is known is counted, what cannot be is rejected with its reason.
    ///
    /// The rows that result depend neither on the order in which sets come nor on repetitions.
    ///
    /// - Returns: The verdicts, once what was accepted survives a power cut.
    func add(_ set: ReceivedSet) async throws -> Receipt

    /// A page of transactions, in the order that the request asks for; with `after`, what has changed since a position.
    ///
    /// - Parameters:
    ///   - request: What ``ListRequest/transactionFilter(names:now:)`` makes a filter of.
    ///   - budget: Once it has passed the page may end early, with what was found; nil: the page is made whole. A store
    ///     may do without.
    func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<TransactionSummary>

    /// One transaction, by its ID or its support code, merged from all sources.
    func transaction(_ key: String) async throws -> TransactionRecord

    /// A page of exchanges, the newest first.
    ///
    /// - Parameters:
    ///   - request: What ``ListRequest/exchangeFilter(names:now:)`` makes a filter of.
    ///   - budget: As for ``transactions(_:within:)``.
    func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord>

    /// One exchange, by its ID or its code.
    func exchange(_ key: String) async throws -> ExchangeRecord

    /// What was kept of the bodies of exchanges, of the first of them until there are enough; bodies never reach a
    /// collector.
    ///
    /// - Parameters:
    ///   - exchanges: Of which.
    ///   - limit: In bytes.
    /// - Returns: Also whether some were left out.
    func bodies(of exchanges: [FactID], limit: Int) async throws -> (bodies: [FactID: ExchangeBodies], isCut: Bool)

    /// A page of the sources that are known, with their ledgers and gaps.
    func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord>

    /// A page of the codes that have several names, by use case and event.
    func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict>

    /// Takes facts away for good, bytes included; transactions always whole.
    ///
    /// The installation and the transactions are remembered, so that what comes of them later is rejected.
    ///
    /// - Throws: `.setting` for `ErasureScope.all` and by time where a store leaves that to its operator, as a
    ///   collector does over HTTP; what an installation or a transaction left must go by every store.
    func erase(_ scope: ErasureScope) async throws -> Erasure

    /// One step towards an age and a size: takes away some transactions that were received, whole, those that came
    /// first. What goes is still known when it comes again.
    ///
    /// - Returns: How many facts went; 0: none is left that may.
    /// - Throws: `.setting` where a store leaves it to its operator, as a collector does over HTTP.
    func retire(_ limits: RetirementLimits) async throws -> Int

    /// Counts everything again and compares it with the books; what a store cannot count is nil.
    func verify() async throws -> StoreVerification

    /// What a person should know before trusting what is read, each one sentence, e.g. that a WAL is missing.
    func warnings() async -> [String]
}

/// How old, how large and how much what was received may become.
package struct RetirementLimits: Sendable, Hashable {
    /// Since the last of a transaction was received; nil: without limit.
    package var maximumAge: Duration?
    /// Bytes that rows and indexes may take; nil: without limit.
    package var maximumByteCount: Int64?
    /// How many transactions there may be; nil: without limit.
    package var maximumTransactionCount: Int?

    /// Makes limits.
    package init(maximumAge: Duration? = nil, maximumByteCount: Int64? = nil, maximumTransactionCount: Int? = nil) {
        self.maximumAge = maximumAge
        self.maximumByteCount = maximumByteCount
        self.maximumTransactionCount = maximumTransactionCount
    }
}

extension RecordStore {
    package func transactions(_ request: ListRequest) async throws -> RecordPage<TransactionSummary> {
        try await transactions(request, within: nil)
    }

    package func exchanges(_ request: ListRequest) async throws -> RecordPage<ExchangeRecord> {
        try await exchanges(request, within: nil)
    }

    /// What was kept of the bodies of one exchange.
    package func bodies(of exchange: FactID) async throws -> ExchangeBodies {
        try await bodies(of: [exchange], limit: .max).bodies[exchange] ?? ExchangeBodies()
    }

    /// Every source that is known, page after page.
    package func allSources() async throws -> [SourceRecord] {
        var request = ListRequest(matching: SourceFilter(), limit: ListRequest.limits.upperBound)
        var sources: [SourceRecord] = []
        // Nothing is searched for here: hardly any page but the last is short.
        var pages = PageCount(shortLimit: 100)
        repeat {
            let page = try await self.sources(request)
            sources += page.rows
            request[.cursor] = try pages.next(after: page)
        } while request[.cursor] != nil
        return sources
    }

    /// What is meant; IDs need not be known here, support codes must.
    package func erasureScope(_ query: ErasureQuery) async throws -> ErasureScope {
        if let installation = query.installation { return .installation(installation) }
        var ids: [GUID] = []
        for key in query.ids {
            if let id = GUID(key) { ids.append(id) } else { ids.append(try await transaction(key).summary.id) }
        }
        return .transactions(ids)
    }

    /// None.
    package func warnings() async -> [String] { [] }
}

/// Goes on from page to page of a list, and ends where no list would: a server that is no collector could give a next page
/// for ever.
package struct PageCount {
    /// Pages that have as many rows as were asked for.
    private static let fullLimit = 2_000
    private let shortLimit: Int
    private var (full, short) = (0, 0)
    private var last: String?

    /// - Parameter shortLimit: Pages that have fewer rows: a search gives such, where its time is over.
    package init(shortLimit: Int = 1_000) { self.shortLimit = shortLimit }

    /// The cursor of the next page; nil behind the last.
    ///
    /// - Throws: `.refused` after very many pages, or where a cursor leads nowhere.
    package mutating func next<Row>(after page: RecordPage<Row>) throws(WaybillError) -> String? {
        guard let next = page.next else { return nil }
        if page.rows.count < ListRequest.limits.upperBound { short += 1 } else { full += 1 }
        guard next != last, full <= Self.fullLimit, short <= shortLimit else {
            throw WaybillError(
                .refused,
                "The list does not end: after \(full + short) pages there is still a next one. Is this a Waybill collector? Ask for less, or for the collector's folder."
            )
        }
        last = next
        return next
    }
}

/// A store at hand that pages can be made of: what they show beside what every store tells.
package protocol BrowsableStore: RecordStore {
    /// What a page of sources or of one source shows of them, besides their records; one that is not known is left out.
    func details(of sources: [GUID], upTo limits: SourceDetails.Limits) async throws -> [GUID: SourceDetails]

    /// One source, by its ID, its support code, or the beginning of that.
    func source(_ key: String) async throws -> SourceRecord

    /// Names of apps, in order.
    func apps(limit: Int) async throws -> [String]

    /// The names that were recorded, and what is worth knowing of them; where there are very many, those of use cases
    /// that have transactions.
    func names() async throws -> [RecordedName]

    /// How many codes have several names.
    func nameConflictCount() async throws -> Int

    /// When each version of an app was first started.
    func firstStarts() async throws -> [AppVersion: Date]

    /// A number that is another one when anything has changed.
    func version() async throws -> Int64

    /// How many errors transactions hold: events that carry one, and exchanges that failed; only those that have some.
    func errorCounts(of transactions: [GUID]) async throws -> [GUID: Int]

    /// The transactions that the same source began just before and just after this one; nil where there is none.
    func neighbors(of transaction: GUID) async throws -> (before: TransactionSummary?, after: TransactionSummary?)

    /// What is on its way, what was rejected, and what came.
    ///
    /// - Parameter hours: How many of the last ones are counted by the hour.
    func delivery(hours: Int) async throws -> DeliveryState

    /// Facts that were rejected and are still there, the newest first.
    func quarantined(limit: Int) async throws -> [QuarantinedFact]
}

/// What is told of one source besides its record.
package struct SourceDetails: Sendable {
    /// How far its clock was from those of others; nil where nothing is known.
    package var clocks: SourceClocks?
    /// About when missing facts were recorded.
    package var gaps: [GapTime]
    /// The transactions that it took part in last, the latest first.
    package var transactions: [TransactionSummary]
    /// When its latest fact was recorded; nil where there is none. Of a source that was received, only where
    /// transactions are told, too.
    package var latestFact: Date?
    /// When the first set of it brought facts; nil for a source of this very store, and where no transactions are told.
    package var firstArrival: Date?

    /// Makes details.
    package init(
        clocks: SourceClocks?, gaps: [GapTime], transactions: [TransactionSummary], latestFact: Date?,
        firstArrival: Date?
    ) {
        self.clocks = clocks
        self.gaps = gaps
        self.transactions = transactions
        self.latestFact = latestFact
        self.firstArrival = firstArrival
    }

    /// About when a source's missing facts were recorded: the facts around them that are there.
    package struct GapTime: Hashable, Sendable {
        /// What is missing.
        package var gap: SourceRecord.Gap
        /// When a fact before was recorded; nil: there is none.
        package var after: Date?
        /// The same of a fact behind; nil: there is none.
        package var before: Date?

        /// Makes a gap's times.
        package init(gap: SourceRecord.Gap, after: Date?, before: Date?) {
            self.gap = gap
            self.after = after
            self.before = before
        }
    }

    /// How much of each is told; 0: it is not looked for.
    package struct Limits: Sendable, Hashable {
        /// Other clocks that this one is compared with.
        package var clocks: Int
        /// Gaps of which the time is told.
        package var gaps: Int
        /// Transactions that it took part in.
        package var transactions: Int

        /// Makes limits.
        package init(clocks: Int, gaps: Int = 0, transactions: Int = 0) {
            self.clocks = clocks
            self.gaps = gaps
            self.transactions = transactions
        }
    }
}

extension SourceDetails: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var details = self
        details.clocks = clocks.redacted(by: redactor)
        details.transactions = transactions.redacted(by: redactor)
        return details
    }
}

/// A store that answers questions about many transactions.
package protocol AnsweringStore: RecordStore {
    /// The answer to a question, by one state of the store.
    ///
    /// - Parameters:
    ///   - question: What is asked.
    ///   - parameters: What counts, as a list takes it, in place of the question's own filter: conditions of a
    ///     `ListRequest` about exchanges for the question about the network, about transactions for the others. None:
    ///     what the question means.
    /// - Throws: `QueryFailure` for a question that cannot be answered as it is asked, `WaybillError` where the store
    ///   cannot be read.
    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws -> AnyAnswer
}

/// A store at hand that pages with choices and answers can be made of.
package protocol ExplorableStore: AnsweringStore, BrowsableStore {
    /// Values that the newest transactions of a filter have, to choose from.
    ///
    /// - Parameters:
    ///   - useCase: nil: of all.
    ///   - limit: How many transactions are looked at.
    func seenValues(useCase: Int?, limit: Int) async throws -> SeenValues
}
