import Foundation
import WaybillCore

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
