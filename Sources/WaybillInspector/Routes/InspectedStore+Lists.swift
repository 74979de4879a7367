import WaybillAnalysis
import WaybillCore
import WaybillReading
import WaybillStore

extension InspectedStore {
    /// How long a list is looked through before its page says how far it got.
    private static let patience = Duration.milliseconds(200)

    func transactionsPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items)
        let version = try await queries.read { reader in try reader.version() }
        let names = try await names()
        let (page, progress, mistake, status) = try await Self.page {
            try await queries.transactions(TransactionQuery(address.items), patience: .lasting(Self.patience))
        }
        let ids = page.rows.map(\.id)
        let errorCounts = try await queries.read { reader in try reader.errorCounts(of: ids) }
        let redactor = Redactor()
        let redacted = RecordPage(rows: page.rows.map(redactor.summary), next: page.next, whyEmpty: page.whyEmpty)
        let html = TransactionsPage(
            redacted, errorCounts: errorCounts, at: address, names: names, meant: mistake?.corrected(items), version: version,
            progress: progress, in: frame
        ).html
        return .page(html, status: status)
    }

    func exchangesPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items)
        let names = try await names()
        let (page, progress, mistake, status) = try await Self.page {
            try await queries.exchanges(ExchangeQuery(address.items), patience: .lasting(Self.patience))
        }
        let redactor = Redactor()
        let redacted = RecordPage(rows: page.rows.map { redactor.record($0) }, next: page.next, whyEmpty: page.whyEmpty, note: page.note)
        let html = ExchangesPage(
            redacted, at: address, names: names, meant: mistake?.corrected(items), progress: progress, in: frame
        ).html
        return .page(html, status: status)
    }

    /// What a search field completes. It is asked for when somebody is about to type, since the newest transactions have to be read for it.
    ///
    /// - Parameter items: `about=exchanges` for the list of these; `use_case`, a code, for the page of one.
    func terms(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        func value(_ name: String) -> String? { items.last { $0.name == name }?.value }
        let (useCase, all) = (value("use_case").flatMap { Int($0) }, try await names())
        let names = all.filter { useCase == nil || $0.useCase == useCase && $0.event != nil }
        var hosts: [String]?
        if value("about") == "exchanges" {
            hosts = ExchangeTerms.hosts(of: try await queries.exchanges(ExchangeQuery()).rows.map { Redactor().record($0) })
        }
        let terms = FilterTerms(
            try await seen(of: useCase), names: names, about: hosts == nil ? .transactions : .exchanges, hosts: hosts ?? [])
        return try .json(terms.all)
    }

    func names() async throws -> [RecordedName] { try await queries.read { reader in try reader.names() } }

    /// Transactions that are looked at for values to choose from.
    private static let sampleSize = 200

    /// Values to choose from.
    ///
    /// - Parameter useCase: nil: of all.
    func seen(of useCase: Int?) async throws -> SeenValues {
        var filter = TransactionFilter()
        filter.useCase = useCase
        return try await queries.read(TransactionQuery()) { [filter] reader, _, now in
            try reader.seenValues(filter, limit: Self.sampleSize, now: now).redacted(by: Redactor())
        }
    }

    /// What was asked for, or an empty page that says what is wrong with the question: the form is there to put it right.
    static func page<Row>(
        _ body: () async throws -> (RecordPage<Row>, SearchProgress?)
    ) async throws -> (RecordPage<Row>, SearchProgress?, FilterMistake?, Int) {
        func mistaken(_ message: String, _ mistake: FilterMistake? = nil) -> (RecordPage<Row>, SearchProgress?, FilterMistake?, Int) {
            (RecordPage(rows: [], next: nil, whyEmpty: message), nil, mistake, 400)
        }
        do {
            let (page, progress) = try await body()
            return (page, progress, nil, 200)
        } catch QueryFailure.parameter(_, let message) {
            return mistaken(message)
        } catch QueryFailure.filter(let mistake) {
            return mistaken("Character \(mistake.offset + 1) of the filter: \(mistake.message)", mistake)
        }
    }
}

extension FilterMistake {
    /// The filter among a page's parameters, with what may have been meant; nil where nothing is near.
    func corrected(_ items: [(name: String, value: String)]) -> String? {
        items.last { $0.name == "filter" }.flatMap { corrected($0.value) }
    }
}
