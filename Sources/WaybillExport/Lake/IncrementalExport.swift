import Foundation
import WaybillCore
import WaybillQueries
import WaybillStore

/// Exports new facts of a store to a lake, as one increment.
///
/// The increment makes the fact files count. A run killed before it has no effect.
package struct IncrementalExport {
    /// Points at which a test may end the process.
    package enum Step: String, Sendable, CaseIterable { case begun, written, noted }

    package var format: TextFormat
    package var isCompressed: Bool
    /// The size of a file in bytes, which limits memory.
    package var longestFile = 32 << 20

    package init(as format: TextFormat, isCompressed: Bool = false) {
        self.format = format
        self.isCompressed = isCompressed
    }

    /// Returns `nil` if there are no new facts.
    ///
    /// - Throws: `.setting` if the lake can't be written, or another run was faster; `.format` for invalid content.
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

    private func last(in lake: some Lake) async throws -> Increment? {
        let numbers = try await lake.names(in: Increment.folder).compactMap(Increment.number(ofName:))
        guard let number = numbers.max() else { return nil }
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
        // An identical increment is from this run: it was stored, but the response was lost.
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
            // Each file has its own header.
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
        // An existing file has the same bytes, since its name is their hash.
        _ = try await lake.put(bytes, as: name)
        return Increment.File(name: name, bytes: Int64(bytes.count), facts: factCount == 0 ? nil : factCount)
    }
}

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

/// The files that one run adds to a lake, and the cursor after them. Names are unique, and only one of two concurrent
/// runs counts.
package struct Increment: Codable, Sendable, Hashable {
    /// The number, from 1, without gaps.
    package var number: Int
    /// The exported store's cursor after all facts in the files.
    package var cursor: String
    package var files: [File]

    package struct File: Codable, Sendable, Hashable {
        package var name: String
        package var bytes: Int64
        /// `nil` if unknown.
        package var facts: Int?
    }

    package init(number: Int, cursor: String, files: [File]) {
        self.number = number
        self.cursor = cursor
        self.files = files
    }

    static let folder = "increments"

    /// The name has a fixed number of digits, since buckets sort names as text.
    package var name: String { "\(Self.folder)/\(Self.digits(number)).json" }

    private static func digits(_ number: Int) -> String { String(format: "%09ld", number) }

    static func number(ofName name: String) -> Int? {
        guard name.hasSuffix(".json"), let number = Int(name.dropLast(".json".count)), number > 0,
            name == digits(number) + ".json"
        else { return nil }
        return number
    }

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

struct LakeVersion: Codable {
    static let name = "lake.json"
    static let current = 1

    var version = current

    /// Creates `lake.json`, and throws `.setting` if the lake replaces it. A store that ignores `If-None-Match` could
    /// duplicate facts.
    static func check(_ lake: some Lake) async throws {
        let json = Array(try JSONEncoder().encode(LakeVersion())) + [0x0A]
        // The second call must find the file.
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
