#if GRPC
import Foundation
import GRPCCore
import Waybill
import WaybillGRPC

// The lines of the guide, compiled.

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private func call(_ transactions: TransactionManager, over transport: some ClientTransport) async throws {
    try await withGRPCClient(
        transport: transport,
        interceptors: [TransactionClientInterceptor(transactions, server: URL(string: "https://orders.example.com"))]
    ) { client in
        _ = try await client.call("Join", ["a"])
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private func serve(
    _ transactions: TransactionManager, _ services: [any RegistrableRPCService], over transport: some ServerTransport
) async throws {
    let server = GRPCServer(
        transport: transport, services: services, interceptors: [TransactionServerInterceptor(transactions)])
    try await server.serve()
}
#endif
