#if Collector
import Foundation
import Waybill
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct RemoteStore: RecordStore {
    private let url: URL
    private let token: BearerToken?
    private let http: HTTPSession
    private let sets: URLSessionTransport

    init(_ url: URL, token: BearerToken?) {
        self.url = url
        self.token = token
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 30
        configuration.urlCache = nil
        http = HTTPSession(configuration: configuration)
        sets = URLSessionTransport(collector: url, token: token?.text)
    }

    /// The collector records the time of receipt.
    func add(_ set: ReceivedSet) async throws -> Receipt {
        let set = set.set
        var receipt = try await send(OutgoingSet(id: set.id, body: set.encoded(), factCount: set.factCount))
        receipt.rejections += set.rejections
        return receipt
    }

    func send(_ set: OutgoingSet) async throws -> Receipt { try await sets.send(set) }

    func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<TransactionSummary> {
        try await get(["transactions"], request.items)
    }

    func transaction(_ key: String) async throws -> TransactionRecord { try await get(["transactions", key]) }

    func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord> {
        try await get(["exchanges"], request.items)
    }

    func exchange(_ key: String) async throws -> ExchangeRecord { try await get(["exchanges", key]) }

    func bodies(of exchanges: [FactID], limit: Int) -> (bodies: [FactID: ExchangeBodies], isCut: Bool) {
        ([:], false)
    }

    func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict> {
        try await get(["names"], request.items)
    }

    func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord> {
        try await get(["sources"], request.items)
    }

    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws -> AnyAnswer {
        var request = request(["answers"], parameters)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder.waybill().encode(question)
        // With many millions of events, an answer takes longer than a page.
        request.timeoutInterval = 600
        let answer = try await send(request)
        do { return try question.answer(json: answer) } catch { throw notACollector }
    }

    /// Returns an unlinked file that contains the export, and the cursor at its end.
    func download(_ query: ExportQuery) async throws -> (file: FileHandle, cursor: String) {
        let request = request(["export"], query.items)
        let (file, response) = try await answered { () async throws(URLError) in
            try await http.file(for: request, redirects: .refuse)
        }
        guard response.statusCode == 200 else {
            throw refusal(response, (try? file.read(upToCount: Self.longestProblem)) ?? Data())
        }
        guard let cursor = response.value(forHTTPHeaderField: ExportQuery.cursorField) else { throw notACollector }
        return (file, cursor)
    }

    /// Requires the admin token.
    func erase(_ scope: ErasureScope) async throws -> Erasure {
        let items: [(name: String, value: String)]
        switch scope {
        case .installation(let id): items = [("installation", id.description)]
        case .transactions(let ids): items = ids.map { ("id", $0.description) }
        case .all, .begunBefore, .networkLogs, .pending:
            throw WaybillError(
                .setting,
                "A collector erases by --id or --installation. For --all, --before and --network name its folder.")
        }
        var request = request(["transactions"], items)
        request.httpMethod = "DELETE"
        return try decoded(try await send(request))
    }

    func retire(_ limits: RetirementLimits) async throws -> Int {
        throw WaybillError(.setting, "A collector retires by its own limits: see `waybill serve --help`.")
    }

    /// Checks the ledgers of the sources, but no file.
    func verify() async throws -> StoreVerification {
        StoreVerification(ledgersOf: try await allSources())
    }

    private func get<Value: Decodable>(_ path: [String], _ items: [(name: String, value: String)] = []) async throws
        -> Value
    {
        try decoded(try await send(request(path, items)))
    }

    private func decoded<Value: Decodable>(_ answer: Data) throws -> Value {
        do {
            return try JSONDecoder.waybill().decode(Value.self, from: answer)
        } catch {
            throw notACollector
        }
    }

    private func request(_ path: [String], _ items: [(name: String, value: String)] = []) -> URLRequest {
        var url = path.reduce(url.appending(path: "v1")) { $0.appending(path: $1) }
        if !items.isEmpty { url.append(queryItems: items.map { URLQueryItem(name: $0.name, value: $0.value) }) }
        var request = URLRequest(url: url)
        if let token { request.setValue(token.fieldValue, forHTTPHeaderField: "Authorization") }
        return request
    }

    private func send(_ request: URLRequest) async throws -> Data {
        let (body, response) = try await answered { () async throws(URLError) in
            try await http.data(for: request, redirects: .refuse, limit: Self.longestAnswer)
        }
        guard body.count <= Self.longestAnswer else { throw notACollector }
        guard !(200..<300).contains(response.statusCode) else { return body }
        throw refusal(response, body)
    }

    /// Bytes of an answer in memory. Pages are much smaller.
    private static let longestAnswer = 64 << 20
    private static let longestProblem = 64 << 10

    /// The members of a problem document (RFC 9457) that people are told.
    private struct ToldProblem: Decodable {
        var status: Int
        var detail: String
        var offset: Int?
    }

    private func refusal(_ response: HTTPURLResponse, _ body: Data) -> any Error {
        if (300..<400).contains(response.statusCode) { return redirection(response) }
        guard let problem = try? JSONDecoder().decode(ToldProblem.self, from: body.prefix(Self.longestProblem)),
            (400..<600).contains(problem.status)
        else {
            return WaybillError(
                .transport, "\(url) answered with status \(response.statusCode), and not as a collector does.")
        }
        let detail = problem.detail.printable
        if let offset = problem.offset { return QueryFailure.filter(FilterMistake(detail, at: offset)) }
        let hint =
            response.statusCode == 401 ? " Give it by --token-file or the variable \(TokenOptions.variable)." : ""
        return WaybillError(response.statusCode == 404 ? .notFound : .refused, detail + hint)
    }

    /// Redirects are not followed, because another server must not get the token.
    private func redirection(_ response: HTTPURLResponse) -> WaybillError {
        let place = response.value(forHTTPHeaderField: "Location").flatMap { URL(string: $0, relativeTo: url) }
        let there = [place?.scheme.map { "\($0):/" }, place?.host(), place?.port.map { ":\($0)" }]
        return WaybillError(
            .transport,
            "\(url) redirects\(place == nil ? "" : " to \(there.compactMap(\.self).joined().printable)"), which is not followed, so that the token goes nowhere else. Name the address where the collector is."
        )
    }

    private func answered<Body>(
        _ send: () async throws(URLError) -> (Body, URLResponse)
    ) async throws -> (Body, HTTPURLResponse) {
        var cause: String?
        do throws(URLError) {
            let (body, response) = try await send()
            if let response = response as? HTTPURLResponse { return (body, response) }
        } catch {
            try Task.checkCancellation()
            cause = error.localizedDescription
        }
        throw WaybillError(.transport, "There is no answer from \(url), or not a whole one.", cause: cause)
    }

    private var notACollector: WaybillError {
        WaybillError(
            .transport, "\(url) did not answer as a collector does; is it the right URL, and the same version?")
    }
}

/// An unlinked file holds the collector's answer until it is complete.
extension RemoteStore: ExportingStore {
    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        var query = ExportQuery()
        query.format = format
        switch facts {
        case .of(let request): query.filter = try request.filterText()
        case .after(let cursor): query.after = cursor
        case .since(let time): query.since = "\(max(0, time.microseconds))"
        case .some(let ids):
            guard let id = ids.first, ids.count == 1 else {
                throw WaybillError(.setting, "A collector exports one transaction at a time.")
            }
            query.transaction = id.description
        }
        let (file, cursor) = try await download(query)
        return ExportStream(cursor: cursor, pieces: FilePieces(file).next)
    }
}

private final class FilePieces: Sendable {
    private let file: FileHandle
    private let rest = Locked<[UInt8]>([])

    init(_ file: FileHandle) { self.file = file }

    @Sendable func next() throws -> ExportStream.Piece? {
        try rest.withLock { rest in
            while let piece = try file.read(upToCount: TextExport.pieceByteCount), !piece.isEmpty {
                rest += piece
                guard let end = rest.lastIndex(of: 0x0A) else { continue }
                defer { rest.removeFirst(end + 1) }
                return ExportStream.Piece(bytes: Array(rest[...end]))
            }
            defer { rest = [] }
            return rest.isEmpty ? nil : ExportStream.Piece(bytes: rest)
        }
    }
}
#endif
