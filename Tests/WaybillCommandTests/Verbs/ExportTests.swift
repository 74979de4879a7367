#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct ExportCommandTests {
    private let folder: TemporaryDirectory
    private let work: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        work = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    private var store: String { folder.url.path }

    @Test func aFolderAndACollectorExportAlike() async throws {
        let serve = try await ServeProcess.start(folder)
        for format in ["ndjson", "csv"] {
            let export = try await Command.waybill("export", store, "--format", format)
            #expect(export.status == 0 && export.errors.isEmpty)
            #expect(export.output.split(whereSeparator: \.isNewline).count == (format == "csv" ? 10 : 9))
            #expect(try await Command.waybill("export", serve.url, "--format", format).output == export.output)
            for place in [store, serve.url] {
                let file = work.file("facts.\(format)")
                #expect(
                    try await Command.waybill("export", place, "--format", format, "--output", file.path).status == 0)
                #expect(try String(contentsOf: file, encoding: .utf8) == export.output)
            }
        }
    }

    /// Breaks when an export replaces the store that it reads.
    @Test(arguments: ["waybill.sqlite", "waybill.sqlite-wal", "journal-\(GUID())"])
    func theStoreItselfIsNotWritten(name: String) async throws {
        for format in ["ndjson", "sqlite", "har", "html"] {
            let export = try await Command.waybill(
                "export", store, "--format", format, "--output", folder.file(name).path)
            #expect(export.status == 1 && export.errors.contains("is a file of the store itself"), "\(export.errors)")
        }
        let file = try await Command.waybill(
            "export", folder.file("waybill.sqlite").path, "--output",
            folder.url.path + "/../" + folder.url.lastPathComponent + "/" + name)
        #expect(file.status == 1 && file.errors.contains("is a file of the store itself"))
        #expect(try await Command.waybill("verify", store).status == 0)
    }

    /// Breaks when a file replaces a pipe, such as /dev/stdout.
    @Test func aPipeIsWrittenTo() async throws {
        let pipe = work.file("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let reader = open(pipe.path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let export = try await Command.waybill("export", store, "--output", pipe.path)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(reader, &bytes, bytes.count)
        #expect(export.status == 0 && export.errors == "\(pipe.path): \(count) bytes.\n")
        let output = try await Command.waybill("export", store).output
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == output)
        #expect(try work.names() == ["pipe"])
    }

    @Test func eachRunAddsFilesWithWhatIsNew() async throws {
        let serve = try await ServeProcess.start(folder)
        for (place, lake) in [(store, "lake"), (serve.url, "lake of a collector")] {
            let lake = work.file(lake).path
            let first = try await Command.waybill("export", place, "--incremental", lake)
            #expect(first.output.hasPrefix("\(lake)/facts/") && first.output.hasSuffix(".ndjson\n"))
            let second = try await Command.waybill("export", place, "--incremental", lake)
            #expect(second.status == 0 && second.output.isEmpty && second.errors == "Nothing is new.\n")
        }
        #expect(await serve.post(LoginHistory().clientSet()) != nil)
        let lake = work.file("lake of a collector")
        #expect(try await Command.waybill("export", serve.url, "--incremental", lake.path, "--gzip").status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: lake.appending(path: "increments").path).sorted()
                == ["000000001.json", "000000002.json"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: lake.appending(path: "facts").path)
                .map { String($0.drop { $0 != "." }) }.sorted() == [".ndjson", ".ndjson.gz"])
    }

    /// Breaks when a collector's page differs from its folder's page, or a page without transactions does not say why.
    @Test func aPageForPeopleComesFromAFolderAndFromACollector() async throws {
        let serve = try await ServeProcess.start(folder)
        for place in [store, serve.url] {
            let file = work.file("report.html")
            let export = try await Command.waybill("export", place, "--format", "html", "--output", file.path)
            #expect(export.status == 0 && export.output.isEmpty && export.errors == "\(file.path): 1 transaction.\n")
            let page = try String(contentsOf: file, encoding: .utf8)
            #expect(page.hasPrefix("<!DOCTYPE html>") && page.contains(login.transaction.supportCode.description))
        }
        let empty = try await Command.waybill(
            "export", store, "--format", "html", "--use-case", "login", "--outcome", "open")
        #expect(empty.output.contains("The only transaction of login here is not open."))
    }

    @Test func aTraceComesFromAFolderAndFromACollector() async throws {
        let serve = try await ServeProcess.start(folder)
        let trace = try await Command.waybill("export", store, "--format", "perfetto")
        #expect(trace.status == 0 && trace.output.hasPrefix("{\"traceEvents\":[\n{\"ph\":\"M\""))
        #expect(try await Command.waybill("export", serve.url, "--format", "perfetto").output == trace.output)
        let empty = try await Command.waybill("export", store, "--format", "perfetto", "--outcome", "open")
        #expect(empty.status == 1 && empty.output.isEmpty)
    }

    @Test func nothingThatMatchesIs1() async throws {
        let export = try await Command.waybill("export", store, "--outcome", "open")
        #expect(export.status == 1)
        #expect(export.output.isEmpty)
        #expect(export.errors.hasPrefix("Error: Nothing was exported"))
    }

    @Test(arguments: [
        ["--incremental", "x", "--outcome", "failed"], ["--incremental", "x", "--output", "y"],
        ["--incremental", "x", "--format", "sqlite"], ["--incremental", "x", "--format", "perfetto"],
        ["--format", "sqlite"], ["--format", "sqlite", "--gzip", "--output", "x"], ["--format", "xml"],
        ["--since", "noon"], ["--incremental", ""],
    ])
    func whatCannotBeMeantIs64(arguments: [String]) async throws {
        let export = try await Command.waybill(["export", store] + arguments)
        #expect(export.status == 64)
        #expect(export.errors.hasPrefix("Error: "))
    }

    @Test func aCollectorSaysWhatItCannotExport() async throws {
        let serve = try await ServeProcess.start(folder)
        for arguments in [["--format", "sqlite", "--output", work.file("x").path]] {
            let export = try await Command.waybill(["export", serve.url] + arguments)
            #expect(export.status == 1)
            #expect(export.errors.hasPrefix("Error: A collector"))
        }
        #expect(try work.names().isEmpty)
    }
}
#endif
