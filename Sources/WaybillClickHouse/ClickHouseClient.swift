#if ClickHouse
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import WaybillCore

/// An HTTP client for ClickHouse (https://clickhouse.com/docs/interfaces/http). If a server fails, it tries another.
/// A failed insert may then be inserted twice, and readers identify rows by their keys.
struct ClickHouseClient: Sendable {
    let address: ClickHouseAddress
    /// The timeout of a response's head, which comes when the whole response is ready.
    private let patience: TimeAmount
    private let preferred = Locked(0)

    /// Shared by the process. It does not retry a server that refuses a connection.
    private static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(3)
        configuration.connectionPool.retryConnectionEstablishment = false
        // OpenSSL and most clients read this variable, but NIOSSL uses only the system's certificates.
        if let authorities = ProcessInfo.processInfo.environment["SSL_CERT_FILE"] {
            configuration.tlsConfiguration = .makeClientConfiguration()
            configuration.tlsConfiguration?.trustRoots = .file(authorities)
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    init(_ address: ClickHouseAddress, patience: TimeAmount = .seconds(60)) {
        (self.address, self.patience) = (address, patience)
    }

    /// A client for each server, with a short timeout and no other servers.
    var ofEachServer: [ClickHouseClient] {
        address.servers.map { server in
            var address = address
            address.servers = [server]
            return ClickHouseClient(address, patience: .seconds(5))
        }
    }

    /// - Parameter isTriedAgain: Whether to retry for some time if servers refuse the statement.
    func run(
        _ sql: String, _ settings: [String: String] = [:], body: [UInt8] = [], isTriedAgain: Bool = true
    ) async throws(WaybillError) {
        try await reached {
            let response = try await send(sql, settings, body: body, isTriedAgain: isTriedAgain)
            for try await _ in response.body {}
        }
    }

    func insert(_ statement: String, _ rows: RowBinaryWriter, _ settings: [String: String] = [:])
        async throws(WaybillError)
    {
        guard !rows.bytes.isEmpty else { return }
        try await run("\(statement) FORMAT RowBinary", settings, body: rows.bytes)
    }

    func forEachRow(
        _ sql: String, _ settings: [String: String] = [:], _ body: (inout RowBinaryReader) throws -> Void
    ) async throws(WaybillError) {
        try await reached { try await forEachRow(sql, settings, body) {} }
    }

    /// Throws errors of `body` and `eachPiece` as they are.
    func forEachRow(
        _ sql: String, _ settings: [String: String],
        _ body: (inout RowBinaryReader) throws -> Void, eachPiece: () async throws -> Void
    ) async throws {
        var left: [UInt8] = []
        let response = try await reached { try await send("\(sql) FORMAT RowBinary", settings, body: []) }
        var pieces = response.body.makeAsyncIterator()
        while let piece = try await reached({ try await pieces.next() }) {
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
            try await eachPiece()
        }
        guard left.isEmpty else { throw WaybillError(.store, "The answer of \(address) broke off. Try again.") }
    }

    func rows<Value>(
        _ sql: String, _ settings: [String: String] = [:], _ row: (inout RowBinaryReader) throws -> Value
    ) async throws(WaybillError) -> [Value] {
        var rows: [Value] = []
        try await forEachRow(sql, settings) { reader in rows.append(try row(&reader)) }
        return rows
    }

    private func send(
        _ sql: String, _ settings: [String: String], body: [UInt8], isTriedAgain: Bool = true
    ) async throws -> HTTPClientResponse {
        var pauses = isTriedAgain ? Self.pauses[...] : []
        while true {
            do { return try await sendOnce(sql, settings, body: body, isTriedAgain) } catch let error as Refusal {
                // Other processes are writing, or a replica is starting.
                guard let pause = pauses.popFirst() else { throw error.error(address) }
                try await Task.sleep(for: pause)
            }
        }
    }

    /// The pauses between retries: 20 seconds in all, the timeout of a quorum.
    private static let pauses: [Duration] =
        [50, 100, 200, 400, 800, 1_600, 2_400, 2_400].map { .milliseconds($0) }
        + Array(repeating: .seconds(3), count: 4)

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
        // Without this setting, a late error would be read as rows.
        items["wait_end_of_query"] = "1"
        // A URL is too short for many values, so a statement without rows is the body.
        if !body.isEmpty { items["query"] = sql }
        url.queryItems = items.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
        // URLComponents does not encode a plus, which servers read as a space.
        url.percentEncodedQuery = url.percentEncodedQuery?.replacing("+", with: "%2B")
        var request = HTTPClientRequest(url: url.string ?? "")
        request.method = .POST
        request.headers.add(name: "X-ClickHouse-User", value: address.user ?? "default")
        if let password = address.password { request.headers.add(name: "X-ClickHouse-Key", value: password) }
        // Not a ByteBuffer, which would be a second copy: these are sent in pieces of 4 MB.
        request.body = .bytes(body.isEmpty ? Array(sql.utf8) : body)
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

    private func reached<Value>(_ body: () async throws -> Value) async throws(WaybillError) -> Value {
        do { return try await body() } catch {
            throw error as? WaybillError
                ?? WaybillError(
                    .store, "None of the servers of \(address) can be reached. Check the address, and that they run.",
                    cause: "\(error)")
        }
    }
}

private struct Refusal: Error {
    var code: Int
    var status: Int
    var text: String

    /// Whether another server may succeed: 159 timeout, 202 too many queries, 209 and 210 network, 225 no ZooKeeper,
    /// 242 read-only table, 252 too many parts, 279 all connections failed, 285 to 287, 289 and 319 quorum, 999 ZooKeeper.
    var isOfServer: Bool {
        code == 0 || hasLostTable
            || [159, 202, 209, 210, 225, 242, 252, 279, 285, 286, 287, 289, 319, 999].contains(code)
    }

    /// Servers of 2018 rarely lose the temporary table of a `GLOBAL IN`.
    private var hasLostTable: Bool { code == 60 && text.contains("._data") }

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
