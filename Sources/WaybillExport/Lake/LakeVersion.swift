import Foundation
import WaybillCore

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
