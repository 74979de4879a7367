import Foundation
import WaybillCore

/// A transaction set written with `Codable` and nothing else: the same JSON, member by member.
// swift-format-ignore: AlwaysUseLowerCamelCase
struct CodableSet: Codable {
    var set: GUID
    var sources: [Share]

    var factCount: Int { sources.reduce(0) { $0 + $1.facts.count } }

    /// Copies the content, and checks the copy: the JSON that `JSONEncoder` makes of it must read as the original set.
    init(sameAs set: TransactionSet) throws {
        self = try JSONDecoder().decode(CodableSet.self, from: Data(set.encoded()))
        let back = try TransactionSet.decode([UInt8](JSONEncoder().encode(self)))
        guard back == set else { throw ContentsDiffer() }
    }

    struct ContentsDiffer: Error {}

    struct Share: Codable {
        var source: GUID
        var installation: GUID?
        var app: String?
        var app_version: String?
        var device: String?
        var os: String?
        var os_version: String?
        var attributes: Attributes?
        var ended: Bool?
        var clocks: [Clock]
        var names: [Name]?
        var ledger: Ledger
        var facts: [Fact]
    }

    struct Clock: Codable {
        var at_us: Int64
        var offset_us: Int
    }

    struct Name: Codable {
        var use_case: Int
        var event: Int?
        var name: String
    }

    struct Ledger: Codable {
        var recorded: Int64
        var delivered: Int64
        var quarantined: Int64
        var dropped: [String: Int64]?
        var pending: Int64
        var refused: Int64
    }

    /// All kinds in one type, as in the schema. The members of other kinds are `nil`.
    struct Fact: Codable {
        var kind: String
        var sequence: Int64
        var part: Int64
        var at_us: Int64
        var transaction: GUID?
        var use_case: Int?
        var timeout_us: Int64?
        var event: Int?
        var outcome: String?
        var role: String?
        var method: String?
        var scheme: String?
        var host: String?
        var port: Int?
        var path: String?
        var query: String?
        var exchange: Int64?
        var state: String?
        var status: Int?
        var first_byte_us: Int64?
        var sent_bytes: Int64?
        var received_bytes: Int64?
        var headers: [[String]]?
        var error: RecordedError?
        var attributes: Attributes?
    }
}
