#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct ImportTests {
    private let outbox: TemporaryDirectory
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        outbox = try TemporaryDirectory()
        folder = try TemporaryDirectory()
        try outbox.write(login.clientSet(1...4), named: "1")
        try outbox.write(login.clientSet(3...6), named: "2")
        try outbox.write(login.serverSet(), named: "3")
    }

    @Test func aFolderOfFilesIsTakenInOnce() async throws {
        let store = folder.file("new").path
        let first = try await Command.waybill("import", outbox.url.path, "--to", store)
        #expect(first.status == 0)
        #expect(first.text == "3 sets taken in: 9 new facts, 2 known already, 0 rejected.")
        let second = try await Command.waybill("import", outbox.url.path, "--to", store)
        #expect(second.text == "3 sets taken in: 0 new facts, 11 known already, 0 rejected.")
        let json = try await Command.waybill("import", outbox.url.path, "--to", store, "--json")
        #expect(json.output.contains("\"known_count\" : 11") && json.output.contains("\"has_failures\" : false"))
        #expect(try outbox.names() == ["1.waybill-set.json", "2.waybill-set.json", "3.waybill-set.json"])
        #expect(try await Command.waybill("verify", store).status == 0)
        #expect(try await Command.waybill("show", store, "\(login.transaction)").status == 0)
    }

    /// Import finds files from before names and bodies had a version, current files, and a file of a future version. It
    /// reports the last one instead of skipping it.
    @Test func filesOfEveryVersionAreFound() async throws {
        let file = outbox.file("2.waybill-set.json")
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text.hasPrefix("{\"version\":1,"))
        try Data(text.replacing("\"version\":1,", with: "").utf8).write(to: file)
        try FileManager.default.moveItem(
            at: outbox.file("3.waybill-set.json"), to: outbox.file("3.waybill-set.v1.json"))
        try Data(text.replacing("\"version\":1,", with: "\"version\":2,").utf8).write(
            to: outbox.file("4.waybill-set.v2.json"))
        let result = try await Command.waybill("import", outbox.url.path, "--to", folder.file("new").path)
        #expect(result.status == 1)
        #expect(result.text == "3 sets taken in: 9 new facts, 2 known already, 0 rejected.")
        #expect(
            result.errors
                == "4.waybill-set.v2.json: /version: a set of version 1 was expected, and this is one of version 2; update Waybill to read it\n"
        )
    }

    @Test func aCollectorTakesThemInToo() async throws {
        let serve = try await ServeProcess.start(folder)
        let result = try await Command.waybill("import", outbox.url.path, "--to", serve.url)
        #expect(result.status == 0)
        #expect(result.text == "3 sets taken in: 9 new facts, 2 known already, 0 rejected.")
    }

    /// Breaks when a file of many gigabytes fills the machine's memory before the import rejects it as too large for a
    /// set.
    @Test func whatIsLargerThanAnySetIsNotRead() async throws {
        let file = outbox.file("0.waybill-set.json")
        try Data(#"{"set": "#.utf8).write(to: file)
        // A sparse file, which takes no space on the disk.
        try #require(truncate(file.path, 3 << 30) == 0)
        let imported = try await Command.waybill("import", outbox.url.path, "--to", folder.file("new").path)
        #expect(imported.status == 1 && imported.errors.contains("more than 64 MiB"), "\(imported.errors)")
        #expect(imported.text == "3 sets taken in: 9 new facts, 2 known already, 0 rejected.")
        let verified = try await Command.waybill("verify", file.path)
        #expect(verified.status == 1 && verified.errors.contains("more than 64 MiB"), "\(verified.errors)")
    }

    @Test func aFileThatIsNoSetDoesNotKeepTheOthersOut() async throws {
        try Data(#"{"set": 7}"#.utf8).write(to: outbox.file("0.waybill-set.json"))
        try Data("not one of them".utf8).write(to: outbox.file("notes.txt"))
        let serve = try await ServeProcess.start(folder)
        for place in [folder.file("new").path, serve.url] {
            let result = try await Command.waybill("import", outbox.url.path, "--to", place)
            #expect(result.status == 1)
            #expect(result.errors == "0.waybill-set.json: /set: a string was expected\n")
            #expect(result.text == "3 sets taken in: 9 new facts, 2 known already, 0 rejected.")
        }
    }

    @Test func aRejectedFactIsToldAndIs1() async throws {
        var set = login.clientSet()
        set.sources[0].facts[1].content = .event(Fact.Event(code: -1))
        try outbox.write(set, named: "bad")
        let result = try await Command.waybill(
            "import", outbox.file("bad.waybill-set.json").path, "--to", folder.url.path)
        #expect(result.status == 1)
        #expect(result.errors.contains("bad.waybill-set.json: fact 2 of source \(login.client.id) was rejected: "))
        #expect(result.text == "1 set taken in: 5 new facts, 0 known already, 1 rejected.")
    }

    /// Breaks when a thousand rejected facts print a thousand lines.
    @Test func ofManyRejectedFactsTheFirstAreTold() async throws {
        var set = login.clientSet()
        let sent = set.sources[0].facts.count
        for number in 1...30 {
            var fact = set.sources[0].facts[1]
            (fact.sequence, fact.content) = (Int64(sent + number), .event(Fact.Event(code: -1)))
            set.sources[0].facts.append(fact)
        }
        set.sources[0].ledger.recorded += 30
        try outbox.write(set, named: "bad")
        let result = try await Command.waybill(
            "import", outbox.file("bad.waybill-set.json").path, "--to", folder.url.path)
        #expect(result.status == 1)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 11 && lines.last == "20 more rejections, not told one by one.")
        #expect(result.text == "1 set taken in: \(sent) new facts, 0 known already, 30 rejected.")
    }

    @Test func aFolderWithoutSetsIs1() async throws {
        let result = try await Command.waybill("import", folder.url.path, "--to", folder.file("new").path)
        #expect(result.status == 1)
        #expect(
            result.errors.hasSuffix(
                "The folder holds no file that ends with .waybill-set.v1.json or .waybill-set.json.\n"))
    }

    /// Breaks when a wrong path leaves an empty store behind.
    @Test func whereThereIsNoSetNoStoreIsMade() async throws {
        for path in [folder.file("none").path, folder.url.path] {
            #expect(try await Command.waybill("import", path, "--to", folder.file("new").path).status == 1)
        }
        #expect(try folder.names().isEmpty)
    }

    @Test func aFileThatIsNotThereIs1() async throws {
        let result = try await Command.waybill(
            "import", "\(outbox.url.path)/none.waybill-set.json", "--to", folder.url.path)
        #expect(result.status == 1)
        #expect(result.errors.hasSuffix("none.waybill-set.json: The file cannot be read.\n"))
    }
}
#endif
