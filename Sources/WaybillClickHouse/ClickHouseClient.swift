#if ClickHouse
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import WaybillCore

/// Asks ClickHouse over HTTP (https://clickhouse.com/docs/interfaces/http).
///
/// A server that cannot be reached, or that says that it is the one that fails, gives way to the next; what is inserted
/// may then be inserted twice, and rows are known by their keys.
struct ClickHouseClient: Sendable {
    let address: ClickHouseAddress
    /// How long one request may take to its answer's head, which comes when all of the answer is there.
    private let patience: TimeAmount
    /// The server that answered last, by its index.
    private let preferred = Locked(0)

    /// Of the whole process. A server that refuses a connection gives way to the next one at once.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(3)
        configuration.connectionPool.retryConnectionEstablishment = false
        // What OpenSSL and most clients take; NIOSSL looks at the system's alone.
        if let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"] {
            configuration.tlsConfiguration = .makeClientConfiguration()
            configuration.tlsConfiguration?.trustRoots = .file(authorities)
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    init(_ address: ClickHouseAddress, patience: TimeAmount = .seconds(60)) {
        (self.address, self.patience) = (address, patience)
    }

    /// One client for each server, which asks no other and does not wait long for it.
    var ofEachServer: [ClickHouseClient] {
        address.servers.map { server in
            var address = address
            address.servers = [server]
            return ClickHouseClient(address, patience: .seconds(5))
        }
    }

    /// Runs a statement that gives no rows.
    ///
    /// - Parameter isTriedAgain: Whether what servers refuse for now is tried for some time; else the first refusal is
    ///   the answer, and only one that cannot be reached gives way to the next.
    func run(_ sql: String, _ settings: [String: String] = [:], isTriedAgain: Bool = true) async throws(WaybillError) {
        _ = try await collect(sql, settings, body: [], isTriedAgain: isTriedAgain)
    }

    /// Inserts rows.
    ///
    /// - Parameter statement: Up to the columns: `INSERT INTO t(a, b)`.
    func insert(_ statement: String, _ rows: RowBinaryWriter, _ settings: [String: String] = [:])
        async throws(WaybillError)
    {
        guard !rows.bytes.isEmpty else { return }
        _ = try await collect("\(statement) FORMAT RowBinary", settings, body: rows.bytes)
    }

    /// Hands over each row of an answer, as it comes.
    func forEachRow(
        _ sql: String, _ settings: [String: String] = [:],
        _ body: (inout RowBinaryReader) throws -> Void
    ) async throws(WaybillError) {
        do {
            let response = try await send("\(sql) FORMAT RowBinary", settings, body: [])
            var left: [UInt8] = []
            for try await piece in response.body {
                left.append(contentsOf: piece.readableBytesView)
                try Task.checkCancellation()
                let used = try left.withUnsafeBytes { bytes in
                    var reader = RowBinaryReader(bytes)
                    while !reader.isAtEnd {
                        var row = reader
                        do { try body(&row) } catch is RowBinaryReader.Ended { break }
                        reader = row
                    }
                    return reader.offset
                }
                left.removeFirst(used)
            }
            guard left.isEmpty else { throw WaybillError(.store, "The answer of \(address) broke off. Try again.") }
        } catch let error as WaybillError {
            throw error
        } catch {
            throw unreachable(error)
        }
    }

    /// All rows of an answer.
    func rows<Value>(
        _ sql: String, _ settings: [String: String] = [:], _ row: (inout RowBinaryReader) throws -> Value
    ) async throws(WaybillError) -> [Value] {
        var rows: [Value] = []
        try await forEachRow(sql, settings) { reader in rows.append(try row(&reader)) }
        return rows
    }

    private func collect(
        _ sql: String, _ settings: [String: String], body: [UInt8], isTriedAgain: Bool = true
    ) async throws(WaybillError) {
        do {
            let response = try await send(sql, settings, body: body, isTriedAgain: isTriedAgain)
            for try await _ in response.body {}
        } catch let error as WaybillError {
            throw error
        } catch {
            throw unreachable(error)
        }
    }

    /// - Throws: `WaybillError` for what a server refuses, else what kept all of them from answering.
    private func send(
        _ sql: String, _ settings: [String: String], body: [UInt8], isTriedAgain: Bool = true
    ) async throws -> HTTPClientResponse {
        var pauses = isTriedAgain ? Self.pauses[...] : []
        while true {
            do { return try await sendOnce(sql, settings, body: body, isTriedAgain) } catch let error as Refusal {
                // Others write, or a replica is on its way back.
                guard let pause = pauses.popFirst() else { throw error.error(address) }
                try await Task.sleep(for: pause)
            }
        }
    }

    /// Between tries of what servers refuse for now; 20 seconds together, as long as one waits for its quorum.
    private static let pauses: [Duration] =
        [50, 100, 200, 400, 800, 1_600, 2_400, 2_400].map { .milliseconds($0) }
        + Array(repeating: .seconds(3), count: 4)

    /// Asks one server after the other.
    ///
    /// - Throws: A `Refusal` where one of them may take it later.
    private func sendOnce(
        _ sql: String, _ settings: [String: String], body: [UInt8], _ isTriedAgain: Bool
    ) async throws -> HTTPClientResponse {
        let first = preferred.withLock { $0 }
        var failure: any Error = CancellationError()
        for number in address.servers.indices {
            let index = (first + number) % address.servers.count
            do {
                let response = try await Self.http.execute(
                    try request(address.servers[index], sql, settings, body), timeout: patience)
                guard response.status == .ok else {
                    throw await refusal(response)
                }
                preferred.withLock { $0 = index }
                return response
            } catch is CancellationError {
                throw CancellationError()
            } catch let error as Refusal where !error.isOfServer || !isTriedAgain {
                throw error.error(address)
            } catch {
                if !(failure is Refusal) { failure = error }
            }
        }
        throw failure
    }

    private func request(_ server: URL, _ sql: String, _ settings: [String: String], _ body: [UInt8]) throws
        -> HTTPClientRequest
    {
        guard var url = URLComponents(url: server, resolvingAgainstBaseURL: false) else { throw CancellationError() }
        var items = settings
        items["database"] = address.database
        // An error that comes when rows are on their way already would be taken for rows.
        items["wait_end_of_query"] = "1"
        // A statement with many values is too long for an address: what has no rows to send is the body itself.
        if !body.isEmpty { items["query"] = sql }
        url.queryItems = items.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        // URLComponents leaves a plus as it is, which a server takes for a space.
        url.percentEncodedQuery = url.percentEncodedQuery?.replacing("+", with: "%2B")
        var request = HTTPClientRequest(url: url.string ?? "")
        request.method = .POST
        request.headers.add(name: "X-ClickHouse-User", value: address.user ?? "default")
        if let password = address.password { request.headers.add(name: "X-ClickHouse-Key", value: password) }
        request.body = .bytes(ByteBuffer(bytes: body.isEmpty ? Array(sql.utf8) : body))
        return request
    }

    private func refusal(_ response: HTTPClientResponse) async -> Refusal {
        var text = ""
        if var bytes = try? await response.body.collect(upTo: 1 << 20) {
            text = bytes.readString(length: bytes.readableBytes) ?? ""
        }
        let digits = text.drop { !$0.isNumber }.prefix { $0.isNumber }
        return Refusal(
            code: text.hasPrefix("Code:") ? Int(digits) ?? 0 : 0, status: Int(response.status.code),
            text: String(text.split(separator: "\n").first?.prefix(500) ?? ""))
    }

    private func unreachable(_ error: any Error) -> WaybillError {
        WaybillError(
            .store, "None of the servers of \(address) can be reached. Check the address, and that they run.",
            cause: "\(error)")
    }
}

/// What a server says instead of an answer.
private struct Refusal: Error {
    var code: Int
    var status: Int
    var text: String

    /// Whether another server may do better: this one has lost its connections to others, or is full or shuts down.
    ///
    /// 159 timeout, 202 too many queries, 210 network, 225 no ZooKeeper, 242 read-only table, 252 too many parts, 279
    /// all connections failed, 285 to 287 and 319 quorum, 999 ZooKeeper.
    var isOfServer: Bool {
        code == 0 || [159, 202, 209, 210, 225, 242, 252, 279, 285, 286, 287, 319, 999].contains(code)
    }

    func error(_ address: ClickHouseAddress) -> WaybillError {
        switch code {
        case 192, 193, 194, 516:
            WaybillError(
                .setting,
                "\(address) does not take user and password: check \(ClickHouseAddress.variables.user) and \(ClickHouseAddress.variables.password).",
                cause: text)
        case 159:
            WaybillError(
                .store,
                "\(address) has not done it in time: a server of the cluster does not answer. Try again when all of them run.",
                cause: text)
        case 60, 81:
            WaybillError(
                .notFound, "There is no Waybill store at \(address): make one with `waybill migrate`.", cause: text)
        default:
            WaybillError(
                .store, "\(address) did not do what was asked of it.", cause: text.isEmpty ? "HTTP \(status)" : text)
        }
    }
}
#endif
