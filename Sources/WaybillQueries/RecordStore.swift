package import WaybillCore

/// A store of facts from several sources: an SQLite file, a collector over HTTP, or a ClickHouse database.
///
/// Methods throw ``QueryFailure`` for an invalid request, and `WaybillError` if the store can't be used.
package protocol RecordStore: Sendable {
    /// Returns the verdicts once the accepted facts survive a power cut. Order and repetition of sets don't matter.
    func add(_ set: ReceivedSet) async throws -> Receipt

    /// With `after`, returns the transactions that changed since then. The page may end early after the budget.
    func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<TransactionSummary>

    func transaction(_ key: String) async throws -> TransactionRecord

    func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord>

    func exchange(_ key: String) async throws -> ExchangeRecord

    /// Returns the bodies of the first exchanges, up to a limit in bytes. Collectors never have bodies.
    func bodies(of exchanges: [FactID], limit: Int) async throws -> (bodies: [FactID: ExchangeBodies], isCut: Bool)

    func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord>

    func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict>

    /// Parameters that are not empty replace the question's own filter, about exchanges for the network question.
    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws -> AnyAnswer

    /// Erases facts including the bytes on the disk, transactions always whole, and rejects their later facts.
    ///
    /// - Throws: `.setting` for a scope that a store leaves to its operator, as a collector does over HTTP.
    func erase(_ scope: ErasureScope) async throws -> Erasure

    /// Deletes some whole transactions, the oldest arrivals first, and returns the number of facts; 0 at the end.
    func retire(_ limits: RetirementLimits) async throws -> Int

    /// Counts everything again and compares it with the ledgers; `nil` for counts that the store can't make.
    func verify() async throws -> StoreVerification

    /// Returns warnings about the data in one sentence each, e.g. about a missing WAL.
    func warnings() async -> [String]
}

package struct RetirementLimits: Sendable, Hashable {
    package var maximumAge: Duration?
    package var maximumByteCount: Int64?
    package var maximumTransactionCount: Int?

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

    package func bodies(of exchange: FactID) async throws -> ExchangeBodies {
        try await bodies(of: [exchange], limit: .max).bodies[exchange] ?? ExchangeBodies()
    }

    package func allSources() async throws -> [SourceRecord] {
        // No search is involved, so few pages are short.
        var pages = ListPages(ListRequest(matching: SourceFilter()), shortLimit: 100, of: sources)
        var all: [SourceRecord] = []
        while let page = try await pages.next() { all += page.rows }
        return all
    }

    /// Support codes must be known here, IDs need not be.
    package func erasureScope(_ query: ErasureQuery) async throws -> ErasureScope {
        if let installation = query.installation { return .installation(installation) }
        var ids: [GUID] = []
        for key in query.ids {
            if let id = GUID(key) { ids.append(id) } else { ids.append(try await transaction(key).summary.id) }
        }
        return .transactions(ids)
    }

    package func warnings() async -> [String] { [] }
}

package struct ListPages<Row: Sendable & Codable> {
    package private(set) var isOver = false
    private var request: ListRequest
    private var count: PageCount
    private let list: (ListRequest) async throws -> RecordPage<Row>

    package init(
        _ request: ListRequest, shortLimit: Int = 1_000,
        of list: @escaping (ListRequest) async throws -> RecordPage<Row>
    ) {
        (self.request, count, self.list) = (request, PageCount(shortLimit: shortLimit), list)
        self.request[.limit] = "\(ListRequest.limits.upperBound)"
    }

    package mutating func next() async throws -> RecordPage<Row>? {
        guard !isOver else { return nil }
        let page = try await list(request)
        request[.cursor] = try count.next(after: page)
        isOver = request[.cursor] == nil
        return page
    }
}

/// Limits the pages of a list, because a server could return next pages forever.
struct PageCount {
    private static let fullLimit = 2_000
    private let shortLimit: Int
    private var (full, short) = (0, 0)
    private var last: String?

    /// - Parameter shortLimit: The most pages with fewer rows, as a search returns them when its time is over.
    init(shortLimit: Int = 1_000) { self.shortLimit = shortLimit }

    mutating func next<Row>(after page: RecordPage<Row>) throws(WaybillError) -> String? {
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
