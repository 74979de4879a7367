#if Collector
import Foundation
import TestSupport
import WaybillCore
import WaybillStore

/// A finished run of the built tool.
struct Command {
    let output: String
    let errors: String
    let status: Int32

    /// - Parameter environment: Variables in addition to those of the tests, whose tokens are not inherited.
    static func waybill(_ arguments: String..., environment: [String: String] = [:]) async throws -> Command {
        try await waybill(arguments, environment: environment)
    }

    /// - Parameter place: Where standard output goes; `nil` for ``output``.
    static func waybill(
        _ arguments: [String], environment: [String: String] = [:], to place: URL? = nil
    ) async throws -> Command {
        let folder = try TemporaryDirectory()
        let (output, errors) = (folder.file("output"), folder.file("errors"))
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = ChildProcess.folder.appending(path: "waybill-cli")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["WAYBILL_TOKEN": ""]) { $1 }.merging(
            environment
        ) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: place ?? output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.runAlone() } catch { continuation.resume(throwing: error) }
        }
        return Command(
            output: try String(contentsOf: output, encoding: .utf8),
            errors: try String(contentsOf: errors, encoding: .utf8),
            status: process.terminationStatus)
    }

    /// The output without its last line break.
    var text: String { output.hasSuffix("\n") ? String(output.dropLast()) : output }
}

/// A `waybill serve` process, which runs until it is ended or released.
struct ServeProcess {
    let process: ChildProcess
    let port: Int
    let url: String

    /// Starts the process and waits for its first line.
    ///
    /// - Parameter asksForToken: `false` runs it with `--insecure`.
    static func start(
        _ folder: TemporaryDirectory, _ arguments: String..., asksForToken: Bool = false,
        environment: [String: String] = [:]
    ) async throws -> ServeProcess {
        let process = try ChildProcess(
            "waybill-cli",
            ["serve", folder.url.path, "--port", "0"] + (asksForToken ? [] : ["--insecure"]) + arguments,
            environment: environment)
        let line = await onThread { process.line() }
        guard let port = line?.wholeMatch(of: #/listening on (https?://127\.0\.0\.1:(\d+))/#), let number = Int(port.2)
        else {
            throw WaybillError(.transport, "The first line was: \(line ?? "none").")
        }
        return ServeProcess(process: process, port: number, url: String(port.1))
    }

    /// Waits for the process to end.
    func status() async -> Int32 { await onThread { process.finish().status } }

    /// Posts a set and returns the receipt; `nil` if the answer has none.
    func post(_ set: TransactionSet) async -> Receipt? {
        let headers = ["Content-Type": TransactionSet.mediaType]
        let answer = try? await RawClient.send(
            "POST", "/v1/sets", to: port, headers: headers, body: Data(set.encoded()))
        guard let answer, answer.status == 200 else { return nil }
        return try? Receipt.decode(Array(answer.body))
    }
}

/// Runs a blocking closure on its own thread.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}

extension TemporaryDirectory {
    /// Makes a store from these sets in this folder, and closes it.
    func makeStore(of sets: TransactionSet...) throws {
        let store = try Store(.folder(url))
        for set in sets { _ = try store.ingest(set, receivedAt: LoginHistory.begun + 60_000_000) }
        try store.checkpoint()
    }

    /// Makes a token for the collector whose folder this is.
    func addToken(_ role: String, _ arguments: String...) async throws -> String {
        try await Command.waybill(["token", "add", url.path, "--role", role] + arguments).text
    }

    /// Writes a set to a file in this folder, as `FileTransport` does.
    func write(_ set: TransactionSet, named name: String) throws {
        try Data(set.encoded()).write(to: file("\(name).waybill-set.json"))
    }
}
#endif
