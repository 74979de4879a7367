#if Collector
import ArgumentParser
import Foundation
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// STORE on the command line: a folder, a single file, a collector's URL, or a database's address.
enum StoreArgument: ExpressibleByArgument {
    case place(URL)
    case collector(URL)
    /// As it was given: what is wrong with it is said when it is opened.
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

    static var defaultCompletionKind: CompletionKind { .file() }
}

extension URL {
    /// Whether a folder is there.
    var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path(percentEncoded: false), isDirectory: &isFolder)
            && isFolder.boolValue
    }
}

/// The token for a collector, and how it is found.
struct TokenOptions: ParsableArguments {
    static let variable = "WAYBILL_TOKEN"

    @Option(help: ArgumentHelp("A file that holds the collector's token and nothing else.", valueName: "file"))
    var tokenFile: String?

    /// What the file says, else what the environment says; nil where neither does.
    func token(environment: [String: String] = ProcessInfo.processInfo.environment) throws(WaybillError) -> BearerToken?
    {
        if let tokenFile { return try BearerToken(contentsOf: URL(filePath: tokenFile)) }
        guard let text = environment[Self.variable], !text.isEmpty else { return nil }
        return try BearerToken(text)
    }
}

/// A store to look into.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The folder of a store, a store in one file, a collector's URL, or a database's.")
    var store: StoreArgument

    @OptionGroup var tokens: TokenOptions

    /// Opens it.
    ///
    /// - Parameter isTold: Whether what a person should know about it first is said.
    func opened(isTold: Bool = true) async throws -> any AnsweringStore & ExportingStore {
        switch store {
        case .collector(let url): return CollectorStore(url, token: try tokens.token())
        case .database(let address): return try await Database(address).opened()
        case .place(let url):
            var store = try SQLiteStore(url, clock: CommandClock.current)
            store.redactor = .command
            if isTold { for warning in await store.warnings() { Terminal.warn(warning) } }
            return store
        }
    }
}
#endif
