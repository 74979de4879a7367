#if ClickHouse
import Foundation
import TestSupport
import WaybillClickHouse
import WaybillCore

/// One ClickHouse of the current version, for all tests of this process; it ends with it.
actor ClickHouseEngine {
    static let shared = ClickHouseEngine()

    /// Why there is none.
    struct Missing: Error { var reason: String }

    private var starting: Task<Int, any Error>?
    private let input = Pipe()

    /// Whether it can be started here; where not, its script has said why.
    static let isThere: Bool = {
        let process = Process()
        process.executableURL = script
        process.arguments = ["install", "one"]
        process.standardOutput = FileHandle.standardError
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

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
        return try ClickHouseAddress("clickhouse://127.0.0.1:\(try await port())/\(name)")
    }

    private func port() async throws -> Int {
        if let starting { return try await starting.value }
        let task = Task { try self.start() }
        starting = task
        return try await task.value
    }

    private nonisolated func start() throws -> Int {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Self.script
        process.arguments = ["one"]
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
        guard let port = object?["port"] as? Int else { throw Missing(reason: "The engine has not said its port.") }
        return port
    }
}
#endif
