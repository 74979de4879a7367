#if Collector
import ArgumentParser
import Foundation
import WaybillCore
import WaybillStore

/// `waybill import`: feeds sets that were written to files to a store or a collector.
struct Import: AsyncParsableCommand {
    /// What the files of sets end with.
    static let suffix = ".waybill-set.json"

    static let configuration = CommandConfiguration(
        abstract: "Take in sets that were written to files.",
        discussion: """
            The files are left where they are; to take one in twice does no harm. A file that is no set does not keep the others out:
            it is named at the end, and the exit code is 1.

            EXAMPLES
              waybill import ./outbox --to ./collected
              waybill import ./outbox/*\(suffix) --to http://127.0.0.1:8477
            """)

    @Argument(help: ArgumentHelp("Files, and folders of files that end with \(suffix).", valueName: "files"))
    var paths: [String]

    @Option(help: ArgumentHelp("The folder of a store, made where it is missing, or a collector's URL.", valueName: "store"))
    var to: StoreArgument

    @OptionGroup var tokens: TokenOptions

    func run() async throws {
        let receiver = try receiver()
        var counts = (sets: 0, accepted: 0, known: 0, rejected: 0)
        var hasFailed = false
        for path in paths {
            let files = try Self.files(at: path)
            if files.isEmpty {
                Terminal.warn("\(path) holds no file that ends with \(Self.suffix).")
                hasFailed = true
            }
            for file in files {
                do {
                    let receipt = try await take(file, into: receiver)
                    counts.sets += 1
                    counts.accepted += receipt.acceptedCount
                    counts.known += receipt.knownCount
                    counts.rejected += receipt.rejections.count
                    for rejection in receipt.rejections { Terminal.warn("\(file.relativePath): \(Words.rejection(rejection))") }
                } catch {
                    Terminal.warn("\(file.relativePath): \(error)")
                    hasFailed = true
                }
            }
        }
        let facts = "\(Words.count(counts.accepted, "new fact")), \(counts.known) known already, \(counts.rejected) rejected"
        Terminal.write(["\(Words.count(counts.sets, "set")) taken in: \(facts)"])
        if hasFailed || counts.rejected > 0 { throw ExitCode.failure }
    }

    private func receiver() throws -> any SetReceiver {
        switch to {
        case .place(.file(let url)) where !FileManager.default.fileExists(atPath: url.path) && url.pathExtension.isEmpty:
            try StoreSetReceiver(.folder(url))
        case .place(let place): try StoreSetReceiver(place)
        case .collector(let url): CollectorClient(url, token: try tokens.token())
        }
    }

    private func take(_ file: URL, into receiver: any SetReceiver) async throws -> Receipt {
        guard let body = try? [UInt8](Data(contentsOf: file)) else { throw WaybillError(.format, "The file cannot be read.") }
        return try await receiver.receive(TransactionSet.decode(body), body: body)
    }

    /// A file itself; of a folder, the sets in it by name.
    private static func files(at path: String) throws -> [URL] {
        let url = URL(filePath: path)
        guard (try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory) == true else { return [url] }
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }
        return names.sorted().map { url.appending(path: $0) }
    }
}
#endif
