import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2
import Logging
import Shop
import Tracing
import Waybill
import WaybillGRPC
import WaybillLogging
import WaybillTracing

/// The stock, a gRPC service. It counts the remaining items in three steps.
@main
struct ShopStock {
    static func main() async throws {
        guard let place = Place() else {
            FileHandle.standardError.write(Data("Set STORE and COLLECTOR.\n".utf8))
            exit(64)
        }
        let transactions = place.transactions(of: "shop-stock")
        InstrumentationSystem.bootstrap(TransactionTracer(transactions))
        LoggingSystem.bootstrap { TransactionLogHandler(label: $0) }
        let server = GRPCServer(
            transport: .http2NIOPosix(address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext),
            services: [Stock()], interceptors: [TransactionServerInterceptor(transactions)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.serve() }
            Place.announce(port: try await server.listeningAddress?.ipv4?.port ?? 0)
            await Self.untilTerminated()
            server.beginGracefulShutdown()
            try await group.waitForAll()
        }
        let report = await transactions.flush()
        if !report.isComplete { exit(1) }
    }

    private static func untilTerminated() async {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM)
        await withCheckedContinuation { continuation in
            source.setEventHandler {
                source.cancel()
                continuation.resume()
            }
            source.resume()
        }
    }
}

struct Stock: RegistrableRPCService {
    private let logger = Logger(label: "stock")

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(
            forMethod: .count, deserializer: Text(), serializer: Text()
        ) { [logger] request, _ in
            StreamingServerResponse { writer in
                for try await number in request.messages {
                    Order.log(.stockCounted, attributes: ["number": .string(number)])
                    logger.info("counting", metadata: ["number": "\(number)"])
                    try await withSpan("SELECT shelves") { _ in
                        for count in [4, 8, 12] { try await writer.write("\(count)") }
                    }
                }
                return [:]
            }
        }
    }
}
