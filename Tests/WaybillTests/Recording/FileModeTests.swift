import Foundation
import TestSupport
import Testing

/// Recorded data is only readable by its user.
@Suite(.timeLimit(.minutes(5))) struct FileModeTests {
    private func mode(_ url: URL) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Breaks when a mode is left to the umask, which an app may have set to 0: then everybody on the machine can read
    /// the journal. The test uses a separate process, because the umask also applies to the files of other tests.
    @Test func everyFileIsItsOwnersWhateverTheUmaskSays() throws {
        let folder = try TemporaryDirectory()
        let place = folder.file("state").appending(path: "app")
        let child = try ChildProcess("TestProcess", ["live", place.path()])
        _ = try #require(child.line(), "It has stored a transaction.")
        #expect(try mode(place) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        for name in ["", "-wal", "-shm", "-lock", "-queue"].map({ "waybill.sqlite" + $0 }) {
            #expect(names.contains(name))
        }
        #expect(names.contains { $0.hasPrefix("journal-") })
        try child.stop()
        for name in try FileManager.default.contentsOfDirectory(atPath: place.path) {
            #expect(try mode(place.appending(path: name)) == 0o600, "\(name)")
        }
        child.kill()
    }
}
