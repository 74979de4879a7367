// swift-tools-version: 6.2
import PackageDescription

// A separate package, because gRPC's transport brings a second BoringSSL and more, and Waybill's other builds don't need
// them. It depends on Waybill as your package would, except for the path.
let package = Package(
    name: "many-stacks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            name: "waybill", path: "../..", traits: ["Tracing", "Logging", "Hummingbird", "GRPC", "AsyncHTTPClient"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    ],
    targets: [
        // Shared by the three processes.
        .target(name: "Shop", dependencies: [.waybill("Waybill"), .grpc], path: "Shop"),
        .executableTarget(
            name: "ShopClient",
            dependencies: [
                "Shop", .waybill("Waybill"), .waybill("WaybillTracing"), .waybill("WaybillAsyncHTTPClient"),
                .asyncHTTPClient, .tracing,
            ],
            path: "Client"),
        .executableTarget(
            name: "ShopGateway",
            dependencies: [
                "Shop", .waybill("Waybill"), .waybill("WaybillTracing"), .waybill("WaybillHummingbird"),
                .waybill("WaybillGRPC"), .asyncHTTPClient, .grpc, .grpcTransport, .hummingbird, .tracing, .logging,
            ], path: "Gateway"),
        .executableTarget(
            name: "ShopStock",
            dependencies: [
                "Shop", .waybill("Waybill"), .waybill("WaybillTracing"), .waybill("WaybillLogging"),
                .waybill("WaybillGRPC"), .grpc, .grpcTransport, .tracing, .logging,
            ], path: "Stock"),
    ],
    swiftLanguageModes: [.v6]
)

extension Target.Dependency {
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let grpc = product(name: "GRPCCore", package: "grpc-swift-2")
    static let grpcTransport = product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport")
    static let tracing = product(name: "Tracing", package: "swift-distributed-tracing")
    static let logging = product(name: "Logging", package: "swift-log")

    static func waybill(_ name: String) -> Target.Dependency { product(name: name, package: "waybill") }
}
