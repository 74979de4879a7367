import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillStore

/// Files and folders that control this process, in places where others may write.
@Suite(.timeLimit(.minutes(5))) struct TrustTests {
    private let outer: TemporaryDirectory
    private let folder: URL
    private let file: String

    init() throws {
        outer = try TemporaryDirectory()
        folder = outer.url.appending(path: "shared", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appending(path: "tokens").path(percentEncoded: false)
    }

    private func share(_ url: URL) { #expect(chmod(url.path, 0o1777) == 0) }

    private func code(_ body: () throws -> [UInt8]?) -> POSIXErrorCode? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? POSIXError)?.code }
    }

    @Test func aFileOfOurOwnIsReadAndAMissingOneIsNone() throws {
        #expect(try DurableFile.trustedBytes(of: file) == nil)
        let bytes = [UInt8](repeating: 7, count: 100_000)
        try Data(bytes).write(to: URL(filePath: file))
        for isShared in [false, true] {
            if isShared { share(folder) }
            #expect(try DurableFile.trustedBytes(of: file) == bytes)
        }
    }

    /// Breaks when a link or a second name makes a file trusted that was made for another purpose.
    @Test func linksAreFollowedOnlyWhereNobodyElseCanMakeThem() throws {
        let elsewhere = outer.file("elsewhere")
        try Data("x".utf8).write(to: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: elsewhere.path)
        #expect(try DurableFile.trustedBytes(of: file) == Array("x".utf8))
        share(folder)
        #expect(code { try DurableFile.trustedBytes(of: file) } == .ELOOP)
        unlink(file)
        #expect(link(elsewhere.path, file) == 0)
        #expect(code { try DurableFile.trustedBytes(of: file) } == .ELOOP)
        unlink(file)
        #expect(mkfifo(file, 0o600) == 0)
        #expect(code { try DurableFile.trustedBytes(of: file) } == .EPERM)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can make files of other users"))
    func filesOfOtherUsersAreNotTrustedWhereTheyCanMakeThem() throws {
        try Data("x".utf8).write(to: URL(filePath: file))
        #expect(chown(file, 65_534, 65_534) == 0)
        #expect(try DurableFile.trustedBytes(of: file) != nil)
        share(folder)
        #expect(code { try DurableFile.trustedBytes(of: file) } == .EPERM)
    }

    /// Breaks when a folder in `/tmp` that someone else made, or a link to one, is mistaken for ours, with the tokens
    /// in it.
    @Test(.enabled(if: geteuid() == 0, "only root can make files of other users"))
    func aFolderThatSomebodyElseCouldHaveMadeIsNotTrusted() throws {
        let inner = folder.appending(path: "collected", directoryHint: .isDirectory)
        #expect(DurableFile.reasonToDistrust(folder: inner) == nil, "There is none yet.")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        #expect(chown(inner.path, 65_534, 65_534) == 0)
        #expect(DurableFile.reasonToDistrust(folder: inner) == nil, "Nobody else can write to the folder around it.")
        share(folder)
        #expect(DurableFile.reasonToDistrust(folder: inner)?.contains("another user") == true)
        #expect(chown(inner.path, geteuid(), getegid()) == 0)
        #expect(DurableFile.reasonToDistrust(folder: inner) == nil)
        let link = folder.appending(path: "link", directoryHint: .isDirectory)
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: "link").path, withDestinationPath: inner.path)
        #expect(DurableFile.reasonToDistrust(folder: link)?.contains("link") == true)
        #expect(throws: WaybillError.self) { try StoreFolder.make(link) }
    }
}
