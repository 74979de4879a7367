#if ClickHouse
import Foundation
import TestSupport
import WaybillClickHouse
import WaybillCore

/// A ClickHouse for all tests of this process, which ends with it.
actor ClickHouseEngine {
    /// One of the current version, in one process.
    static let shared = ClickHouseEngine("one")
    /// Two shards of two replicas each, of 2018.
    static let cluster = ClickHouseEngine("cluster")

    private let kind: String
    private let input = Pipe()
    private var starting: Task<String, any Error>?

    private init(_ kind: String) { self.kind = kind }

    /// Whether one can be started here; where not, its script has said why.
    static let isThere = isInstalled("one")
    /// The same of a cluster, which takes long to install: only where `WAYBILL_CLUSTER` is set, as `make clickhouse` does.
    static let isClusterThere =
        ProcessInfo.processInfo.environment["WAYBILL_CLUSTER"] != nil && isInstalled("cluster")

    /// Why there is none.
    struct Missing: Error { var reason: String }

    private static func isInstalled(_ kind: String) -> Bool {
        let process = Process()
        process.executableURL = script
        process.arguments = ["install", kind]
        process.standardOutput = FileHandle.standardError
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Scripts/clickhouse-engines").standardizedFileURL

    /// An address of an empty database of its own, with the tables.
    func database() async throws -> ClickHouseAddress {
        let address = try await self.address()
        try await ClickHouseStore.migrate(address)
        return address
    }

    /// An address of a database that is not there.
    func address() async throws -> ClickHouseAddress {
        let name = "test_\(UUID().uuidString.filter { $0 != "-" })"
        return try ClickHouseAddress(try await started().replacing("DATABASE", with: name))
    }

    private func started() async throws -> String {
        if let starting { return try await starting.value }
        let task = Task { try self.start() }
        starting = task
        return try await task.value
    }

    /// An address of the database `DATABASE`.
    private nonisolated func start() throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Self.script
        process.arguments = [kind]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let piece = output.fileHandleForReading.availableData
            guard !piece.isEmpty else { throw Missing(reason: "The engine has ended.") }
            line += piece
        }
        let object = try JSONSerialization.jsonObject(with: line) as? [String: Any]
        if let port = object?["port"] as? Int { return "clickhouse://127.0.0.1:\(port)/DATABASE" }
        let ports = (object?["nodes"] as? [[String: Any]])?.compactMap { $0["http"] as? Int } ?? []
        guard let first = ports.first else { throw Missing(reason: "The engine has not said its ports.") }
        let others = ports.dropFirst().map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return "clickhouse://127.0.0.1:\(first)/DATABASE?replicas=\(others)&cluster=waybill"
    }
}
#endif
