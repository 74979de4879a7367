// swift-tools-version: 6.2
import PackageDescription

// The same work recorded in several ways, with a program for each; `measure` runs them. Their dependencies stay here.
let package = Package(
    name: "peers",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "waybill", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(name: "Work"),
        .executableTarget(name: "Bare", dependencies: ["Work"]),
        .executableTarget(name: "WithWaybill", dependencies: ["Work", .product(name: "Waybill", package: "waybill")]),
        .executableTarget(
            name: "WithSwiftLog", dependencies: ["Work", .product(name: "Logging", package: "swift-log")]),
        .executableTarget(name: "WithGRDB", dependencies: ["Work", .product(name: "GRDB", package: "GRDB.swift")]),
        .executableTarget(name: "ByHand", dependencies: ["Work"]),
    ],
    swiftLanguageModes: [.v6]
)
