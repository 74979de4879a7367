import Foundation
import Testing
import WaybillCore

/// Replays the distinct bodies that `make fuzz` found: no planted secret leaks from any, in whatever pieces.
@Suite(.timeLimit(.minutes(5))) struct BodyCorpusTests {
    static let folder = Schemas.folder.deletingLastPathComponent().appending(path: "Tests/Corpora/body")

    @Test func noPlantedSecretComesOutOfTheCorpus() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { !$0.hasPrefix(".") }
        #expect(!names.isEmpty)
        for name in names { try BodyBytes.check(Array(try Data(contentsOf: Self.folder.appending(path: name)))) }
    }
}
