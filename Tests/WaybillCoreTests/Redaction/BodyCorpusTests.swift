import Foundation
import Testing
import WaybillCore

/// What `make fuzz` found to be different bodies: no planted secret comes out of any, however it is cut into pieces.
@Suite(.timeLimit(.minutes(5))) struct BodyCorpusTests {
    static let folder = Schemas.folder.deletingLastPathComponent().appending(path: "Tests/Corpora/body")

    @Test func noPlantedSecretComesOutOfTheCorpus() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).filter { !$0.hasPrefix(".") }
        #expect(!names.isEmpty)
        for name in names { try BodyBytes.check(Array(try Data(contentsOf: Self.folder.appending(path: name)))) }
    }
}
