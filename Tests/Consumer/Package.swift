// swift-tools-version: 6.2
import PackageDescription

// An app like the apps of others. Scripts/check-consumer copies it out of the checkout, and says where Waybill is.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: Context.environment["WAYBILL_URL"] ?? "https://waybill.invalid", from: "1.0.0")
    ],
    targets: [
        .target(name: "Vocabulary"),
        // An app or its packages may have modules with these names, and SwiftPM refuses two modules of one name.
        .systemLibrary(name: "CSQLite"),
        .systemLibrary(name: "CZlib"),
        .executableTarget(
            name: "Consumer",
            dependencies: ["CSQLite", "CZlib", .product(name: "Waybill", package: "waybill")],
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
        .executableTarget(
            name: "Script", dependencies: [.product(name: "Waybill", package: "waybill")],
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
        .testTarget(
            name: "PublicAPITests",
            dependencies: [
                "Vocabulary", .product(name: "Waybill", package: "waybill"),
                .product(name: "WaybillQueries", package: "waybill"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error)]
        ),
    ],
    swiftLanguageModes: [.v6]
)
