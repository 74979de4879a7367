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

// All of the library that needs no trait, for tests and tools; what an app links is named by product.
let library: [Target.Dependency] = [
    "WaybillAtomics", "WaybillCore", "WaybillStore", "WaybillReading", "Waybill", "WaybillAnalysis", "WaybillExport",
    "WaybillInspector", "WaybillUI", "WaybillLegacy", "WaybillSpans",
]

let package = Package(
    name: "waybill",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Waybill", targets: ["Waybill"]),
        .library(name: "WaybillAnalysis", targets: ["WaybillAnalysis"]),
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
        .target(name: "WaybillReading", dependencies: ["WaybillCore", "WaybillStore"]),
        .target(
            name: "Waybill", dependencies: ["WaybillAtomics", "WaybillCore", "WaybillStore", "WaybillReading"],
            exclude: unused, resources: privacyManifest),
        // What an app adds where it needs it.
        .target(name: "WaybillAnalysis", dependencies: ["WaybillCore", "WaybillStore", "WaybillReading", "Waybill"]),
        .target(
            name: "WaybillExport",
            dependencies: [
                "WaybillCore", "WaybillStore", "WaybillReading", "Waybill", "WaybillAnalysis", "CWaybillZlib",
            ],
            resources: [.embedInCode("Report/Assets")]),
        .target(
            name: "WaybillInspector",
            dependencies: ["WaybillCore", "WaybillReading", "Waybill", "WaybillAnalysis", "WaybillExport"],
            resources: [.embedInCode("Assets")]),
        // The view for iOS, macOS and visionOS; elsewhere what it shows the inspector by, for tests.
        .target(
            name: "WaybillUI", dependencies: ["Waybill", "WaybillInspector"], resources: [.embedInCode("Assets")]),
        .target(name: "WaybillLegacy", dependencies: ["WaybillCore", "WaybillStore", "WaybillReading", "Waybill"]),
        // Spans of OpenTelemetry come in, at the collector.
        .target(name: "WaybillSpans", dependencies: ["WaybillCore", "WaybillStore", "WaybillReading"]),
        .target(
            name: "WaybillTesting",
            dependencies: [
                "WaybillCore", "WaybillStore", "WaybillReading", "Waybill", "WaybillAnalysis", "WaybillExport",
            ]),
        // Behind traits.
        .target(name: "WaybillTracing", dependencies: ["WaybillCore", "Waybill", .tracing]),
        .target(name: "WaybillLogging", dependencies: ["WaybillCore", "Waybill", .logHandling]),
        .target(
            name: "WaybillAsyncHTTPClient",
            dependencies: ["WaybillCore", "Waybill", .asyncHTTPClient, .clientNIO, .clientHTTP, .clientLogging]),
        .target(name: "WaybillServiceLifecycle", dependencies: ["Waybill", .services]),
        .target(name: "WaybillMetrics", dependencies: ["WaybillCore", "Waybill", .metrics]),
        .target(name: "WaybillGRPC", dependencies: ["WaybillCore", "Waybill", .grpc]),
        .target(name: "WaybillHummingbird", dependencies: ["Waybill", .hummingbird, .httpTypes]),
        .target(
            name: "WaybillClickHouse",
            dependencies: [
                "WaybillCore", "WaybillStore", "WaybillReading", "WaybillAnalysis", "WaybillExport",
                .clickHouseClient, .clickHouseNIO, .clickHouseHTTP, .clickHouseTLS,
            ]),
        .target(
            name: "WaybillCollector",
            dependencies: [
                "WaybillCore", "WaybillReading", "WaybillAnalysis", "WaybillExport", "WaybillInspector",
                "WaybillLegacy", "WaybillSpans", "WaybillClickHouse", "CWaybillZlib",
                .hummingbird, .httpTypes, .logging, .nio, .serviceLifecycle,
            ]
        ),
        .executableTarget(
            name: "WaybillCommand",
            dependencies: [
                "WaybillCore", "WaybillReading", "Waybill", "WaybillAnalysis", "WaybillExport",
                "WaybillInspector", "WaybillLegacy", "WaybillClickHouse", "WaybillCollector", .hummingbird,
                .hummingbirdTLS, .argumentParser,
                .configuration, .logging, .nio, .nioSSL,
            ]
        ),

        // The demo: three processes and the program that runs them.
        .target(name: "LoginUseCase", dependencies: ["Waybill"], path: "Examples/Login/UseCase"),
        .executableTarget(
            name: "LoginClient", dependencies: ["Waybill", "LoginUseCase"], path: "Examples/Login/Client"),
        .executableTarget(
            name: "LoginServer",
            dependencies: ["Waybill", "WaybillHummingbird", "LoginUseCase", .hummingbird, .logging, .nio],
            path: "Examples/Login/Server"
        ),
        .executableTarget(
            name: "LoginDemo",
            // The programs that it runs are built with it.
            dependencies: [
                "WaybillCore", "WaybillStore", "WaybillReading", "LoginUseCase", "LoginClient", "LoginServer",
                "WaybillCommand",
            ],
            path: "Examples/Login/Demo"
        ),
        // The app's screens need SwiftUI, and are built by Xcode from Examples/LoginApp/project.yml.
        .target(name: "LoginAppModel", dependencies: ["Waybill"], path: "Examples/LoginApp/Model"),
        // The smallest use: one file, no traits.
        .executableTarget(
            name: "SyncNotes", dependencies: ["Waybill"], path: "Examples/CommandLineTool", exclude: ["README.md"]),
        // A checkout in an app with its server: three questions about 120 visits.
        .target(name: "CheckoutShop", dependencies: ["Waybill"], path: "Examples/Checkout/Shop"),
        .executableTarget(
            name: "CheckoutApp", dependencies: ["Waybill", "CheckoutShop"], path: "Examples/Checkout/App"),
        .executableTarget(
            name: "CheckoutServer",
            dependencies: ["Waybill", "WaybillHummingbird", "CheckoutShop", .hummingbird, .logging, .nio],
            path: "Examples/Checkout/Server"
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: library + [
                "WaybillTesting", "WaybillCollector", "WaybillTracing", "WaybillLogging", "TestSupport",
                "CWaybillSQLite",
                "AllocationCounter", .hummingbird, .logging, .nio, .tracing,
            ],
            path: "Benchmarks",
            exclude: ["AllocationCounter", "Peers", "Size", "ratios.json"]
        ),
        .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter"),
        // What is promised about facts, tried on processes that are killed: `make faults`.
        .executableTarget(
            name: "Faults",
            dependencies: library + ["TestSupport", "PowerLoss", "CWaybillSQLite", .argumentParser],
            path: "Tests/Faults"
        ),

        // What several test targets share: real servers and real child processes.
        .target(
            name: "TestSupport", dependencies: ["WaybillCore", "WaybillStore", "WaybillReading"],
            path: "Tests/TestSupport"),
        .target(name: "CRecordingDisk", dependencies: ["CWaybillSQLite"], path: "Tests/CRecordingDisk"),
        .target(
            name: "PowerLoss",
            dependencies: [
                "WaybillCore", "WaybillStore", "WaybillReading", "WaybillTesting", "CRecordingDisk", "TestSupport",
            ],
            path: "Tests/PowerLoss"),
        .executableTarget(name: "SampleReports", dependencies: library + ["TestSupport"], path: "Tests/SampleReports"),
        .executableTarget(
            name: "TestProcess", dependencies: library + ["TestSupport", "CWaybillSQLite", "CWaybillZlib"],
            path: "Tests/TestProcess"),
        // An app whose inspector has controls, to be tried in a browser.
        .executableTarget(
            name: "InspectedApp",
            dependencies: [
                "Waybill", "WaybillInspector", "WaybillCollector", "TestSupport", .hummingbird, .logging, .nio,
            ],
            path: "Tests/InspectedApp"),
        .testTarget(name: "WaybillCoreTests", dependencies: library + ["TestSupport"]),
        .testTarget(name: "WaybillReadingTests", dependencies: library + ["WaybillTesting", "TestSupport"]),
        .testTarget(name: "WaybillSpansTests", dependencies: library + ["WaybillTesting", "TestSupport"]),
        .testTarget(name: "WaybillAnalysisTests", dependencies: library + ["WaybillTesting", "TestSupport"]),
        .testTarget(name: "WaybillStoreTests", dependencies: library + ["WaybillTesting", "TestSupport", "PowerLoss"]),
        // What keeps a processor busy for long on one thread: brute force over many histories, power cuts at every
        // moment. A target of its own, so that it can be run by itself, and left out where a race is looked for.
        .testTarget(
            name: "WaybillStoreSlowTests",
            dependencies: library + ["WaybillTesting", "TestSupport", "PowerLoss", "WaybillStoreTests"]),
        .testTarget(
            name: "WaybillTests",
            dependencies: library + ["WaybillTesting", "TestSupport", "TestProcess", "CWaybillZlib"]),
        // Traffic of many megabytes or many exchanges, all on the one queue of URLSession.
        .testTarget(
            name: "WaybillSlowTests",
            dependencies: library + ["WaybillTesting", "TestSupport", "TestProcess", "WaybillTests"]),
        .testTarget(
            name: "WaybillExportTests", dependencies: library + ["WaybillTesting", "TestSupport", "TestProcess"]),
        .testTarget(name: "WaybillInspectorTests", dependencies: library + ["WaybillTesting", "TestSupport"]),
        .testTarget(name: "WaybillUITests", dependencies: library + ["TestSupport", "LoginAppModel"]),
        // Also a package of its own, which is run on an iPhone simulator; here, so that it compiles and runs without
        // one.
        .testTarget(
            name: "SimulatorTests", dependencies: ["Waybill", "WaybillTesting"],
            path: "Tests/Simulator/Tests/SimulatorTests"),
        .testTarget(
            name: "WaybillTracingTests",
            dependencies: [
                "WaybillCore", "WaybillReading", "Waybill", "WaybillTesting", "WaybillTracing", "WaybillHummingbird",
                "TestSupport", .hummingbird, .httpTypes, .tracing, .inMemoryTracing,
            ]
        ),
        .testTarget(
            name: "WaybillLoggingTests",
            dependencies: [
                "WaybillCore", "WaybillReading", "Waybill", "WaybillTesting", "WaybillLogging", .logHandling,
            ]
        ),
        .testTarget(
            name: "WaybillAsyncHTTPClientTests",
            dependencies: [
                "WaybillCore", "WaybillReading", "Waybill", "WaybillTesting", "WaybillAsyncHTTPClient",
                "WaybillTracing", "TestSupport", .asyncHTTPClient, .clientNIO, .clientHTTP, .tracing,
            ]
        ),
        // Servers among whose services a manager is, for signals to end.
        .executableTarget(
            name: "ServiceProcess",
            dependencies: ["Waybill", "WaybillServiceLifecycle", .services, .unixSignals, .serviceLogging],
            path: "Tests/ServiceProcess"),
        .testTarget(
            name: "WaybillServiceLifecycleTests",
            dependencies: [
                "WaybillCore", "WaybillReading", "Waybill", "WaybillServiceLifecycle", "WaybillTesting",
                "WaybillCommand", "TestSupport", "ServiceProcess",
            ]
        ),
        .testTarget(
            name: "WaybillMetricsTests",
            dependencies: [
                "WaybillCore", "Waybill", "WaybillTesting", "WaybillMetrics", "TestSupport", .metrics, .metricsTesting,
            ]),
        .testTarget(
            name: "WaybillGRPCTests",
            dependencies: [
                "WaybillCore", "WaybillReading", "Waybill", "WaybillTesting", "WaybillGRPC", "TestSupport", .grpc,
                .grpcInProcess,
            ]
        ),
        .testTarget(
            name: "WaybillHummingbirdTests",
            dependencies: [
                "WaybillCore", "Waybill", "WaybillTesting", "WaybillHummingbird", "TestSupport", .hummingbird,
                .httpTypes, .nio,
            ]
        ),
        .testTarget(
            name: "WaybillCollectorTests",
            dependencies: library + [
                "WaybillTesting", "WaybillCollector", "TestSupport", .hummingbird, .httpTypes, .logging, .nio,
            ]
        ),
        .testTarget(
            name: "WaybillClickHouseTests",
            dependencies: [
                "WaybillCore", "WaybillStore", "WaybillReading", "WaybillAnalysis", "WaybillExport",
                "WaybillTesting", "WaybillClickHouse", "TestSupport",
            ]),
        .testTarget(
            name: "WaybillCommandTests",
            dependencies: library + [
                "WaybillCollector", "WaybillCommand", "TestSupport", .argumentParser, .httpTypes, .nio, .nioEmbedded,
            ],
            exclude: ["Certificates"]
        ),
        // A collector with histories by the hundred, each answer of which is counted again.
        .testTarget(
            name: "WaybillCommandSlowTests",
            dependencies: [
                "WaybillTesting", "WaybillCollector", "WaybillCommand", "WaybillCollectorTests", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// One trait for each condition: tools of 6.2 read several as all of them, those of 6.3 as any.
extension Target.Dependency {
    static let tracing = product(
        name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"]))
    static let inMemoryTracing = product(
        name: "InMemoryTracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"]))
    static let logHandling = product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"]))
    static let asyncHTTPClient = product(
        name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["AsyncHTTPClient"]))
    static let clientNIO = product(
        name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"]))
    static let clientHTTP = product(
        name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"]))
    static let clientLogging = product(
        name: "Logging", package: "swift-log", condition: .when(traits: ["AsyncHTTPClient"]))
    static let clickHouseClient = product(
        name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["ClickHouse"]))
    static let clickHouseNIO = product(
        name: "NIOCore", package: "swift-nio", condition: .when(traits: ["ClickHouse"]))
    static let clickHouseTLS = product(
        name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["ClickHouse"]))
    static let clickHouseHTTP = product(
        name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["ClickHouse"]))
    static let services = product(
        name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"]))
    static let unixSignals = product(
        name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"]))
    static let serviceLogging = product(
        name: "Logging", package: "swift-log", condition: .when(traits: ["ServiceLifecycle"]))
    static let metrics = product(
        name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"]))
    static let metricsTesting = product(
        name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"]))
    static let grpc = product(name: "GRPCCore", package: "grpc-swift-2", condition: .when(traits: ["GRPC"]))
    static let grpcInProcess = product(
        name: "GRPCInProcessTransport", package: "grpc-swift-2", condition: .when(traits: ["GRPC"]))
    static let hummingbird = product(
        name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Hummingbird"]))
    static let httpTypes = product(
        name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Hummingbird"]))
    static let logging = product(name: "Logging", package: "swift-log", condition: .when(traits: ["Hummingbird"]))
    static let nio = product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Hummingbird"]))
    static let nioEmbedded = product(
        name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Collector"]))
    static let argumentParser = product(
        name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Collector"]))
    static let configuration = product(
        name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Collector"]))
    static let hummingbirdTLS = product(
        name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["TLS"]))
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLS"]))
    static let serviceLifecycle = product(
        name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Collector"]))
}

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

// Set by the thread sanitizer's run: `swift build --build-tests` builds every program and every test, and it needs
// these alone.
if let tests = Context.environment["WAYBILL_TESTS"]?.split(separator: ",") {
    package.products.removeAll { $0 is Product.Executable }
    package.targets.removeAll { target in
        switch target.type {
        case .test: !tests.contains { $0 == target.name }
        case .executable: target.name != "TestProcess"
        default: false
        }
    }
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
    target.swiftSettings = settings
}

#if os(Linux)
// A section for each function, and what other modules may call not marked as in use: so the linker leaves out what an
// app does not call, a fifth of all. Apple's linker tells functions apart by itself.
for target in package.targets where target.type == .regular {
    target.swiftSettings?.append(
        .unsafeFlags(
            ["-Xfrontend", "-function-sections", "-Xfrontend", "-internalize-at-link"],
            .when(configuration: .release)))
}
#endif
