import Foundation
import Testing
import WaybillCore

/// Replays the distinct sets that `make fuzz` found: each is read or refused, and a set that was read is the same after
/// it is written and read again.
@Suite(.timeLimit(.minutes(5))) struct SetCorpusTests {
    static let folder = Schemas.folder.deletingLastPathComponent().appending(path: "Tests/Corpora/set")

    @Test func everySetOfTheCorpusIsReadOrRefused() throws {
        var readable = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path) where !name.hasPrefix(".") {
            if try SetBytes.check(Array(try Data(contentsOf: Self.folder.appending(path: name)))) { readable += 1 }
        }
        #expect(readable > 0)
    }
}
