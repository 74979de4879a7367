import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct FileTransportTests {
    private let directory: TemporaryDirectory
    private let id = GUID("01890a5d-ac96-774b-bcce-b302099a8057")

    init() throws { directory = try TemporaryDirectory() }

    private func set(_ body: String = "{\"a\":1}") throws -> OutgoingSet {
        OutgoingSet(id: try #require(id), body: Array(body.utf8), factCount: 7)
    }

    @Test func aSetBecomesOneFileNamedByItsTimeAndID() async throws {
        _ = try await FileTransport(folder: directory.url).send(set())
        let name = "20230630T033418Z-01890a5d-ac96-774b-bcce-b302099a8057.waybill-set.v1.json"
        #expect(try directory.names() == [name])
        #expect(try Data(contentsOf: directory.file(name)) == Data("{\"a\":1}".utf8))
    }

    @Test func everythingIsAccepted() async throws {
        let receipt = try await FileTransport(folder: directory.url).send(set())
        #expect(receipt == Receipt(set: try #require(id), acceptedCount: 7))
    }

    @Test func onlyTheOwnerMayReadAFile() async throws {
        _ = try await FileTransport(folder: directory.url).send(set())
        let path = directory.file(try #require(try directory.names().first)).path
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
    }

    @Test func theSameSetAgainReplacesItsFile() async throws {
        let transport = FileTransport(folder: directory.url)
        _ = try await transport.send(set("first"))
        _ = try await transport.send(set("second"))
        let names = try directory.names()
        #expect(names.count == 1)
        #expect(try Data(contentsOf: directory.file(try #require(names.first))) == Data("second".utf8))
    }

    @Test func aSetOfSeveralMegabytesIsWrittenWhole() async throws {
        let body = String(repeating: "0123456789", count: 500_000)
        _ = try await FileTransport(folder: directory.url).send(set(body))
        #expect(try Data(contentsOf: directory.file(try #require(try directory.names().first))) == Data(body.utf8))
    }

    @Test func aMissingFolderIsMadeForTheOwnerAlone() async throws {
        let folder = directory.file("a").appending(path: "b", directoryHint: .isDirectory)
        _ = try await FileTransport(folder: folder).send(set())
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
        let permissions = try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int
        #expect(permissions == 0o700)
    }

    @Test func whatADeadProcessLeftHalfWrittenIsWrittenOver() async throws {
        let transport = FileTransport(folder: directory.url)
        _ = try await transport.send(set())
        let name = try #require(try directory.names().first)
        try FileManager.default.removeItem(at: directory.file(name))
        try Data("half of i".utf8).write(to: directory.file(".\(name).1a.partial"))
        _ = try await transport.send(set())
        #expect(try directory.names() == [name])
    }

    @Test func aFolderThatIsAFileIsAnErrorThatNamesIt() async throws {
        let file = directory.file("occupied")
        try Data("mine".utf8).write(to: file)
        let set = try set()
        let error = await #expect(throws: WaybillError.self) { try await FileTransport(folder: file).send(set) }
        #expect(error?.code == .transport)
        #expect(error?.message.contains(file.path) == true)
        #expect(error?.cause == "Not a directory")
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test func whereTheRenameFailsNoTemporaryFileIsLeft() async throws {
        let transport = FileTransport(folder: directory.url)
        let set = try set()
        _ = try await transport.send(set)
        let name = try #require(try directory.names().first)
        // A folder has the file's name, so the rename fails for every user.
        try FileManager.default.removeItem(at: directory.file(name))
        try FileManager.default.createDirectory(at: directory.file(name), withIntermediateDirectories: false)
        await #expect(throws: WaybillError.self) { try await transport.send(set) }
        #expect(try directory.names() == [name])
    }
}
