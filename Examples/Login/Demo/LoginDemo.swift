import Foundation
import LoginUseCase
import WaybillCore
import WaybillQueries

/// Runs the collector, the login server and the login client as three processes, and checks that their stores agree.
///
/// Environment: `RUNS` (default 200); `KEEP=1` leaves the collector running.
@main
struct LoginDemo {
    static func main() async {
        do {
            try await run()
        } catch {
            FileHandle.standardError.write(Data("demo: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let runs = Int(environment["RUNS"] ?? "200"), runs > 0 else {
            throw DemoError("RUNS must be a number above 0.")
        }
        let keeps = environment["KEEP"].map { !$0.isEmpty && $0 != "0" } ?? false
        let folder = URL(filePath: ".build/demo")
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let store = { (name: String) in folder.appending(path: name) }

        let children = Children()
        children.stopOnSignals()
        defer { children.killAll() }

        let collector = try children.start(
            "waybill-cli", ["serve", store("collector").path(), "--port", "0", "--insecure"],
            log: store("collector.log"))
        let collectorURL = try await collector.address()
        print("collector  \(collectorURL.absoluteString)  (process \(collector.processID))")
        let server = try children.start(
            "LoginServer", environment: ["COLLECTOR": collectorURL.absoluteString, "STORE": store("server").path()],
            log: store("server.log"))
        let serverURL = try await server.address()
        print("server     \(serverURL.absoluteString)  (process \(server.processID))")
        let client = try children.start(
            "LoginClient",
            environment: [
                "RUNS": "\(runs)", "SERVER": serverURL.absoluteString, "COLLECTOR": collectorURL.absoluteString,
                "STORE": store("client").path(),
            ], log: store("client.log"))

        var progress = Progress(total: runs)
        await client.eachLine { line in if line.hasPrefix("done") { progress.step() } }
        try client.wait()  // it ends when all it recorded was delivered
        try server.stop()

        let findings = try Findings(
            runs: runs, clientStore: store("client"), serverStore: store("server"), collectorStore: store("collector"))
        let summary = Summary(findings, runs: runs, collector: collectorURL)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(summary).write(to: store("summary.json"))

        if let example = findings.merged.first(where: {
            $0.summary.outcome == .failed && $0.exchanges.contains { $0.status == 401 }
        }) {
            print("\nOne login, as the collector merged it from client and server\n")
            let show = try children.start(
                "waybill-cli", ["show", collectorURL.absoluteString, example.summary.id.description],
                log: store("show.log"))
            await show.eachLine { print($0) }
            try show.wait()
        }
        print(summary.text)
        print(
            """

            Stores: .build/demo/client, .build/demo/server, .build/demo/collector. Look at them:
              .build/debug/waybill-cli list .build/demo/collector --outcome failed
              .build/debug/waybill-cli show .build/demo/collector \(findings.merged.last.map { "\($0.summary.id.supportCode)" } ?? "ID")
              .build/debug/waybill-cli verify .build/demo/client
              sqlite3 -readonly .build/demo/collector/waybill.sqlite 'SELECT * FROM transactions LIMIT 5'
            """)
        guard findings.disagreements.isEmpty else {
            throw DemoError(
                "the stores do not agree.\n" + findings.disagreements.map { "  \($0)" }.joined(separator: "\n"))
        }
        if keeps {
            children.release(collector)
            print("\nThe collector runs on at \(collectorURL.absoluteString); end it with: kill \(collector.processID)")
        } else {
            try collector.stop()
        }
        print("\nEvery count agrees.")
    }
}
