import CWaybillSQLite
import CWaybillZlib
import Foundation

/// Searches a store's folder for secrets, like somebody who has found the device: in the bytes of each file, in each
/// value of each table, and inside compressed values.
///
/// It does not use the library, whose idea of the stored data may be wrong.
struct SecretHunt {
    private struct Needle {
        var name: String
        var form: String
        var bytes: Data
    }

    private let store: URL
    /// The needles by their first eight bytes, because there are a thousand of them and megabytes to search.
    private let byStart: [UInt64: [Needle]]

    /// - Parameter folder: Contains the folder `store` and the file `secrets`, which has a line for each secret: its
    ///   name, a tab, and its value.
    init(_ folder: URL) throws {
        store = folder.appending(path: "store")
        let lines = try String(contentsOf: folder.appending(path: "secrets"), encoding: .utf8).split(separator: "\n")
        let needles = lines.flatMap { line in
            let parts = line.split(separator: "\t").map(String.init)
            return Self.needles(for: parts[1], named: parts[0])
        }
        byStart = Dictionary(grouping: needles) { needle in
            needle.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        }
    }

    /// Returns a line for each secret that was found: its name, its form and its place.
    func run() throws -> [String] {
        var found: Set<String> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: store.path()) {
            look(in: try Data(contentsOf: store.appending(path: name)), at: name, into: &found)
        }
        try forEachValue { value, place in
            look(in: value, at: place, into: &found)
            if let inflated = Self.inflated(value) { look(in: inflated, at: "\(place) inflated", into: &found) }
        }
        return found.sorted()
    }

    private func look(in haystack: Data, at place: String, into found: inout Set<String>) {
        haystack.withUnsafeBytes { haystack in
            for offset in stride(from: 0, through: haystack.count - 8, by: 1) {
                let start = haystack.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                guard start != 0, let candidates = byStart[start] else { continue }
                for needle in candidates where haystack[offset...].starts(with: needle.bytes) {
                    found.insert("\(needle.name)\t\(needle.form)\t\(place)")
                }
            }
        }
    }

    // MARK: Forms

    private static func needles(for secret: String, named name: String) -> [Needle] {
        let bytes = Array(secret.utf8)
        func hex(_ byte: UInt8, _ isUpper: Bool) -> String {
            let digits = String(byte, radix: 16, uppercase: isUpper)
            return digits.count == 1 ? "0" + digits : digits
        }
        var texts = [("plain", secret), ("beginning", String(secret.prefix(10))), ("end", String(secret.suffix(10)))]
        for isUpper in [true, false] {
            texts.append(("percent", bytes.map { "%" + hex($0, isUpper) }.joined()))
            texts.append(("\\u", bytes.map { "\\u00" + hex($0, isUpper) }.joined()))
        }
        for shift in 0..<3 {
            // The part that does not depend on the bytes before and after.
            let whole = Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString()
            let own = String(whole.prefix((shift + bytes.count) * 8 / 6).dropFirst((shift * 8 + 5) / 6))
            texts.append(("base64", own))
            texts.append(("base64", own.replacing("+", with: "-").replacing("/", with: "_")))
        }
        return texts.map { Needle(name: name, form: $0.0, bytes: Data($0.1.utf8)) }
    }

    // MARK: Values

    private func forEachValue(_ body: (Data, String) -> Void) throws {
        var database: OpaquePointer?
        guard
            sqlite3_open_v2(store.appending(path: "waybill.sqlite").path(), &database, SQLITE_OPEN_READONLY, nil)
                == SQLITE_OK
        else {
            throw CocoaError(.fileReadUnknown)
        }
        defer { sqlite3_close(database) }
        var tables: [String] = []
        try forEachRow(of: "SELECT name FROM sqlite_schema WHERE type = 'table'", in: database) { row in
            tables.append(String(cString: sqlite3_column_text(row, 0)))
        }
        for table in tables {
            try forEachRow(of: "SELECT * FROM \(table)", in: database) { row in
                for column in 0..<sqlite3_column_count(row) {
                    guard let bytes = sqlite3_column_blob(row, column) else { continue }
                    let name = String(cString: sqlite3_column_name(row, column))
                    body(Data(bytes: bytes, count: Int(sqlite3_column_bytes(row, column))), "\(table).\(name)")
                }
            }
        }
    }

    private func forEachRow(of sql: String, in database: OpaquePointer?, _ body: (OpaquePointer?) -> Void) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
            throw CocoaError(.fileReadCorruptFile)
        }
        defer { sqlite3_finalize(statement) }
        while sqlite3_step(statement) == SQLITE_ROW { body(statement) }
    }

    /// Returns the inflated value; `nil` if the value is not compressed.
    private static func inflated(_ value: Data) -> Data? {
        guard value.first == 0x78, value.count > 4 else { return nil }
        var count = UInt(1 << 20)
        var result = [UInt8](repeating: 0, count: Int(count))
        guard uncompress(&result, &count, Array(value), UInt(value.count)) == Z_OK else { return nil }
        return Data(result[..<Int(count)])
    }
}
