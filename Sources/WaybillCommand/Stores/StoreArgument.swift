#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

#if ClickHouse
import WaybillClickHouse
#endif

/// STORE on the command line: a folder, a file, a collector's URL, or a database's address.
enum StoreArgument: ExpressibleByArgument {
    case place(URL)
    case collector(URL)
    /// The text as given. Opening the database reports its mistakes.
    case database(String)

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        if let url = URL(string: argument), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil {
            self = .collector(url)
        } else if argument.lowercased().hasPrefix("clickhouse:") {
            self = .database(argument)
        } else {
            self = .place(URL(filePath: argument))
        }
    }

    /// An empty path would be the current folder.
    static func path(_ text: String) throws -> String {
        guard !text.isEmpty else { throw ValidationError("Name a file or a folder; . is the current folder.") }
        return text
    }

    static var defaultCompletionKind: CompletionKind { .file() }
}

extension URL {
    var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path(percentEncoded: false), isDirectory: &isFolder)
            && isFolder.boolValue
    }
}

struct TokenOptions: ParsableArguments {
    static let variable = "WAYBILL_TOKEN"

    @Option(help: ArgumentHelp("A file that contains only the collector's token.", valueName: "file"))
    var tokenFile: String?

    func token(environment: [String: String] = ProcessInfo.processInfo.environment) throws(WaybillError) -> BearerToken?
    {
        if let tokenFile { return try BearerToken(contentsOf: URL(filePath: tokenFile)) }
        guard let text = environment[Self.variable], !text.isEmpty else { return nil }
        return try BearerToken(text)
    }
}

struct StoreOptions: ParsableArguments {
    @Argument(help: "The folder of a store, a store in one file, or the URL of a collector or a database.")
    var store: StoreArgument

    @OptionGroup var tokens: TokenOptions

    func opened(isTold: Bool = true) async throws -> any ExportingStore {
        switch store {
        case .collector(let url): return RemoteStore(url, token: try tokens.token())
        case .database(let address): return try await Database(address).opened()
        case .place(let url): return try await SQLiteStore.opened(url, isTold: isTold)
        }
    }
}

extension SQLiteStore {
    static func opened(_ url: URL, isTold: Bool = true) async throws(WaybillError) -> SQLiteStore {
        storeJournals(in: url, isTold: isTold)
        var store = try SQLiteStore(url, clock: CommandClock.current)
        store.redactor = .command
        if isTold { for warning in await store.warnings() { Terminal.warn(warning) } }
        return store
    }

    /// Only warns, because reading needs no permission to write.
    static func storeJournals(in url: URL, isTold: Bool = true) {
        do throws(WaybillError) { try recoverJournals(in: url, clock: CommandClock.current) } catch {
            if isTold { Terminal.warn("What short programs recorded is not shown: \(error)") }
        }
    }
}

struct Database {
    #if ClickHouse
    let address: ClickHouseAddress

    init(_ text: String) throws(WaybillError) { address = try ClickHouseAddress(text) }

    func opened() async throws(WaybillError) -> ClickHouseStore {
        var store = try await ClickHouseStore(address, clock: CommandClock.current)
        store.redactor = .command
        return store
    }

    /// Returns the number of facts written.
    func take(from store: SQLiteStore, progress: @escaping @Sendable (Int64, Int64) -> Void) async throws -> Int64 {
        try await opened().take(from: store, progress: progress)
    }

    func collector(tokens folder: URL, access: Access, limits: CollectorLimits) async throws(WaybillError) -> Collector
    {
        try await Collector(database: address, tokens: folder, access: access, limits: limits)
    }

    func migrate(isTried: Bool) async throws(WaybillError) -> [String] {
        try await ClickHouseStore.migrate(address, isTried: isTried)
    }
    #else
    init(_ text: String) throws(WaybillError) {
        throw WaybillError(
            .setting, "This waybill was built without ClickHouse: build it with the traits Collector and ClickHouse.")
    }

    func opened() async throws(WaybillError) -> SQLiteStore { throw Self.missing }

    func collector(tokens folder: URL, access: Access, limits: CollectorLimits) async throws(WaybillError) -> Collector
    {
        throw Self.missing
    }

    func take(from store: SQLiteStore, progress: @escaping @Sendable (Int64, Int64) -> Void) async throws -> Int64 {
        throw Self.missing
    }

    func migrate(isTried: Bool) async throws(WaybillError) -> [String] { throw Self.missing }

    private static let missing = WaybillError(.setting, "This waybill was built without ClickHouse.")
    #endif
}

extension SpanRelay {
    mutating func follow() async throws {
        while true {
            do {
                let receipt = try await round(ListRequest())
                if receipt != SpanReceipt() { Terminal.warn(receipt.sentence) }
                try await Task.sleep(for: .seconds(1))
            } catch let error as WaybillError {
                Terminal.warn("\(error)")
                try await Task.sleep(for: TraceBackend.longestWait)
            }
        }
    }
}
#endif
