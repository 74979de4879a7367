#if ClickHouse
import Foundation
import TestSupport
import WaybillClickHouse
import WaybillCore

/// A ClickHouse for all tests of this process, which ends when the process ends.
actor ClickHouseEngine {
    /// A server of the current version, in one process.
    static let shared = ClickHouseEngine("one")
    /// Two shards with two replicas each, of a version from 2018.
    static let cluster = ClickHouseEngine("cluster")

    private let kind: String
    private let input = Pipe()
    private var starting: Task<String, any Error>?

    private init(_ kind: String) { self.kind = kind }

    /// Whether a server can be started here. If not, its script has printed the reason.
    static let isThere = isInstalled("one")
    /// Whether a cluster can be started here. Because it takes long to install, this is `false` unless
    /// `WAYBILL_CLUSTER` is set, as `make clickhouse` does.
    static let isClusterThere =
        ProcessInfo.processInfo.environment["WAYBILL_CLUSTER"] != nil && isInstalled("cluster")

    /// The error that ClickHouse cannot be started.
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

    /// Returns the address of a new, empty database with the tables.
    func database() async throws -> ClickHouseAddress {
        let address = try await self.address()
        for _ in 0..<9 {
            // On a busy machine, a server of a cluster may take longer for a statement than `migrate` waits.
            do throws(WaybillError) {
                try await ClickHouseStore.migrate(address)
                return address
            } catch {
                guard error.code == .store else { throw error }
            }
        }
        try await ClickHouseStore.migrate(address)
        return address
    }

    /// Returns the address of a database that does not exist.
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

    /// Starts the engine and returns an address with the placeholder `DATABASE` as the database.
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
