#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillStore

/// STORE on the command line: a folder, a single file, or a collector's URL.
enum StoreArgument: ExpressibleByArgument {
    case place(ResolvedLocation)
    case collector(URL)

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        if let url = URL(string: argument), ["http", "https"].contains(url.scheme?.lowercased()), url.host() != nil {
            self = .collector(url)
        } else {
            self = .place(ResolvedLocation(path: argument))
        }
    }

    static var defaultCompletionKind: CompletionKind { .file() }
}

/// The token for a collector, and how it is found.
struct TokenOptions: ParsableArguments {
    static let variable = "WAYBILL_TOKEN"

    @Option(help: ArgumentHelp("A file that holds the collector's token and nothing else.", valueName: "file"))
    var tokenFile: String?

    /// What the file says, else what the environment says; nil where neither does.
    func token(environment: [String: String] = ProcessInfo.processInfo.environment) throws(WaybillError) -> BearerToken? {
        if let tokenFile { return try BearerToken(contentsOf: URL(filePath: tokenFile)) }
        guard let text = environment[Self.variable], !text.isEmpty else { return nil }
        return try BearerToken(text)
    }
}

/// A store to look into.
struct StoreOptions: ParsableArguments {
    @Argument(help: "The folder of a store, a store in one file, or a collector's URL.")
    var store: StoreArgument

    @OptionGroup var tokens: TokenOptions

    /// Opens it.
    ///
    /// - Parameter isTold: Whether what a person should know about it first is said.
    func reader(isTold: Bool = true) async throws -> any TransactionReader {
        switch store {
        case .collector(let url): return CollectorClient(url, token: try tokens.token())
        case .place(let place):
            let queries = try StoreQueries(place, clock: CommandClock.current)
            if isTold { for warning in await queries.warnings() { Terminal.warn(warning) } }
            return queries
        }
    }
}
#endif
