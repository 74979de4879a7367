#if GRPC
import Foundation
import GRPCCore
import GRPCInProcessTransport
import TestSupport
import Waybill
import WaybillCore
import WaybillGRPC
import WaybillQueries
import WaybillTesting

enum Login: Int, UseCase {
    static let code = 0
    case initiated = 0, handled = 1
}

struct Broken: Error {}

extension TransactionManager {
    static func calling(_ hosts: [String] = ["in-process"]) -> TransactionManager {
        .testing(correlatedHosts: hosts) { options in
            (options.server.accepting, options.diagnostics) = (.only(Login.self), { _ in })
        }
    }

    /// Returns the events of logins with this name, in order.
    func events(named name: String) throws -> [TransactionRecord.Entry] {
        try transactions(Login.self).flatMap { $0.timeline.filter { $0.kind == .event && $0.label == name } }
    }
}

/// A serializer that leaves text unchanged.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct Text: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) throws -> Bytes { Bytes(Array(message.utf8)) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

/// A service without generated code.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct Orders: RegistrableRPCService {
    /// The metadata names of each received call.
    let metadata = Locked<[[String]]>([])
    /// The number of `Wait` calls being handled.
    let waiting = Locked(0)

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        // `Join` answers the whole request at once, and `Split` each message of it.
        register("Join", in: &router) { request, _ in
            Login.current?.log(.handled)
            var all: [String] = []
            for try await message in request.messages { all.append(message) }
            let answer = all.joined(separator: "+")
            return StreamingServerResponse(metadata: ["first": "1"]) { writer in
                try await writer.write(answer)
                return ["last": "2"]
            }
        }
        register("Split", in: &router) { request, _ in
            StreamingServerResponse { writer in
                for try await message in request.messages {
                    Login.current?.log(.handled, attributes: ["message": .string(message)])
                    try await writer.write(contentsOf: message.split(separator: "+").map(String.init))
                }
                return [:]
            }
        }
        register("Fail", in: &router) { request, _ in
            for try await message in request.messages where message == "mistake" {
                throw RPCError(code: .notFound, message: "no such order", metadata: ["reason": "none"])
            }
            throw Broken()
        }
        register("FailLate", in: &router) { _, _ in
            StreamingServerResponse { writer in
                try await writer.write("first")
                throw RPCError(code: .dataLoss, message: "half an order")
            }
        }
        register("Wait", in: &router) { [waiting] _, context in
            waiting.withLock { $0 += 1 }
            try await context.cancellation.cancelled
            throw CancellationError()
        }
    }

    private func register<Transport: ServerTransport>(
        _ method: String, in router: inout RPCRouter<Transport>,
        handler:
            @escaping @Sendable (StreamingServerRequest<String>, ServerContext) async throws ->
            StreamingServerResponse<String>
    ) {
        router.registerHandler(
            forMethod: .orders(method), deserializer: Text(), serializer: Text()
        ) { [metadata] request, context in
            metadata.withLock { $0.append(request.metadata.map(\.key).sorted()) }
            return try await handler(request, context)
        }
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension MethodDescriptor {
    static func orders(_ method: String) -> MethodDescriptor {
        MethodDescriptor(fullyQualifiedService: "shop.Orders", method: method)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension GRPCClient {
    /// Makes a call of any kind, and returns all response messages.
    func call(
        _ method: String, _ messages: [String], metadata: Metadata = [:], timeout: Duration? = nil
    ) async throws -> [String] {
        var options = CallOptions.defaults
        options.timeout = timeout
        return try await bidirectionalStreaming(
            request: StreamingClientRequest(of: String.self, metadata: metadata) {
                try await $0.write(contentsOf: messages)
            },
            descriptor: .orders(method), serializer: Text(), deserializer: Text(), options: options
        ) { response in
            var all: [String] = []
            for try await message in response.messages { all.append(message) }
            return all
        }
    }
}

/// Runs a server and its client in one process.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
func withOrders<Result: Sendable>(
    _ orders: Orders = Orders(), client: [any ClientInterceptor], server: [any ServerInterceptor],
    _ body: (GRPCClient<InProcessTransport.Client>) async throws -> Result
) async throws -> Result {
    let transport = InProcessTransport()
    return try await withGRPCServer(transport: transport.server, services: [orders], interceptors: server) { _ in
        try await withGRPCClient(transport: transport.client, interceptors: client) { try await body($0) }
    }
}
#endif
