import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillStore

/// What is recorded is for nobody but the user it was recorded for.
@Suite(.timeLimit(.minutes(5))) struct FileModeTests {
    private func mode(_ url: URL) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Breaks when a mode is left to the umask, which an app may have set to 0: then everybody on the machine can read
    /// the journal.
    @Test func everyFileIsItsOwnersWhateverTheUmaskSays() async throws {
        let folder = try TemporaryDirectory()
        let usual = umask(0)
        defer { umask(usual) }
        let place = folder.file("state").appending(path: "app")
        let writer = SourceWriter(
            source: RecordedSource(id: GUID()), place: .folder(place), clock: SystemClock(), capacity: 1_000)
        _ = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        try await writer.sync()
        #expect(try await writer.read { try $0.connection.integer("SELECT count(*) FROM parts") } == 1)
        #expect(try mode(place) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
        for name in ["", "-wal", "-shm", "-lock", "-queue"].map({ "waybill.sqlite" + $0 }) {
            #expect(names.contains(name))
        }
        #expect(names.contains { $0.hasPrefix("journal-") })
        for name in names { #expect(try mode(place.appending(path: name)) == 0o600, "\(name)") }
    }
}
