import WaybillCore
import WaybillExport
import WaybillQueries

extension InspectedStore {
    /// A page shows its progress after this time.
    static let budget = Duration.milliseconds(200)

    func transactionsPage() async throws -> InspectorResponse {
        let (version, names) = (try await store.version(), redactor.redacted(try await store.names()))
        let (page, frame) = try await self.page {
            try await store.transactions(ListRequest(address.items, about: .transactions), within: Self.budget)
        }
        let errorCounts = try await store.errorCounts(of: page.value.rows.map(\.id))
        let volume = frame.mistake == nil ? try await volume(address.items, of: .transactions) : nil
        let html = TransactionsPage(
            page: page, volume: volume, errorCounts: errorCounts, names: names, version: version, frame: frame
        ).html
        return .page(html, status: frame.status)
    }

    /// Returns the whole list as a report, from its first page. The report says if it is incomplete.
    func transactionsFile() async throws -> InspectorResponse {
        let conditions = address.items(besides: ["cursor", "limit"])
        let report = try await store.report(ListRequest(conditions, about: .transactions))
        return .download(
            report.html(redactedBy: redactor), type: TransactionFile.html.mediaType, name: "waybill-transactions.html")
    }

    func exchangesPage() async throws -> InspectorResponse {
        let (version, names) = (try await store.version(), redactor.redacted(try await store.names()))
        let (page, frame) = try await self.page {
            try await store.exchanges(ListRequest(address.items, about: .exchanges), within: Self.budget)
        }
        let volume = frame.mistake == nil ? try await volume(address.items, of: .exchanges) : nil
        let html = ExchangesPage(page: page, volume: volume, names: names, version: version, frame: frame).html
        return .page(html, status: frame.status)
    }

    /// Returns completions for a search field, on demand because they require a scan of recent transactions.
    func terms() async throws -> InspectorResponse {
        let (useCase, all) = (address["use_case"].flatMap { Int($0) }, try await store.names())
        let names = redactor.redacted(all.filter { useCase == nil || $0.useCase == useCase && $0.event != nil })
        var hosts: [String]?
        if address["about"] == "exchanges" {
            hosts = ExchangesPage.hosts(of: redactor.redacted(try await store.exchanges(ListRequest()).rows).value)
        }
        let terms = FilterTerms(
            try await seen(of: useCase), names: names, about: hosts == nil ? .transactions : .exchanges,
            hosts: hosts ?? [])
        return try .json(terms.all)
    }

    private static let sampleSize = 200

    func seen(of useCase: Int?) async throws -> SeenValues {
        try await store.seenValues(useCase: useCase, limit: Self.sampleSize).redacted(by: redactor)
    }

    /// Returns a page of a list; after a mistake, an empty one.
    func page<Row: Redactable>(
        _ body: () async throws -> RecordPage<Row>
    ) async throws -> (page: Redacted<RecordPage<Row>>, frame: InspectorFrame) {
        let (page, frame) = try await answering(body)
        return (redactor.redacted(page ?? RecordPage(rows: [], next: nil)), frame)
    }

    /// Runs `body`. After a mistake, returns a frame that shows it, to let the reader correct the form.
    func answering<Value>(_ body: () async throws -> Value) async throws -> (value: Value?, frame: InspectorFrame) {
        var frame = frame
        do {
            return (try await body(), frame)
        } catch QueryFailure.parameter(_, let message), QueryFailure.question(let message) {
            frame.mistake = redactor.redacted(message)
        } catch QueryFailure.filter(let mistake) {
            let mistake = mistake.redacted(by: redactor)
            frame.mistake = redactor.redacted(
                "Character \(mistake.offset + 1) of the filter: \(mistake.message)")
            frame.meant = address["filter"].flatMap(mistake.corrected)
        }
        return (nil, frame)
    }
}

extension InspectedStore {
    /// A page waits this long for the volume of its list.
    private static let volumeBudget = Duration.milliseconds(100)

    /// Returns the chart above a list; `nil` if the list is empty.
    ///
    /// - Parameter conditions: The conditions of the list, which are valid.
    func volume(
        _ conditions: [(name: String, value: String)], of subject: ListRequest.Subject
    ) async throws -> VolumeChart? {
        let zone = frame.timeZone
        let request = try ListRequest(conditions.filter { $0.name != "cursor" && $0.name != "limit" }, about: subject)
        let volume = try await store.volume(request, of: subject, within: Self.volumeBudget) { times in
            VolumeChart.steps(for: times, in: zone).borders
        }
        guard let volume else { return nil }
        let noun = subject == .exchanges ? "request" : "transaction"
        return VolumeChart(volume, of: noun, in: frame)
    }
}

extension InspectedStore {
    func useCasesPage() async throws -> InspectorResponse {
        let names = redactor.redacted(try await store.names())
        let (found, frame) = try await answering { try await summary() }
        let (answer, step) = found ?? (SummaryAnswer(useCases: []), TimeSteps.step(for: nil))
        let (first, leftOut) = UseCasesPage.first(of: answer)
        return .page(
            UseCasesPage(
                answer: redactor.redacted(first), leftOut: leftOut, step: step, names: names, frame: frame
            ).html, status: frame.status)
    }

    func useCasesFile() async throws -> InspectorResponse {
        let answer = AnyAnswer.summary(SummaryQuestion(), try await summary().answer)
        return .csv(redactor.redacted(answer).csv, name: "use-cases")
    }

    private func summary() async throws -> (answer: SummaryAnswer, step: Int64) {
        let request = try ListRequest(conditions: address.items, about: .transactions)
        let step = TimeSteps.step(for: try await times(request))
        let question = AnyQuestion.summary(SummaryQuestion(step: .microseconds(step)))
        guard case .summary(_, let answer) = try await store.answer(question, where: address.items) else {
            return (SummaryAnswer(useCases: []), step)
        }
        return (answer, step)
    }

    /// `file` is a view's name, with `.csv` for a file.
    func useCasePage(_ key: String, _ file: String) async throws -> InspectorResponse {
        let names = redactor.redacted(try await store.names())
        guard let useCase = UseCaseReference(key: key, among: names) else {
            throw QueryFailure.notFound(
                "There is no use case “\(key)” here, or several are called so; the list names all.")
        }
        if file.hasSuffix(".csv") { return try await self.file(String(file.dropLast(4)), of: useCase) }
        guard let view = UseCaseView(rawValue: file) else {
            throw QueryFailure.notFound("There is no such page of a use case.")
        }
        let seen = view.hasGroups ? try await seen(of: useCase.code) : SeenValues()
        let (answers, frame) = try await answering { try await self.answers(to: view, about: useCase, seen) }
        let events = useCase.events(among: names)
        return .page(
            UseCasePage(
                useCase: useCase, view: view, answers: answers ?? [], events: events, seen: seen, frame: frame
            ).html, status: frame.status)
    }

    private func file(_ name: String, of useCase: UseCaseReference) async throws -> InspectorResponse {
        let ofOverview = ["summary", "outcomes", "errors"]
        guard let view = ofOverview.contains(name) ? .overview : UseCaseView(rawValue: name),
            view != .overview || !name.isEmpty
        else {
            throw QueryFailure.notFound("There is no such file of a use case.")
        }
        let seen = view == .compare ? try await seen(of: useCase.code) : SeenValues()
        guard let answer = try await answers(to: view, about: useCase, seen, isFile: true).first else {
            throw QueryFailure.parameter("a", "Say what is to be compared.")
        }
        guard case .summary(let query, let summary) = answer.value, name != "summary" else {
            return .csv(answer.csv, name: name)
        }
        if name == "errors" { return .csv(summary.errorsTable.csv, name: name) }
        let rates = summary.useCases.first?.rates ?? []
        let steps = TimeSteps(
            covering: rates.map(\.startMicroseconds), each: query.stepMicroseconds, in: frame.timeZone)
        return .csv(OutcomeSteps(rates, steps: steps).table.csv, name: name)
    }

    private func answers(
        to view: UseCaseView, about useCase: UseCaseReference, _ seen: SeenValues, isFile: Bool = false
    ) async throws -> [Redacted<AnyAnswer>] {
        let conditions = conditions(of: view, useCase)
        let request = try ListRequest(conditions: conditions, about: .transactions)
        let questions = try await questions(of: view, about: request, seen)
        var answers: [Redacted<AnyAnswer>] = []
        for question in questions.prefix(isFile ? 1 : .max) {
            answers.append(redactor.redacted(try await store.answer(question, where: conditions)))
        }
        return answers
    }
}

extension InspectedStore {
    /// Returns the first and the last beginning of the transactions, in microseconds; `nil` without any.
    func times(_ request: ListRequest) async throws -> ClosedRange<Int64>? {
        func end(_ order: TransactionFilter.Order) async throws -> Int64? {
            try await store.transactions(request.sorted(order, limit: 1)).rows.first?.begunMicroseconds
        }
        guard let first = try await end(.oldest), let last = try await end(.newest) else { return nil }
        return first...max(first, last)
    }

    private static let inputRows = 40

    /// Returns the typical events of the newest transactions in their usual order, with the beginning and the outcome.
    func usualSteps(_ request: ListRequest) async throws -> [TransactionPoint] {
        let newest = request.sorted(.newest, limit: Self.inputRows)
        var succeeded = newest
        succeeded[.outcome] = request[.outcome] ?? TransactionOutcome.succeeded.name
        var sample = try await store.transactions(succeeded).rows
        if sample.isEmpty { sample = try await store.transactions(newest).rows }
        var histories: [[String]] = []
        for row in sample {
            let record = try await store.transaction(row.id.description)
            histories.append(record.timeline.filter { $0.kind == .event }.map(\.label))
        }
        return [.begun] + TypicalOrder(of: histories).names.map { .event($0) } + [.finished]
    }
}

extension ListRequest {
    fileprivate func sorted(_ order: TransactionFilter.Order, limit: Int) -> ListRequest {
        var request = self
        request[.filter] = "\(self[.filter] ?? "") sort:\(order.rawValue)"
        request[.limit] = "\(limit)"
        return request
    }
}

struct TypicalOrder {
    let names: [String]

    private static let limit = 8

    init(of histories: [[String]]) {
        var places: [String: [Int]] = [:]
        for history in histories {
            var seen: Set<String> = []
            for name in history where seen.insert(name).inserted { places[name, default: []].append(seen.count) }
        }
        let common = places.filter { 2 * $0.value.count > histories.count }
            .sorted { (-$0.value.count, $0.key) < (-$1.value.count, $1.key) }.prefix(Self.limit)
        names = common.map { (name: $0.key, place: $0.value.sorted()[$0.value.count / 2]) }
            .sorted { ($0.place, $0.name) < ($1.place, $1.name) }.map(\.name)
    }
}
