#if Collector
import Hummingbird
import WaybillCore
import WaybillReport
import WaybillStore

extension InspectedStore {
    /// How long a list is looked through before its page says how far it got.
    private static let patience = Duration.milliseconds(200)

    func transactionsPage(_ items: [(name: String, value: String)]) async throws -> Response {
        let address = ListAddress(items)
        let version = try await queries.read { reader in try reader.version() }
        let useCases = try await useCases()
        let (page, progress, status) = try await Self.page {
            try await queries.transactions(TransactionQuery(address.items), patience: .lasting(Self.patience))
        }
        let ids = page.rows.map(\.id)
        let errorCounts = try await queries.read { reader in try reader.errorCounts(of: ids) }
        let redactor = Redactor()
        let redacted = Page(rows: page.rows.map(redactor.summary), next: page.next, whyEmpty: page.whyEmpty)
        let html = TransactionsPage(
            redacted, errorCounts: errorCounts, at: address, useCases: useCases, version: version, progress: progress, in: frame
        ).html
        return .page(html, status: status)
    }

    func exchangesPage(_ items: [(name: String, value: String)]) async throws -> Response {
        let address = ListAddress(items)
        let useCases = try await useCases()
        let (page, progress, status) = try await Self.page {
            try await queries.exchanges(ExchangeQuery(address.items), patience: .lasting(Self.patience))
        }
        let redactor = Redactor()
        let redacted = Page(rows: page.rows.map { redactor.record($0) }, next: page.next, whyEmpty: page.whyEmpty, note: page.note)
        return .page(ExchangesPage(redacted, at: address, useCases: useCases, progress: progress, in: frame).html, status: status)
    }

    /// Names to choose from.
    func useCases() async throws -> [String] {
        var seen: Set<String> = []
        return try await queries.read { reader in try reader.names() }.filter { $0.event == nil }.map(\.name).filter {
            seen.insert($0).inserted
        }
    }

    /// What was asked for, or an empty page that says what is wrong with the question: the form is there to put it right.
    static func page<Row>(
        _ body: () async throws -> (Page<Row>, SearchProgress?)
    ) async throws -> (Page<Row>, SearchProgress?, HTTPResponse.Status) {
        func mistaken(_ message: String) -> (Page<Row>, SearchProgress?, HTTPResponse.Status) {
            (Page(rows: [], next: nil, whyEmpty: message), nil, .badRequest)
        }
        do {
            let (page, progress) = try await body()
            return (page, progress, .ok)
        } catch QueryFailure.parameter(_, let message) {
            return mistaken(message)
        } catch QueryFailure.filter(let mistake) {
            return mistaken("Character \(mistake.offset + 1) of the filter: \(mistake.message)")
        }
    }
}
#endif
