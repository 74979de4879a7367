import Foundation
import WaybillCore
import WaybillQueries
import WaybillStore

/// Exports what is new in a store into a lake, as one more increment.
///
/// First the files of facts are put there, then, under the one name that follows the last increment's, what makes them
/// count. Killed before that, a run has done nothing; killed behind it, everything.
package struct IncrementalExport {
    /// Where a test may end the process.
    package enum Step: String, Sendable, CaseIterable { case begun, written, noted }

    package var format: TextFormat
    package var isCompressed: Bool
    /// Bytes after which another file begins: it is in memory until it is put there, and readers divide their work by
    /// files.
    package var longestFile = 32 << 20

    package init(as format: TextFormat, isCompressed: Bool = false) {
        self.format = format
        self.isCompressed = isCompressed
    }

    /// Exports.
    ///
    /// - Returns: nil where nothing is new: then nothing is added.
    /// - Throws: `.setting` where the lake cannot be written, or another run was faster; `.format` where what is there
    ///   cannot be understood.
    package func run(
        of store: some ExportingStore, into lake: some Lake, at step: (Step) -> Void = { _ in }
    ) async throws -> Increment? {
        try await LakeVersion.check(lake)
        let last = try await last(in: lake)
        step(.begun)
        let stream = try await store.export(.after(last?.cursor ?? ExportCursor().description), as: format)
        let files = try await write(stream, into: lake)
        guard !files.isEmpty else { return nil }
        step(.written)
        let increment = Increment(number: (last?.number ?? 0) + 1, cursor: stream.cursor, files: files)
        try await put(increment, into: lake)
        step(.noted)
        return increment
    }

    /// The increment to go on from; nil for none.
    private func last(in lake: some Lake) async throws -> Increment? {
        let numbers = try await lake.names(in: Increment.folder).compactMap(Increment.number(ofName:))
        guard let number = numbers.max() else {
            guard let earlier = try await lake.earlier() else { return nil }
            try await put(earlier, into: lake)
            try await lake.endEarlier()
            return earlier
        }
        // Again, for a run that was killed before it came to that.
        try await lake.endEarlier()
        let name = Increment(number: number, cursor: "", files: []).name
        let place = lake.place(of: name)
        guard let json = try await lake.bytes(of: name) else {
            throw WaybillError(.notFound, "\(place) was there, and is gone. Try again.")
        }
        let last = try Increment(json: json, at: place)
        guard last.number == number else {
            throw WaybillError(.format, "\(place) says that it is number \(last.number). Give it its own name again.")
        }
        return last
    }

    private func put(_ increment: Increment, into lake: some Lake) async throws {
        // What is there already is this one where it came there and the answer was lost.
        guard try await !lake.put(increment.json, as: increment.name),
            try await lake.bytes(of: increment.name) != increment.json
        else { return }
        throw WaybillError(
            .setting,
            "Another run was exporting into \(lake.place(of: increment.name)) and was faster. Try again: of this one nothing counts."
        )
    }

    private func write(_ stream: ExportStream, into lake: some Lake) async throws -> [Increment.File] {
        var (files, file, isFirst) = ([Increment.File](), try FactsFile(format, isCompressed), true)
        while var piece = try await stream.next() {
            // Each file has a header of its own.
            if isFirst { piece.bytes.removeFirst(piece.bytes.starts(with: format.header) ? format.header.count : 0) }
            isFirst = false
            file.add(piece)
            guard file.byteCount >= longestFile else { continue }
            files.append(try await put(&file, into: lake))
            file = try FactsFile(format, isCompressed)
        }
        if file.hasFacts { files.append(try await put(&file, into: lake)) }
        return files
    }

    private func put(_ file: inout FactsFile, into lake: some Lake) async throws -> Increment.File {
        let (bytes, factCount) = file.finish()
        let name = "facts/\(SHA256.hex(bytes)).\(format.suffix)\(isCompressed ? ".gz" : "")"
        // Of these very bytes where it is there already: a run that was killed has left it.
        _ = try await lake.put(bytes, as: name)
        return Increment.File(name: name, bytes: Int64(bytes.count), facts: factCount == 0 ? nil : factCount)
    }
}

/// One file of facts as it grows in memory.
private struct FactsFile {
    private(set) var hasFacts = false
    private var bytes: [UInt8]
    private var factCount = 0
    private let gzip: Gzip?

    init(_ format: TextFormat, _ isCompressed: Bool) throws(WaybillError) {
        gzip = isCompressed ? try Gzip() : nil
        bytes = gzip?.compress(format.header) ?? format.header
    }

    var byteCount: Int { bytes.count }

    mutating func add(_ piece: ExportStream.Piece) {
        guard !piece.bytes.isEmpty else { return }
        hasFacts = true
        factCount += piece.factCount
        bytes += gzip?.compress(piece.bytes) ?? piece.bytes
    }

    mutating func finish() -> (bytes: [UInt8], factCount: Int) {
        if let gzip { bytes += gzip.finish() }
        return (bytes, factCount)
    }
}

/// What one run adds to a lake: the files that count, and the cursor behind them.
///
/// Its name is its number alone, and it is put once: so of two runs that go on from the same cursor one counts, whatever
/// has come in between.
package struct Increment: Codable, Sendable, Hashable {
    /// From 1, without gaps.
    package var number: Int
    /// Behind all facts in its files, as the exported store names it.
    package var cursor: String
    package var files: [File]

    /// A file of facts.
    package struct File: Codable, Sendable, Hashable {
        /// In the lake.
        package var name: String
        /// Its length in bytes.
        package var bytes: Int64
        /// How many are in it; nil where that was not told.
        package var facts: Int?
    }

    package init(number: Int, cursor: String, files: [File]) {
        self.number = number
        self.cursor = cursor
        self.files = files
    }

    static let folder = "increments"

    /// In the lake. Of always as many digits, since a bucket lists names in the order of their characters.
    package var name: String { "\(Self.folder)/\(Self.digits(number)).json" }

    private static func digits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 9 - digits.count)) + digits
    }

    /// The number that a name tells; nil where it is no increment's.
    static func number(ofName name: String) -> Int? {
        guard name.hasSuffix(".json"), let number = Int(name.dropLast(".json".count)), number > 0,
            name == digits(number) + ".json"
        else { return nil }
        return number
    }

    /// The same bytes for the same increment.
    var json: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array((try? encoder.encode(self)) ?? Data()) + [0x0A]
    }

    init(json: [UInt8], at place: String) throws(WaybillError) {
        do { self = try JSONDecoder().decode(Increment.self, from: Data(json)) } catch {
            throw WaybillError(
                .format,
                "\(place) cannot be read, so it is not known what was exported. Export into an empty folder.")
        }
    }
}

/// `lake.json`: by what rules the rest is to be read.
struct LakeVersion: Codable {
    static let name = "lake.json"
    static let current = 1

    var version = current

    /// Puts it there where it is missing, and makes sure that the lake keeps what it has: a store that ignores
    /// `If-None-Match` would replace it, and a run that goes on late would double facts.
    ///
    /// - Throws: `.setting` for a lake that replaces, `.format` for one of another version.
    static func check(_ lake: some Lake) async throws {
        let json = Array(try JSONEncoder().encode(LakeVersion())) + [0x0A]
        // The second time it is there.
        if try await lake.put(json, as: name), try await lake.put(json, as: name) {
            throw WaybillError(
                .setting,
                "\(lake.place(of: name)) was replaced, though it was to be put there only once: the store ignores If-None-Match, and facts could be doubled. Export into another one."
            )
        }
        guard let found = try await lake.bytes(of: name),
            (try? JSONDecoder().decode(LakeVersion.self, from: Data(found)))?.version == current
        else {
            throw WaybillError(
                .format,
                "\(lake.place(of: name)) does not say that this is a lake of version \(current). Export with the version that made it, or into an empty folder."
            )
        }
    }
}
