#if Collector
import Foundation

/// The bytes of a dead process's journal, read by its layout and not with the code under test.
struct JournalBytes {
    enum Region: String, CaseIterable {
        /// The description of how to read the rest.
        case header
        /// Words of the header that change: how much was drained.
        case progress
        case segment
        case heading
        case body
        /// A stretch that was never written, although later bytes were.
        case torn
    }

    private let file: URL
    private var data: Data
    private let headerByteCount: Int
    /// The byte ranges of the records whose facts were reported as journaled. The facts of earlier records waited in
    /// memory for the journal.
    private var records: [Range<Int>] = []

    /// Reads the journal in a folder; `nil` if everything in it was drained.
    ///
    /// - Parameter count: How many facts were reported as journaled.
    init?(in folder: URL, journaled count: Int) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        guard let name = names.first(where: { $0.hasPrefix("journal-") }) else { return nil }
        file = folder.appending(path: name)
        data = try Data(contentsOf: file)
        guard data.count > 4_096 else { return nil }
        headerByteCount = Self.word(2, in: data) * 8
        var word = headerByteCount / 8 + 3
        while true {
            let count = Self.word(word, in: data) >> 8 & 0xFF_FFFF
            guard count > 0 else { break }
            records.append(word * 8..<(word + count) * 8)
            word += count
        }
        records = records.suffix(count)
        guard records.count > 10 else { return nil }
    }

    private static func word(_ index: Int, in data: Data) -> Int {
        data[(index * 8)..<(index * 8 + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Flips a bit, or tears a record.
    mutating func damage(_ region: Region, by chance: inout Chance) throws {
        let record = records[Int.random(in: 0..<records.count, using: &chance)]
        let bytes: Range<Int> =
            switch region {
            case .header: 0..<72
            case .progress: 72..<88
            case .segment: headerByteCount..<headerByteCount + 24
            case .heading: record.lowerBound..<record.lowerBound + 8
            case .body, .torn: record.lowerBound + 8..<record.upperBound
            }
        let byte = Int.random(in: bytes, using: &chance)
        if region == .torn {
            let torn = byte..<max(byte + 1, records[records.count - 2].lowerBound)
            data.replaceSubrange(torn, with: repeatElement(0, count: torn.count))
        } else {
            data[byte] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
        }
        let handle = try FileHandle(forWritingTo: file)
        try handle.write(contentsOf: data)
        try handle.close()
    }

    /// Whether it was set aside instead of being read.
    var wasSetAside: Bool {
        ["damaged", "newer"].contains { FileManager.default.fileExists(atPath: file.path() + ".\($0)") }
    }
}
#endif
