import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillStore

/// A file that appears only when complete, in a folder that others may be able to write to.
@Suite(.timeLimit(.minutes(5))) struct PartialFileTests {
    private let folder: TemporaryDirectory
    private let file: URL

    init() throws {
        folder = try TemporaryDirectory()
        file = folder.file("facts")
    }

    /// Breaks when the hidden name is predictable. A planted link would overwrite another file of this user, and a
    /// planted file would keep its owner and its mode.
    @Test func itsHiddenNameIsAnotherEachTime() throws {
        var names: Set<String> = []
        for _ in 0..<20 { names.insert(try PartialFile(file).hiddenName) }
        #expect(names.count == 20)
    }

    /// Breaks when a previously used hidden name is trusted.
    @Test func noLinkIsFollowed() throws {
        let precious = folder.file("precious")
        try Data("precious".utf8).write(to: precious)
        try FileManager.default.createSymbolicLink(at: folder.file(".facts.partial"), withDestinationURL: precious)
        let partial = try PartialFile(file)
        try partial.write([1, 2, 3])
        try partial.finish()
        #expect(try Data(contentsOf: precious) == Data("precious".utf8))
        var status = stat()
        #expect(lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try Data(contentsOf: file) == Data([1, 2, 3]))
    }

    /// Breaks when a file replaces a link or a pipe. As root, it would replace a device too.
    @Test(arguments: [true, false]) func whatIsNoFileIsNotReplaced(isLink: Bool) throws {
        if isLink {
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: folder.file("nowhere"))
        } else {
            try #require(mkfifo(file.path, 0o600) == 0)
        }
        let error = #expect(throws: WaybillError.self) { try PartialFile(file).finish() }
        #expect(error?.message == "\(file.path) is a link, a device or a pipe. Name a file to write.")
        var status = stat()
        #expect(lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == (isLink ? S_IFLNK : S_IFIFO))
        #expect(try folder.names() == ["facts"])
    }

    @Test func theSameFileIsWrittenByOneAtATime() throws {
        let first = try PartialFile(file)
        let error = #expect(throws: WaybillError.self) { try PartialFile(file) }
        #expect(error?.message.contains("being written by another process") == true)
        try first.finish()
        try PartialFile(file).finish()
        #expect(try folder.names() == ["facts"])
    }

    /// Breaks when killed processes leave more files each time, or when a file that belongs to another target is
    /// removed.
    @Test func whatAKilledProcessHasLeftIsRemovedAndNothingElse() throws {
        let others = [".facts.csv.1a.partial", ".facts.partial", ".facts.1a.partially", "facts.1a.partial"]
        for name in others + [".facts.1a.partial"] { try Data("left".utf8).write(to: folder.file(name)) }
        let work = folder.file(".facts.1a.partial.d")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: false)
        try Data("left".utf8).write(to: work.appending(path: "copy.sqlite"))
        try PartialFile(file).finish()
        #expect(try folder.names() == (others + ["facts"]).sorted())
    }

    /// Breaks when the work folder can be an existing one of another user, or stays.
    @Test func itsFolderIsNewAndGoesWithIt() throws {
        do {
            let partial = try PartialFile(file)
            let work = try partial.makeFolder()
            #expect(try FileManager.default.attributesOfItem(atPath: work.path)[.posixPermissions] as? Int == 0o700)
            #expect(throws: WaybillError.self) { try partial.makeFolder() }
            try Data("part".utf8).write(to: work.appending(path: "part"))
        }
        #expect(try folder.names().isEmpty)
    }

    /// Breaks when another user can block a file's writer with a file that looks like a leftover of this writer.
    @Test(.enabled(if: geteuid() == 0, "only root can make files of other users"))
    func whatSomebodyElseHasPutThereIsLeftAlone() throws {
        let planted = folder.file(".facts.1a.partial")
        try Data("planted".utf8).write(to: planted)
        try #require(chmod(folder.url.path, 0o1777) == 0 && chown(planted.path, 65_534, 65_534) == 0)
        let lock = open(planted.path, O_RDONLY)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        try PartialFile(file).finish()
        #expect(try folder.names() == [".facts.1a.partial", "facts"])
    }
}

/// Files with well-known names: locks, journals and marks.
@Suite(.timeLimit(.minutes(5))) struct OwnFileTests {
    /// The code paths that open or create such a file.
    enum Opener: CaseIterable {
        case lock, queue, journal, mark

        static let source = GUID(high: 1, low: 2)

        var name: String {
            switch self {
            case .lock: "waybill.sqlite-lock"
            case .queue: "waybill.sqlite-queue"
            case .journal: "journal-\(Self.source)"
            case .mark: "recording-on"
            }
        }

        func open(in folder: URL) throws {
            switch self {
            case .lock, .queue: _ = try FileLock(of: folder.appending(path: "waybill.sqlite").path)
            case .journal: _ = try LockedJournalFile(of: Self.source, in: folder)
            case .mark: try #require(RecordingMark(beside: .folder(folder))).set(isOn: true)
            }
        }
    }

    private let folder: TemporaryDirectory
    private let elsewhere: TemporaryDirectory

    init() throws {
        (folder, elsewhere) = (try TemporaryDirectory(), try TemporaryDirectory())
    }

    /// Breaks when a link in the folder causes a file at its other end to be created, locked or written.
    @Test(arguments: Opener.allCases) func aLinkIsRefused(opener: Opener) throws {
        let target = elsewhere.file("made")
        try FileManager.default.createSymbolicLink(at: folder.file(opener.name), withDestinationURL: target)
        #expect(throws: WaybillError.self) { try opener.open(in: folder.url) }
        #expect(try elsewhere.names().isEmpty)
    }

    /// The same for a hard link, which does not look like a link.
    @Test(arguments: [Opener.lock, .queue, .journal]) func aSecondNameOfAnotherFileIsRefused(opener: Opener) throws {
        let precious = folder.file("precious")
        try Data("precious".utf8).write(to: precious)
        try FileManager.default.linkItem(at: precious, to: folder.file(opener.name))
        #expect(throws: WaybillError.self) { try opener.open(in: folder.url) }
        #expect(try Data(contentsOf: precious) == Data("precious".utf8))
    }

    /// Breaks when opening a pipe waits endlessly for someone at its other end.
    @Test(arguments: Opener.allCases) func aPipeIsRefusedAtOnce(opener: Opener) throws {
        try #require(mkfifo(folder.file(opener.name).path, 0o600) == 0)
        #expect(throws: WaybillError.self) { try opener.open(in: folder.url) }
    }

    /// Breaks when another user can hold the store's lock forever, or write a journal that is mistaken for ours; or
    /// when a folder that nobody else can write to is not trusted, such as one that was copied with its owners.
    @Test(.enabled(if: geteuid() == 0, "only root can make files of other users"), arguments: Opener.allCases)
    func aFileOfSomebodyElseIsRefusedWhereOthersCanWrite(opener: Opener) throws {
        let planted = folder.file(opener.name)
        try Data().write(to: planted)
        try #require(chown(planted.path, 65_534, 65_534) == 0 && chmod(planted.path, 0o666) == 0)
        try #require(chmod(folder.url.path, 0o1777) == 0)
        #expect(throws: WaybillError.self) { try opener.open(in: folder.url) }
        try #require(chmod(folder.url.path, 0o755) == 0)
        try opener.open(in: folder.url)
    }

    /// Breaks when facts are recorded into a store that another user left in a shared folder.
    @Test(.enabled(if: geteuid() == 0, "only root can make files of other users"), arguments: ["", "-salvaged"])
    func aStoreOfSomebodyElseIsNotTakenOver(suffix: String) throws {
        let planted = folder.file("waybill.sqlite\(suffix)")
        do {
            let store = try Store(.folder(elsewhere.url))
            try store.checkpoint()
        }
        try FileManager.default.copyItem(at: elsewhere.file("waybill.sqlite"), to: planted)
        try #require(chown(planted.path, 65_534, 65_534) == 0 && chmod(planted.path, 0o666) == 0)
        try #require(chmod(folder.url.path, 0o1777) == 0)
        if suffix.isEmpty {
            let error = #expect(throws: WaybillError.self) { try Store(.folder(folder.url)) }
            #expect(error?.message.contains("belongs to another user") == true)
        } else {
            _ = try Store(.folder(folder.url))
            #expect(try folder.names().contains("waybill.sqlite-salvaged"), "It lies there still.")
        }
    }
}
