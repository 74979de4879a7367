#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct BackupTests {
    private let folder: TemporaryDirectory
    private let copies: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        copies = try TemporaryDirectory()
    }

    private func mode(_ url: URL) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test func whatAShortProgramRecordedIsCopied() async throws {
        let (place, copy) = (folder.file("short").path, copies.file("copy").path)
        #expect(try ChildProcess("TestProcess", ["short-end", place]).finish().status == 0)
        let backup = try await Command.waybill("backup", place, copy)
        #expect(backup.text.hasPrefix("waybill.sqlite: 5 facts, "), "\(backup)")
        #expect(try await Command.waybill("list", copy).output.contains("succeeded"))
    }

    /// Breaks when the backup lacks a project or acknowledged data, or the copy knows less than the collector.
    @Test func aCollectorThatRunsIsCopiedWithAllProjectsAndTheCopyCanBeServed() async throws {
        let token = try await folder.addToken("read")
        try folder.makeStore(of: login.clientSet(), login.serverSet())
        let shop = try Store(.file(folder.file("shop.sqlite")))
        _ = try shop.ingest(LoginHistory().serverSet(), receivedAt: LoginHistory.begun)
        let serve = try await ServeProcess.start(folder, asksForToken: true)
        let copy = copies.file("copy")

        let backup = try await Command.waybill("backup", folder.url.path, copy.path)
        #expect(backup.status == 0 && backup.errors.isEmpty)
        #expect(backup.output.contains("shop.sqlite: 3 facts, ") && backup.output.contains("waybill.sqlite: 9 facts, "))
        let json = try await Command.waybill("backup", folder.url.path, copies.file("second").path, "--json")
        #expect(json.output.contains("\"fact_count\" : 3") && json.output.contains("\"name\" : \"shop.sqlite\""))
        try FileManager.default.removeItem(at: copies.file("second"))
        serve.process.kill()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: copy.path).sorted() == [
                "shop.sqlite", "tokens", "waybill.sqlite",
            ])
        #expect(try mode(copy) == 0o700)
        #expect(try mode(copy.appending(path: "tokens")) == 0o600)
        #expect(try mode(copy.appending(path: "shop.sqlite")) == 0o600)
        #expect(try copies.names() == ["copy"], "Nothing hidden is left.")

        let again = try ChildProcess("waybill-cli", ["serve", copy.path, "--port", "0"])
        defer { again.kill() }
        let line: String = try #require(again.line())
        let url = String(try #require(line.split(separator: " ").last))
        let list = try await Command.waybill("list", url, environment: ["WAYBILL_TOKEN": token])
        #expect(list.status == 0 && list.output.contains("login"))
    }

    /// Breaks when sets that arrive during the backup make it fail, or the copy contains half a set.
    @Test func whatIsWrittenMeanwhileIsThereAsASetOrNotAtAll() async throws {
        try folder.makeStore(of: login.clientSet())
        let serve = try await ServeProcess.start(folder)
        let posted = Locked(0)
        let writing = Task {
            while !Task.isCancelled, await serve.post(LoginHistory().clientSet()) != nil { posted.withLock { $0 += 1 } }
        }
        defer { writing.cancel() }
        for number in 0..<3 {
            let before = posted.withLock { $0 }
            try await eventually("another set is posted") { posted.withLock { $0 } > before }
            let file = copies.file("\(number).sqlite")
            #expect(try await Command.waybill("backup", folder.file("waybill.sqlite").path, file.path).status == 0)
            let verification = try StoreReader(.file(file)).verify()
            #expect(
                verification.isSound && verification.factCount % 6 == 0 && verification.factCount >= 6 * (before + 1))
        }
        writing.cancel()
        await writing.value
        #expect(posted.withLock { $0 } > 0)
    }

    @Test func aBackupOverwritesNothing() async throws {
        try folder.makeStore(of: login.clientSet())
        for name in ["file", "folder"] {
            let target = copies.file(name)
            if name == "file" {
                try Data("precious".utf8).write(to: target)
            } else {
                try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
            }
            let source = name == "file" ? folder.file("waybill.sqlite").path : folder.url.path
            let backup = try await Command.waybill("backup", source, target.path)
            #expect(backup.status == 1 && backup.output.isEmpty && backup.errors.contains("exists already"))
        }
        #expect(try String(contentsOf: copies.file("file"), encoding: .utf8) == "precious")
        #expect(try copies.names() == ["file", "folder"])
    }

    /// Breaks when an empty name means the current folder.
    @Test func anEmptyNameIs64() async throws {
        try folder.makeStore(of: login.clientSet())
        for arguments in [
            ["backup", "", copies.file("copy").path], ["backup", folder.url.path, ""],
            ["token", "add", "", "--role", "read"], ["serve", ""],
        ] {
            let run = try await Command.waybill(arguments)
            #expect(run.status == 64 && run.errors.contains("Name a file or a folder"), "\(run.errors)")
        }
        #expect(try copies.names().isEmpty)
    }

    @Test func whatIsDamagedMakesNoBackup() async throws {
        try folder.makeStore(of: login.clientSet())
        let file = try FileHandle(forUpdating: folder.file("waybill.sqlite"))
        let size = try file.seekToEnd()
        // Everything after the page with the schema.
        try file.seek(toOffset: 8192)
        try file.write(contentsOf: Data(repeating: 0xA5, count: Int(size) - 8192))
        try file.close()
        let backup = try await Command.waybill("backup", folder.url.path, copies.file("copy").path)
        #expect(backup.status == 1 && backup.output.isEmpty && backup.errors.hasPrefix("Error: "))
        #expect(try copies.names().isEmpty)
    }

    @Test func whereThereIsNoStoreThereIsNoBackup() async throws {
        for source in [copies.url.path, copies.file("none").path] {
            let backup = try await Command.waybill("backup", source, copies.file("copy").path)
            #expect(backup.status == 1 && backup.errors.hasPrefix("Error: "))
        }
        #expect(try copies.names().isEmpty)
    }

    /// Breaks when the copy has another history: an export would then repeat everything, or leave out new data.
    @Test func anExportGoesOnInTheCopy() async throws {
        try folder.makeStore(of: login.clientSet())
        let backend = try LoopbackServer { _ in .text("{}", type: "application/json") }
        let cursor = folder.file("waybill.otlp-cursor").path
        let send = ["--format", "otlp", "--to", backend.url().absoluteString, "--cursor"]
        #expect(try await Command.waybill(["export", folder.url.path] + send + [cursor]).status == 0)
        let copy = copies.file("copy")
        #expect(try await Command.waybill("backup", folder.url.path, copy.path).status == 0)
        let again = try await Command.waybill(
            ["export", copy.path] + send + [copy.appending(path: "waybill.otlp-cursor").path])
        #expect(again.status == 0 && again.errors.contains("0 spans sent.\n"))
    }
}
#endif
