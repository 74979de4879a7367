import Foundation
package import WaybillCore
package import WaybillExport
package import WaybillQueries

package struct InspectedStore: Sendable {
    let store: any BrowsableStore & ExportingStore
    let redactor: Redactor
    /// Returns the unredacted counts of the running collector; `nil` if none is running.
    let counted: (@Sendable () -> DeliveryPage.Collected)?
    var frame: InspectorFrame

    package init(
        name: String, store: any BrowsableStore & ExportingStore, clock: any TransactionClock,
        isLoggedIn: Bool = false,
        redactor: Redactor = Redactor(), hasControls: Bool = false,
        counted: (@Sendable () -> DeliveryPage.Collected)? = nil
    ) {
        (self.store, self.redactor, self.counted) = (store, redactor, counted)
        frame = InspectorFrame(store: name, isLoggedIn: isLoggedIn, hasControls: hasControls, clock: clock)
    }

    var clock: any TransactionClock { frame.clock }

    var address: ListAddress { frame.address }

    /// Other bodies are on the pages of their exchanges.
    private static let bodyByteLimit = 2 << 20

    func transactionPage(_ key: String) async throws -> InspectorResponse {
        let (clocks, excerpt) = (try ShownClocks(address), try Waterfall.Excerpt(address))
        let version = try await store.version()
        let record = try await store.transaction(key)
        let (id, exchanges) = (record.summary.id, record.exchanges.map(\.id))
        let (bodies, isCut) = try await store.bodies(of: exchanges, limit: Self.bodyByteLimit)
        let (before, after) = try await store.neighbors(of: id)
        let around = TransactionPage.Around(before: redactor.redacted(before), after: redactor.redacted(after))
        let notes = isCut ? ["Bodies of later requests are on their own pages: they would be too much for one."] : []
        let page = TransactionPage(
            record: redactor.redacted(record), bodies: redactor.redacted(bodies), clocks: clocks,
            excerpt: excerpt, around: around, notes: notes, version: version, frame: frame)
        return .page(page.html)
    }

    func download(_ key: String, as name: String) async throws -> InspectorResponse {
        guard let file = TransactionFile(rawValue: name) else {
            throw QueryFailure.notFound(
                "A transaction can be taken away as html, json, har or otlp, and not as “\(name)”.")
        }
        let record = try await store.transaction(key)
        let bytes = try await bytes(of: record, as: file)
        return .download(bytes, type: file.mediaType, name: "waybill-\(record.summary.id.supportCode).\(file.suffix)")
    }

    private func bytes(of record: TransactionRecord, as file: TransactionFile) async throws -> [UInt8] {
        switch file {
        case .html:
            var report = TransactionReport(records: [record], made: Date(microseconds: clock.wallMicroseconds()))
            report.title = "\(record.summary.useCaseName) \(record.summary.id.supportCode)"
            report.selection = "this transaction"
            let exchanges = record.exchanges.map(\.id)
            let (bodies, isCut) = try await store.bodies(of: exchanges, limit: TransactionReport.bodyByteLimit)
            report.bodies = bodies
            if isCut { report.notes.append(TransactionReport.bodiesAreLeftOut) }
            return report.html(redactedBy: redactor)
        case .json: return Array(try JSONEncoder.waybill().encode(redactor.redacted(record)))
        case .har:
            var writer = ExchangeWriter(as: .har, redactor: redactor)
            var entries: [UInt8] = []
            let sent = record.exchanges.filter { ExchangeFormat.har.roles.contains($0.role) }
            for exchange in sent.isEmpty ? record.exchanges : sent {
                entries += writer.next(
                    try await store.exchange(exchange.id.description), bodies: try await store.bodies(of: exchange.id))
            }
            return writer.beginning + entries + writer.end
        case .otlp:
            let export = try await store.export(.some([record.summary.id]), as: .otlp)
            var bytes: [UInt8] = []
            while let piece = try await export.next() { bytes += piece.bytes }
            return bytes
        }
    }
}

extension InspectedStore {
    /// Returns server-sent events (html.spec.whatwg.org, section 9.2), one per change since a version of the store.
    ///
    /// It polls the store, because other processes may write to it. The page reloads its list.
    func changes(since version: Int64?) -> InspectorResponse {
        let changes = StoreChanges(store, since: version)
        var response = InspectorResponse(
            type: "text/event-stream", .stream(AsyncThrowingStream { try await changes.next() }))
        response.fields["Cache-Control"] = "no-store, no-transform"
        return response
    }
}

private actor StoreChanges {
    private static let interval = Duration.seconds(1)
    /// A comment after this many polls without a change detects disconnected clients.
    private static let budget = 15

    private let store: any BrowsableStore
    private var known: Int64?
    private var isBegun = false
    private var hasAsked = false

    init(_ store: any BrowsableStore, since version: Int64?) {
        self.store = store
        known = version
    }

    func next() async throws -> [UInt8]? {
        guard isBegun else {
            isBegun = true
            if known == nil { known = try await store.version() }
            return Array("retry: 2000\n\n".utf8)
        }
        for _ in 0..<Self.budget {
            // The first poll is immediate, since the store may have changed after the page was made.
            if hasAsked, (try? await Task.sleep(for: Self.interval)) == nil { return nil }
            hasAsked = true
            let now = try await store.version()
            if now != known {
                known = now
                return Array("event: changed\ndata: \(now)\n\n".utf8)
            }
        }
        return Array(":\n\n".utf8)
    }
}

extension InspectedStore {
    /// Compares the transactions `a` and `b`. A relative `b` redirects to a permanent address.
    func comparisonPage() async throws -> InspectorResponse {
        let clocks = try ShownClocks(address)
        guard let a = address["a"] else {
            throw QueryFailure.parameter(
                "a", "Two transactions are shown here: name them as a and b, by their support codes or IDs.")
        }
        let first = try await store.transaction(a)
        let page = TransactionComparisonPage(first: redactor.redacted(first), clocks: clocks, frame: frame)
        guard let b = address["b"] else {
            return .page(page.html(without: "Name the second one by its support code or its ID."))
        }
        if let other = OtherTransaction(rawValue: b) {
            guard let id = try await transaction(other, than: first.summary) else {
                return .page(page.without(other))
            }
            return .seeOther(clocks.comparison(of: first.summary, with: id.description))
        }
        do {
            let second = redactor.redacted(try await store.transaction(b))
            return .page(page.html(with: second))
        } catch let failure as QueryFailure {
            return .page(page.html(without: redactor.redacted(failure).value.description), status: 404)
        }
    }

    private func transaction(
        _ other: OtherTransaction, than summary: TransactionSummary
    ) async throws -> GUID? {
        var request = ListRequest([.useCase: "\(summary.useCase)", .limit: "2"])
        switch other {
        case .before: request[.until] = "\(summary.begunMicroseconds)"
        case .after: (request[.since], request[.filter]) = ("\(summary.begunMicroseconds + 1)", "sort:oldest")
        case .succeeded: request[.outcome] = TransactionOutcome.succeeded.name
        }
        return try await store.transactions(request).rows.map(\.id).first { $0 != summary.id }
    }
}

extension ShownClocks {
    init(_ address: ListAddress) throws(QueryFailure) {
        guard let word = address["clocks"] else {
            self = .aligned
            return
        }
        guard let clocks = ShownClocks(rawValue: word) else {
            throw .parameter(
                "clocks", "“\(word)” is neither \(ShownClocks.allCases.map(\.rawValue).joined(separator: " nor ")).")
        }
        self = clocks
    }
}

extension InspectedStore {
    private static let hourCount = 48
    private static let quarantineLimit = 10_000
    private static let conflictLimit = 100

    func deliveryPage() async throws -> InspectorResponse {
        let state = try await store.delivery(hours: Self.hourCount)
        let conflicts = try await store.nameConflicts(ListRequest(limit: Self.conflictLimit)).rows
        let useCases = conflicts.isEmpty ? [] : try await store.names().filter { $0.event == nil }
        let names = ChangedNames(
            conflicts, count: try await store.nameConflictCount(),
            useCases: Dictionary(useCases.map { ($0.useCase, $0.name) }, uniquingKeysWith: { first, _ in first }),
            starts: conflicts.isEmpty ? [:] : try await store.firstStarts())
        let page = DeliveryPage(
            state: redactor.redacted(state), collected: redactor.redacted(counted?()),
            names: redactor.redacted(names), frame: frame)
        return .page(page.html)
    }

    func downloadDelivery(_ name: String) async throws -> InspectorResponse {
        let bytes: [UInt8]
        switch (DeliveryFile(rawValue: name), counted) {
        case (.quarantine, _):
            let facts = try await store.quarantined(limit: Self.quarantineLimit)
            bytes = QuarantineJSON.bytes(redactor.redacted(facts))
        case (.rejections, let counted?):
            bytes = Array(try JSONEncoder.waybill().encode(redactor.redacted(counted().rejections)))
        case (.rejections, nil), (nil, _): throw QueryFailure.notFound("There is no file “\(name)” here.")
        }
        return .download(bytes, type: "application/json", name: "waybill-\(name)")
    }
}

extension InspectedStore {
    func exchangePage(_ key: String) async throws -> InspectorResponse {
        let record = try await store.exchange(key)
        let bodies = try await store.bodies(of: record.id)
        var transaction: TransactionRecord?
        if let id = record.transaction { transaction = try await store.transaction(id.description) }
        let page = ExchangePage(
            record: redactor.redacted(record), bodies: redactor.redacted(bodies),
            transaction: redactor.redacted(transaction), frame: frame)
        return .page(page.html)
    }

    func file(of key: String, named name: String) async throws -> InspectorResponse {
        guard let file = ExchangeFile(rawValue: name) else {
            throw QueryFailure.notFound("A request can be taken away as har, curl, text or json, and not as “\(name)”.")
        }
        let record = try await store.exchange(key)
        let bodies = try await store.bodies(of: record.id)
        let fileName = "waybill-\(record.id.code.replacing(":", with: "-")).\(file.suffix)"
        guard let format = file.format else {
            let redacted = redactor.redacted(bodies).value
            guard let body = file == .requestBody ? redacted.request : redacted.response, !body.bytes.isEmpty else {
                throw QueryFailure.notFound("Nothing was kept of this body.")
            }
            return .body(body.bytes, name: fileName)
        }
        var writer = ExchangeWriter(as: format, redactor: redactor)
        let bytes = writer.next(record, bodies: bodies)
        guard !bytes.isEmpty else { throw QueryFailure.notFound("What was received is no command.") }
        return .download(writer.beginning + bytes + writer.end, type: file.mediaType, name: fileName)
    }
}

extension InspectedStore {
    private static let appLimit = 200

    func sourcesPage() async throws -> InspectorResponse {
        let apps = try await store.apps(limit: Self.appLimit)
        let (page, frame) = try await self.page {
            var request = try ListRequest(address.items, about: .sources)
            request[.sort] = request[.sort] ?? SourceFilter.Order.newest.rawValue
            return try await store.sources(request)
        }
        let details = try await store.details(of: page.value.rows.map(\.id), upTo: SourceDetails.Limits(clocks: 1))
        let html = SourcesPage(
            page: page, details: redactor.redacted(details), apps: redactor.redacted(apps), frame: frame
        ).html
        return .page(html, status: frame.status)
    }

    func sourcePage(_ key: String) async throws -> InspectorResponse {
        let record = try await store.source(key)
        guard let details = try await store.details(of: [record.id], upTo: SourcePage.limits)[record.id] else {
            throw QueryFailure.notFound("There is no source “\(key)” here.")
        }
        return .page(
            SourcePage(
                record: redactor.redacted(record), details: redactor.redacted(details), frame: frame
            ).html)
    }
}
