#if Collector
import ArgumentParser
import Foundation
import Waybill
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Import: AsyncParsableCommand {
    /// The suffix of files that `Delivery.files(in:)` writes.
    static let suffix = ".waybill-set.v\(TransactionSet.version).json"
    static let formerSuffix = ".waybill-set.json"

    static let configuration = CommandConfiguration(
        abstract: "Import sets from files.",
        discussion: """
            The files stay unchanged, and importing a file twice does no harm. If a file is not a set, or a fact is rejected, the command names it, \
            imports the others and exits with 1. It names the first ten rejected facts and counts the others.

            EXAMPLES
              waybill import ./outbox --to ./collected
              waybill import ./outbox/*\(suffix) --to http://127.0.0.1:8477
            """)

    @Argument(
        help: ArgumentHelp(
            "Files, and folders of files that end with \(suffix) or \(formerSuffix).", valueName: "files"))
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            "The folder of a store, created if it is missing, or the URL of a collector or a database.",
            valueName: "store")
    )
    var to: StoreArgument

    @OptionGroup var tokens: TokenOptions

    @Flag(help: "Print the counts as JSON.")
    var json = false

    func run() async throws {
        let tally = try await Progress.shown("importing") { try await add() }
        if json { try Terminal.write(json: tally) } else { try Terminal.write([tally.description]) }
        if tally.hasFailures { throw ExitCode.failure }
    }

    private func add() async throws -> Tally {
        // A wrong path must not leave an empty store.
        var add: ((_ body: [UInt8], TransactionSet) async throws -> Receipt)?
        var tally = Tally()
        for path in paths {
            let files = Self.files(at: path)
            if files.isEmpty {
                tally.fail("\(path): The folder holds no file that ends with \(Self.suffix) or \(Self.formerSuffix).")
            }
            for file in files {
                let body: [UInt8]
                let set: TransactionSet
                do {
                    body = try file.setBytes()
                    set = try TransactionSet.decode(body)
                } catch {
                    tally.fail("\(file.relativePath): \(error)")
                    continue
                }
                let target = if let add { add } else { try await self.target() }
                add = target
                do {
                    tally.count(try await target(body, set), of: file)
                } catch {
                    tally.fail("\(file.relativePath): \(error)")
                }
            }
        }
        tally.end()
        return tally
    }

    private func target() async throws -> (_ body: [UInt8], TransactionSet) async throws -> Receipt {
        switch to {
        case .collector(let url):
            let store = RemoteStore(url, token: try tokens.token())
            // Sent unchanged, because the collector decides which facts are invalid.
            return { body, set in
                try await store.send(OutgoingSet(id: set.id, body: body, factCount: set.sentFactCount))
            }
        case .place(let url): return Self.adding(to: try SQLiteStore(making: url, clock: CommandClock.current))
        case .database(let address): return Self.adding(to: try await Database(address).opened())
        }
    }

    private static func adding(
        to store: some RecordStore
    ) -> (_ body: [UInt8], TransactionSet) async throws -> Receipt {
        { _, set in
            try await store.add(
                ReceivedSet(
                    set: Redactor.command.redacted(set), atMicroseconds: CommandClock.current.wallMicroseconds()))
        }
    }

    /// The file, or the sets in a folder by name. It includes sets of later versions, to report them.
    private static func files(at path: String) -> [URL] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            return [URL(filePath: path)]
        }
        let folder = URL(filePath: path, directoryHint: .isDirectory)
        return names.filter { $0.contains(#/\.waybill-set(\.v[0-9]+)?\.json$/#) }.sorted().map {
            URL(filePath: $0, relativeTo: folder)
        }
    }
}

extension URL {
    /// The maximum bytes of a set: four times a collector's limit.
    private static let largestSet = 64 << 20

    /// - Throws: `.format` if the file is too large, `.notFound` if it can't be read. The caller adds the file's name.
    func setBytes() throws(WaybillError) -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            let file = try FileHandle(forReadingFrom: self)
            defer { try? file.close() }
            // Read in pieces, because a pipe has no size, and a file may grow.
            while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
                bytes += piece
                if bytes.count > Self.largestSet { break }
            }
        } catch {
            throw WaybillError(.notFound, "The file cannot be read.")
        }
        guard bytes.count <= Self.largestSet else {
            throw WaybillError(
                .format,
                "The file has more than \(Self.largestSet >> 20) MiB, and so holds no set. Name a file that `Delivery.files(in:)` wrote."
            )
        }
        return bytes
    }
}

private struct Tally: CustomStringConvertible, Encodable, Redactable {
    private(set) var hasFailures = false
    private var sets = 0
    private var accepted = 0
    private var known = 0
    private var rejected = 0
    /// Rejections, whether printed or only counted.
    private var tellableCount = 0

    /// Rejections that are printed one by one.
    private static let tellingLimit = 10

    private enum CodingKeys: String, CodingKey {
        case sets = "setCount", accepted = "acceptedCount", known = "knownCount", rejected = "rejectedCount"
        case hasFailures
    }

    func redact(by redactor: Redactor) {}

    mutating func count(_ receipt: Receipt, of file: URL) {
        if receipt.refusedNameCount > 0 {
            reject(
                "\(file.relativePath): \(Words.count(receipt.refusedNameCount, "name")) had no room: there are very many already."
            )
        }
        sets += 1
        accepted += receipt.acceptedCount
        known += receipt.knownCount
        rejected += receipt.rejections.count
        for rejection in receipt.rejections { reject("\(file.relativePath): \(Words.rejection(rejection))") }
        for refused in receipt.refusedSources {
            reject("\(file.relativePath): Nothing was taken of source \(refused.source): \(refused.reason).")
        }
    }

    private mutating func reject(_ sentence: @autoclosure () -> String) {
        hasFailures = true
        tellableCount += 1
        if tellableCount <= Self.tellingLimit { Terminal.warn(sentence()) }
    }

    func end() {
        let untold = tellableCount - Self.tellingLimit
        if untold > 0 { Terminal.warn("\(Words.count(untold, "more rejection")), not told one by one.") }
    }

    mutating func fail(_ sentence: String) {
        hasFailures = true
        Terminal.warn(sentence)
    }

    var description: String {
        "\(Words.count(sets, "set")) taken in: \(Words.count(accepted, "new fact")), \(known) known already, \(rejected) rejected."
    }
}
#endif
