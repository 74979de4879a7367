// swift-tools-version: 6.2
import PackageDescription

// What is to be tried on a device's system: child processes and local servers, which most other tests need, are not to
// be had there. `swift test --package-path Tests/Simulator` runs it anywhere; .github/workflows/ci.yml on an iPhone
// simulator.
let package = Package(
    name: "simulator",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [.package(name: "waybill", path: "../..")],
    targets: [
        .testTarget(
            name: "SimulatorTests",
            dependencies: [
                .product(name: "Waybill", package: "waybill"), .product(name: "WaybillTesting", package: "waybill"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
