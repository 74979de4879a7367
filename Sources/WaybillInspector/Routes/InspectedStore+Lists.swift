import WaybillAnalysis
import WaybillCore
import WaybillExport
import WaybillReading

extension InspectedStore {
    /// How long a list is looked through before its page says how far it got.
    private static let budget = Duration.milliseconds(200)

    func transactionsPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items)
        let (version, names) = (try await store.version(), redactor.redacted(try await store.names()))
        let (page, mistake, status) = try await self.page {
            try await store.transactions(ListRequest(address.items, about: .transactions), within: Self.budget)
        }
        let errorCounts = try await store.errorCounts(of: page.value.rows.map(\.id))
        let html = TransactionsPage(
            page, errorCounts: errorCounts, at: address, names: names, meant: mistake?.corrected(items),
            version: version, in: frame
        ).html
        return .page(html, status: status)
    }

    /// What is listed, from its first page on, as one document; a report says where it leaves some out.
    func transactionsFile(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items.filter { $0.name != "cursor" && $0.name != "limit" })
        let report = try await store.report(ListRequest(address.items, about: .transactions))
        return .download(
            report.html(redactedBy: redactor), type: TransactionFile.html.mediaType, name: "waybill-transactions.html")
    }

    func exchangesPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let address = ListAddress(items)
        let names = redactor.redacted(try await store.names())
        let (page, mistake, status) = try await self.page {
            try await store.exchanges(ListRequest(address.items, about: .exchanges), within: Self.budget)
        }
        let html = ExchangesPage(page, at: address, names: names, meant: mistake?.corrected(items), in: frame).html
        return .page(html, status: status)
    }

    /// What a search field completes. It is asked for when somebody is about to type, since the newest transactions
    /// have to be read for it.
    ///
    /// - Parameter items: `about=exchanges` for the list of these; `use_case`, a code, for the page of one.
    func terms(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        func value(_ name: String) -> String? { items.last { $0.name == name }?.value }
        let (useCase, all) = (value("use_case").flatMap { Int($0) }, try await store.names())
        let names = redactor.redacted(all.filter { useCase == nil || $0.useCase == useCase && $0.event != nil })
        var hosts: [String]?
        if value("about") == "exchanges" {
            hosts = ExchangeTerms.hosts(of: redactor.redacted(try await store.exchanges(ListRequest()).rows).value)
        }
        let terms = FilterTerms(
            try await seen(of: useCase), names: names, about: hosts == nil ? .transactions : .exchanges,
            hosts: hosts ?? [])
        return try .json(terms.all)
    }

    /// Transactions that are looked at for values to choose from.
    private static let sampleSize = 200

    /// Values to choose from.
    ///
    /// - Parameter useCase: nil: of all.
    func seen(of useCase: Int?) async throws -> SeenValues {
        try await store.seenValues(useCase: useCase, limit: Self.sampleSize).redacted(by: redactor)
    }

    /// What was asked for, or an empty page that says what is wrong with the question: the form is there to put it
    /// right.
    func page<Row: Redactable>(
        _ body: () async throws -> RecordPage<Row>
    ) async throws -> (Redacted<RecordPage<Row>>, FilterMistake?, Int) {
        func nothing(_ why: String) -> Redacted<RecordPage<Row>> {
            redactor.redacted(RecordPage(rows: [], next: nil, whyEmpty: why))
        }
        do {
            return (redactor.redacted(try await body()), nil, 200)
        } catch QueryFailure.parameter(_, let message) {
            return (nothing(message), nil, 400)
        } catch QueryFailure.filter(let mistake) {
            return (nothing(mistake.sentence), mistake.redacted(by: redactor), 400)
        }
    }
}

extension FilterMistake {
    /// For a page, with the place in the filter.
    var sentence: String { "Character \(offset + 1) of the filter: \(message)" }

    /// The filter among a page's parameters, with what may have been meant; nil where nothing is near.
    func corrected(_ items: [(name: String, value: String)]) -> String? {
        items.last { $0.name == "filter" }.flatMap { corrected($0.value) }
    }
}
