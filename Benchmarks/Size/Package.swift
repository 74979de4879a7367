// swift-tools-version: 6.2
import PackageDescription

// A hello-world and the same with one transaction; `measure` says where Waybill is.
let package = Package(
    name: "size",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "waybill", path: Context.environment["WAYBILL_PATH"] ?? "../..")],
    targets: [
        .executableTarget(name: "Bare"),
        .executableTarget(name: "WithWaybill", dependencies: [.product(name: "Waybill", package: "waybill")]),
    ],
    swiftLanguageModes: [.v6]
)
