#if Collector
import ArgumentParser
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import WaybillCollector
import WaybillCore

/// `waybill serve`: a collector of its own.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a collector: take in sets, and answer questions about them.",
        discussion: """
            The first line of output is where it listens. The first SIGTERM or SIGINT ends it: requests in flight finish, and what was
            acknowledged is on disk.

            EXAMPLES
              waybill serve ./collected
              waybill serve ./collected --host 0.0.0.0 --port 80 --token-file token.txt
              curl http://127.0.0.1:8477/v1/transactions?since=24h
            """)

    @Argument(help: "The folder of the store; made where it is missing.")
    var folder: String

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any that is free.")
    var port = 8477

    @OptionGroup var tokens: TokenOptions

    @Option(help: ArgumentHelp("A file that holds the token for erasing; without one nothing can be erased over HTTP.", valueName: "file"))
    var adminTokenFile: String?

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
    }

    func run() async throws {
        let collector = try Collector(
            folder: URL(filePath: folder, directoryHint: .isDirectory), token: tokens.token(),
            adminToken: adminTokenFile.map { try BearerToken(contentsOf: URL(filePath: $0)) })
        if !collector.asksForToken, !["127.0.0.1", "::1", "localhost"].contains(host) {
            Terminal.warn("There is no token: whoever reaches \(host) can read everything, and add to it. See --token-file.")
        }
        var logger = Logger(label: "waybill")
        logger.logLevel = .warning
        let app = Application(
            router: collector.router(),
            // A client that stops in the middle of a request must not hold up the end for ever.
            server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(60))),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: "waybill"),
            onServerRunning: { [host] channel in
                let address = host.contains(":") ? "[\(host)]" : host
                Terminal.write(["listening on http://\(address):\(channel.localAddress?.port ?? 0)"])
            },
            logger: logger)
        do {
            try await app.runService()
        } catch {
            throw WaybillError(.setting, "The collector cannot listen on \(host), port \(port).", cause: "\(error)")
        }
    }
}
#endif
