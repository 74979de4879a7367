// swift-tools-version: 6.2
import PackageDescription

// Xcode puts the privacy manifest into the app. Elsewhere nobody reads it, and a resource would cost a bundle beside
// every executable.
#if canImport(Darwin)
let (privacyManifest, unused): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
// The SDK of each platform has both libraries, and the module maps name them. Xcode would ask pkg-config for all
// platforms alike: without one there is a warning in every app, and Homebrew's gives an iPhone the headers of a Mac.
let (sqlitePackage, zlibPackage): (String?, String?) = (nil, nil)
#else
let (privacyManifest, unused): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
let (sqlitePackage, zlibPackage): (String?, String?) = ("sqlite3", "zlib")
#endif

/// The library without what needs a trait, for tests and tools; an app names the products that it links.
let recording: [Target.Dependency] = [
    "WaybillAtomics", "WaybillCore", "WaybillStore", "Waybill", "WaybillQueries", "WaybillExport", "WaybillLegacy",
]
let library = recording + ["WaybillInspector", "WaybillUI", "WaybillSpans"]
let testingRecording = recording + ["WaybillTesting", "TestSupport"]
let testing = library + ["WaybillTesting", "TestSupport"]

/// Products of another package that are linked if a trait is on.
///
/// One trait for each: tools of 6.2 need all traits of a condition, those of 6.3 any of them.
func products(_ names: String..., of package: String, if trait: String) -> [Target.Dependency] {
    names.map { .product(name: $0, package: package, condition: .when(traits: [trait])) }
}

let tracing = products("Tracing", of: "swift-distributed-tracing", if: "Tracing")
let logging = products("Logging", of: "swift-log", if: "Logging")
let grpc = products("GRPCCore", of: "grpc-swift-2", if: "GRPC")
let metrics = products("CoreMetrics", of: "swift-metrics", if: "Metrics")
let services =
    products("ServiceLifecycle", of: "swift-service-lifecycle", if: "ServiceLifecycle")
let httpClient =
    products("AsyncHTTPClient", of: "async-http-client", if: "AsyncHTTPClient")
    + products("NIOCore", "NIOHTTP1", of: "swift-nio", if: "AsyncHTTPClient")
    + products("Logging", of: "swift-log", if: "AsyncHTTPClient")
let clickHouse =
    products("AsyncHTTPClient", of: "async-http-client", if: "ClickHouse")
    + products("NIOCore", "NIOHTTP1", of: "swift-nio", if: "ClickHouse")
    + products("NIOSSL", of: "swift-nio-ssl", if: "ClickHouse")
let server =
    products("Hummingbird", of: "hummingbird", if: "Hummingbird")
    + products("HTTPTypes", of: "swift-http-types", if: "Hummingbird")
    + products("Logging", of: "swift-log", if: "Hummingbird")
    + products("NIOCore", of: "swift-nio", if: "Hummingbird")
let collector = server + products("ServiceLifecycle", of: "swift-service-lifecycle", if: "Collector")
let command =
    products("ArgumentParser", of: "swift-argument-parser", if: "Collector")
    + products("Configuration", of: "swift-configuration", if: "Collector")
    + products("HummingbirdTLS", of: "hummingbird", if: "TLS") + products("NIOSSL", of: "swift-nio-ssl", if: "TLS")

let package = Package(
    name: "waybill",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Waybill", targets: ["Waybill"]),
        .library(name: "WaybillQueries", targets: ["WaybillQueries"]),
        .library(name: "WaybillExport", targets: ["WaybillExport"]),
        .library(name: "WaybillInspector", targets: ["WaybillInspector"]),
        .library(name: "WaybillUI", targets: ["WaybillUI"]),
        .library(name: "WaybillLegacy", targets: ["WaybillLegacy"]),
        .library(name: "WaybillTesting", targets: ["WaybillTesting"]),
        .library(name: "WaybillTracing", targets: ["WaybillTracing"]),
        .library(name: "WaybillLogging", targets: ["WaybillLogging"]),
        .library(name: "WaybillAsyncHTTPClient", targets: ["WaybillAsyncHTTPClient"]),
        .library(name: "WaybillServiceLifecycle", targets: ["WaybillServiceLifecycle"]),
        .library(name: "WaybillMetrics", targets: ["WaybillMetrics"]),
        .library(name: "WaybillGRPC", targets: ["WaybillGRPC"]),
        .library(name: "WaybillClickHouse", targets: ["WaybillClickHouse"]),
        .library(name: "WaybillHummingbird", targets: ["WaybillHummingbird"]),
        .library(name: "WaybillCollector", targets: ["WaybillCollector"]),
        .executable(name: "waybill-cli", targets: ["WaybillCommand"]),
    ],
    // An app that links `Waybill` resolves no packages: whatever has a dependency sits behind a trait, off by default.
    traits: [
        .trait(name: "Tracing", description: "WaybillTracing: a tracer for swift-distributed-tracing."),
        .trait(name: "Logging", description: "WaybillLogging: a log handler for swift-log."),
        .trait(name: "GRPC", description: "WaybillGRPC: interceptors for clients and servers of grpc-swift 2."),
        .trait(
            name: "AsyncHTTPClient", description: "WaybillAsyncHTTPClient: requests of async-http-client are recorded."),
        .trait(name: "ServiceLifecycle", description: "WaybillServiceLifecycle: a manager is a service."),
        .trait(name: "Metrics", description: "WaybillMetrics: health and ledger as gauges."),
        .trait(
            name: "Hummingbird", description: "WaybillHummingbird: middleware that joins the transaction of a request."),
        .trait(
            name: "Collector",
            description: "WaybillCollector and the `waybill` command line.",
            enabledTraits: ["Hummingbird"]
        ),
        .trait(
            name: "ClickHouse",
            description: "WaybillClickHouse: a store in a ClickHouse database; with Collector also on the command line."
        ),
        // Apart, because it builds all of BoringSSL.
        .trait(
            name: "TLS", description: "`waybill serve` with a certificate of its own.", enabledTraits: ["Collector"]),
        // For whoever works on Waybill: a new trait is added here, and to nothing else that builds.
        .trait(
            name: "All", description: "All of them.",
            enabledTraits: [
                "TLS", "Tracing", "Logging", "GRPC", "AsyncHTTPClient", "ServiceLifecycle", "Metrics", "ClickHouse",
            ]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["JSON"]),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The library, top to bottom: each target knows only those above it.
        .systemLibrary(name: "CWaybillSQLite", pkgConfig: sqlitePackage, providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CWaybillZlib", pkgConfig: zlibPackage, providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CAtomicWords"),
        .systemLibrary(name: "CJournal"),
        .target(name: "WaybillAtomics", dependencies: ["CAtomicWords"]),
        .target(name: "WaybillCore", dependencies: ["CAtomicWords"]),
        .target(
            name: "WaybillStore",
            dependencies: [
                "WaybillAtomics", "WaybillCore", "CAtomicWords", "CWaybillSQLite", "CJournal", "CWaybillZlib",
            ]),
        // What every app links.
        .target(
            name: "Waybill", dependencies: ["WaybillAtomics", "WaybillCore", "WaybillStore"], exclude: unused,
            resources: privacyManifest),
        // What an app adds to look at what it recorded.
        .target(name: "WaybillQueries", dependencies: ["WaybillCore", "WaybillStore", "Waybill"]),
        .target(
            name: "WaybillExport",
            dependencies: ["WaybillCore", "WaybillStore", "Waybill", "WaybillQueries", "CWaybillZlib"],
            resources: [.embedInCode("Report/Assets")]),
        .target(
            name: "WaybillInspector", dependencies: ["WaybillCore", "Waybill", "WaybillQueries", "WaybillExport"],
            resources: [.embedInCode("Assets")]),
        // The view for iOS, macOS and visionOS; elsewhere the HTTP part of it, for tests.
        .target(
            name: "WaybillUI", dependencies: ["Waybill", "WaybillInspector"], resources: [.embedInCode("Assets")]),
        .target(name: "WaybillLegacy", dependencies: ["WaybillCore", "WaybillStore", "Waybill", "WaybillQueries"]),
        // Spans of OpenTelemetry come in, at the collector.
        .target(name: "WaybillSpans", dependencies: ["WaybillCore", "WaybillStore", "WaybillQueries"]),
        .target(
            name: "WaybillTesting",
            dependencies: ["WaybillCore", "WaybillStore", "Waybill", "WaybillQueries", "WaybillExport"]),

        // Behind traits.
        .target(name: "WaybillTracing", dependencies: ["WaybillCore", "Waybill"] + tracing),
        .target(name: "WaybillLogging", dependencies: ["WaybillCore", "Waybill"] + logging),
        .target(name: "WaybillAsyncHTTPClient", dependencies: ["WaybillCore", "Waybill"] + httpClient),
        .target(name: "WaybillServiceLifecycle", dependencies: ["Waybill"] + services),
        .target(name: "WaybillMetrics", dependencies: ["WaybillCore", "Waybill"] + metrics),
        .target(name: "WaybillGRPC", dependencies: ["WaybillCore", "Waybill"] + grpc),
        .target(name: "WaybillHummingbird", dependencies: ["Waybill"] + server),
        .target(
            name: "WaybillClickHouse",
            dependencies: ["WaybillCore", "WaybillStore", "WaybillQueries", "WaybillExport"] + clickHouse),
        .target(
            name: "WaybillCollector",
            dependencies: [
                "WaybillCore", "WaybillStore", "Waybill", "WaybillQueries", "WaybillExport", "WaybillInspector",
                "WaybillLegacy", "WaybillSpans", "WaybillClickHouse", "CWaybillZlib",
            ] + collector),
        .executableTarget(
            name: "WaybillCommand",
            dependencies: [
                "WaybillCore", "Waybill", "WaybillQueries", "WaybillExport", "WaybillInspector", "WaybillLegacy",
                "WaybillClickHouse", "WaybillCollector",
            ] + server + command),

        // Examples. The demo has three processes, and the program that runs them.
        .target(name: "LoginUseCase", dependencies: ["Waybill"], path: "Examples/Login/UseCase"),
        .executableTarget(
            name: "LoginClient", dependencies: ["Waybill", "LoginUseCase"], path: "Examples/Login/Client"),
        .executableTarget(
            name: "LoginServer", dependencies: ["Waybill", "WaybillHummingbird", "LoginUseCase"] + server,
            path: "Examples/Login/Server"),
        .executableTarget(
            name: "LoginDemo",
            dependencies: [
                "WaybillCore", "WaybillStore", "Waybill", "WaybillQueries", "LoginUseCase", "LoginClient",
                "LoginServer", "WaybillCommand",
            ],
            path: "Examples/Login/Demo"),
        // Its screens need SwiftUI, and are built by Xcode from Examples/LoginApp/project.yml.
        .target(name: "LoginAppModel", dependencies: ["Waybill"], path: "Examples/LoginApp/Model"),
        .executableTarget(
            name: "SyncNotes", dependencies: ["Waybill"], path: "Examples/CommandLineTool", exclude: ["README.md"]),
        .target(name: "CheckoutShop", dependencies: ["Waybill"], path: "Examples/Checkout/Shop"),
        .executableTarget(
            name: "CheckoutApp", dependencies: ["Waybill", "CheckoutShop"], path: "Examples/Checkout/App"),
        .executableTarget(
            name: "CheckoutServer", dependencies: ["Waybill", "WaybillHummingbird", "CheckoutShop"] + server,
            path: "Examples/Checkout/Server"),
        // Compiled as a part of another package, which sees the public API alone.
        .executableTarget(
            name: "OwnCollector", dependencies: ["Waybill", "WaybillCollector"] + server,
            path: "Examples/OwnCollector", exclude: ["README.md"],
            swiftSettings: [.unsafeFlags(["-package-name", "own-collector"])]),

        // Programs that measure and break things.
        .executableTarget(
            name: "Benchmarks",
            dependencies: testing + [
                "WaybillCollector", "WaybillHummingbird", "WaybillTracing", "WaybillLogging", "CWaybillSQLite",
                "AllocationCounter",
            ] + server + tracing,
            path: "Benchmarks", exclude: ["AllocationCounter", "Peers", "Size", "ratios.json"]),
        .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter"),
        .executableTarget(
            name: "Faults", dependencies: library + ["TestSupport", "PowerLoss", "CWaybillSQLite"] + command,
            path: "Tests/Faults"),
        .executableTarget(name: "SampleReports", dependencies: library + ["TestSupport"], path: "Tests/SampleReports"),
        .executableTarget(
            name: "TestProcess", dependencies: recording + ["TestSupport", "CWaybillSQLite", "CWaybillZlib"],
            path: "Tests/TestProcess"),
        // An app whose inspector has controls, for a browser.
        .executableTarget(
            name: "InspectedApp",
            dependencies: ["Waybill", "WaybillInspector", "WaybillCollector", "TestSupport"] + server,
            path: "Tests/InspectedApp"),
        // Servers with a manager among their services, to be ended by signals.
        .executableTarget(
            name: "ServiceProcess",
            dependencies: ["Waybill", "WaybillServiceLifecycle"] + services
                + products("UnixSignals", of: "swift-service-lifecycle", if: "ServiceLifecycle")
                + products("Logging", of: "swift-log", if: "ServiceLifecycle"),
            path: "Tests/ServiceProcess"),

        // What several test targets share: real servers and child processes, power cuts, a naive store.
        .target(
            name: "TestSupport", dependencies: ["WaybillCore", "WaybillStore", "WaybillQueries"],
            path: "Tests/TestSupport"),
        .target(name: "CRecordingDisk", dependencies: ["CWaybillSQLite"], path: "Tests/CRecordingDisk"),
        .target(name: "PowerLoss", dependencies: testingRecording + ["CRecordingDisk"], path: "Tests/PowerLoss"),
        .target(name: "StoreConformance", dependencies: testingRecording, path: "Tests/StoreConformance"),

        .testTarget(name: "WaybillCoreTests", dependencies: library + ["TestSupport"]),
        .testTarget(name: "WaybillStoreTests", dependencies: testingRecording + ["PowerLoss", "StoreConformance"]),
        // Brute force over many histories, power cuts at every moment. A target of its own, which the thread sanitizer
        // leaves out.
        .testTarget(
            name: "WaybillStoreSlowTests",
            dependencies: testing + ["PowerLoss", "StoreConformance", "WaybillStoreTests"]),
        .testTarget(name: "WaybillTests", dependencies: testingRecording + ["TestProcess", "CWaybillZlib"]),
        // Megabytes of traffic, all on the one queue of URLSession.
        .testTarget(name: "WaybillSlowTests", dependencies: testing + ["TestProcess", "WaybillTests"]),
        .testTarget(name: "WaybillQueriesTests", dependencies: testing),
        .testTarget(name: "WaybillExportTests", dependencies: testing + ["TestProcess"]),
        .testTarget(name: "WaybillInspectorTests", dependencies: testing + ["StoreConformance"]),
        .testTarget(name: "WaybillUITests", dependencies: testing + ["LoginAppModel"]),
        .testTarget(name: "WaybillSpansTests", dependencies: testing),
        // Also a package of its own, for an iPhone simulator.
        .testTarget(
            name: "SimulatorTests", dependencies: ["Waybill", "WaybillTesting"],
            path: "Tests/Simulator/Tests/SimulatorTests"),
        .testTarget(
            name: "WaybillTracingTests",
            dependencies: testing + ["WaybillTracing", "WaybillHummingbird"] + server + tracing
                + products("InMemoryTracing", of: "swift-distributed-tracing", if: "Tracing")),
        .testTarget(name: "WaybillLoggingTests", dependencies: testing + ["WaybillLogging"] + logging),
        .testTarget(
            name: "WaybillAsyncHTTPClientTests",
            dependencies: testing + ["WaybillAsyncHTTPClient", "WaybillTracing"] + httpClient + tracing),
        .testTarget(
            name: "WaybillServiceLifecycleTests",
            dependencies: testing + ["WaybillServiceLifecycle", "WaybillCommand", "ServiceProcess"]),
        .testTarget(
            name: "WaybillMetricsTests",
            dependencies: testing + ["WaybillMetrics"] + metrics
                + products("MetricsTestKit", of: "swift-metrics", if: "Metrics")),
        .testTarget(
            name: "WaybillGRPCTests",
            dependencies: testing + ["WaybillGRPC"] + grpc
                + products("GRPCInProcessTransport", of: "grpc-swift-2", if: "GRPC")),
        .testTarget(name: "WaybillHummingbirdTests", dependencies: testing + ["WaybillHummingbird"] + server),
        .testTarget(
            name: "WaybillCollectorTests", dependencies: testing + ["WaybillCollector", "WaybillClickHouse"] + server),
        .testTarget(
            name: "WaybillClickHouseTests",
            dependencies: testing + [
                "StoreConformance", "WaybillClickHouse", "WaybillCollector", "WaybillCollectorTests",
                "WaybillSpansTests",
            ]),
        .testTarget(
            name: "WaybillCommandTests",
            dependencies: library + ["WaybillCollector", "WaybillCommand", "TestSupport"] + server + command
                + products("NIOEmbedded", of: "swift-nio", if: "Collector"),
            exclude: ["Certificates"]),
        // A collector with hundreds of histories, each answer counted again.
        .testTarget(
            name: "WaybillCommandSlowTests",
            dependencies: testing + ["StoreConformance", "WaybillCollector", "WaybillCommand", "WaybillCollectorTests"]),
    ],
    swiftLanguageModes: [.v6]
)

// Set by `make fuzz` alone: what links the fuzzer must not be in anybody's build. Tests go, because the fuzzers share
// sources with them.
if Context.environment["WAYBILL_FUZZING"] != nil {
    package.targets.removeAll { $0.type == .test }
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzzing/CFuzzer"),
        .executableTarget(
            name: "FuzzSet", dependencies: ["WaybillCore", "CFuzzer"], path: "Tests",
            sources: ["Fuzzing/FuzzSet.swift", "WaybillCoreTests/Sets/SetBytes.swift"]
        ),
        .executableTarget(
            name: "FuzzBody", dependencies: ["WaybillCore", "CFuzzer"], path: "Tests",
            sources: ["Fuzzing/FuzzBody.swift", "WaybillCoreTests/Redaction/BodyBytes.swift"]
        ),
        .executableTarget(
            name: "FuzzJournal", dependencies: ["WaybillCore", "WaybillStore", "CFuzzer"], path: "Tests",
            sources: ["Fuzzing/FuzzJournal.swift", "WaybillStoreTests/Support/JournalBytes.swift"]
        ),
    ]
}

// Set where what is behind traits is built on a Mac, the command line and tests among it: Hummingbird's router needs
// macOS 14, and Swift Configuration 15. An app does not, and what of `WaybillCollector` uses the router says so itself.
if Context.environment["WAYBILL_SERVERS"] != nil {
    package.platforms = [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)]
}

// Set by the thread sanitizer's run, which needs these tests and what they use: `swift build --build-tests` builds all.
if let tests = Context.environment["WAYBILL_TESTS"]?.split(separator: ",").map(String.init) {
    var (needed, found) = (Set<String>(), tests)
    while let name = found.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for case .byNameItem(let dependency, _) in target.dependencies { found.append(dependency) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { ($0 as? Product.Library)?.targets.allSatisfy(needed.contains) != true }
}

for target in package.targets where target.type != .system {
    var settings: [SwiftSetting] = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
    // Set by the Makefile, so that CI fails on a warning and a newer compiler does not break anybody's build.
    if Context.environment["WAYBILL_WARNINGS_AS_ERRORS"] != nil {
        settings.append(.treatAllWarnings(as: .error))
    }
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}

#if os(Linux)
// What an app links is half as large so: `make bench ROWS=size`. With a section for each function, and without symbols
// for other modules, the linker omits what an app doesn't call; Apple's linker does so without flags. `-gnone` and
// `nounwind` omit unwind tables, and with them the line numbers of Waybill's own frames: Swift does not unwind the stack.
// `-Osize` is for targets without hot loops. Writers that nobody copies are classes or `~Copyable`, because copying takes
// code. No app prints a value of `WaybillStore`, which has no public types (`Scripts/public-types`), so it needs no
// reflection metadata.
for target in package.targets where target.type == .regular {
    let size = ["Waybill", "WaybillStore"].contains(target.name) ? ["-Osize"] : []
    let reflection = target.name == "WaybillStore" ? ["-Xfrontend", "-disable-reflection-metadata"] : []
    target.swiftSettings?.append(
        .unsafeFlags(
            [
                "-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link", "-Xfrontend", "-gnone",
                "-Xllvm", "-force-attribute=nounwind",
            ] + size + reflection,
            .when(configuration: .release)))
}
#endif
