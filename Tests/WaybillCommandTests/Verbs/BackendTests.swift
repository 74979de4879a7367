#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore

@Suite(.timeLimit(.minutes(5))) struct BackendTests {
    private let folder: TemporaryDirectory
    private let work: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        work = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    private func spanCount(_ server: LoopbackServer) -> Int {
        server.requests.reduce(0) { $0 + $1.body.ranges(of: Data("\"spanId\":".utf8)).count }
    }

    @Test func aFolderAndACollectorSendTheSameSpans() async throws {
        let serve = try await ServeProcess.start(folder)
        var bodies: [Data] = []
        for place in [folder.url.path, serve.url] {
            let backend = try LoopbackServer { _ in .text("{}", type: "application/json") }
            let export = try await Command.waybill(
                "export", place, "--format", "otlp", "--to", backend.url().absoluteString,
                environment: ["OTEL_EXPORTER_OTLP_HEADERS": "api-key=k"])
            #expect(export.status == 0 && export.output.isEmpty && export.errors == "3 spans sent.\n")
            #expect(backend.requests.allSatisfy { $0.path == "/v1/traces" && $0.header("api-key") == "k" })
            bodies.append(backend.requests.reduce(into: Data()) { $0 += $1.body })
        }
        #expect(bodies[0] == bodies[1])
        #expect(
            try await Command.waybill("export", serve.url, "--format", "otlp").output == String(
                decoding: bodies[0], as: UTF8.self) + "\n")
    }

    @Test func aCursorIsWhereTheNextRunBegins() async throws {
        let backend = try LoopbackServer { _ in .text("{}", type: "application/json") }
        let export = [
            "export", folder.url.path, "--format", "otlp", "--to", backend.url().absoluteString, "--cursor",
            work.file("sent").path,
        ]
        #expect(try await Command.waybill(export).errors == "3 spans sent.\n")
        #expect(try await Command.waybill(export).errors == "0 spans sent.\n")
        try folder.makeStore(of: LoginHistory().serverSet())
        #expect(try await Command.waybill(export).errors == "1 span sent.\n")
        #expect(spanCount(backend) == 4)
    }

    /// Breaks when the cursor of one store leaves out spans of another.
    @Test func aCursorOfAnotherStoreIsRefused() async throws {
        let backend = try LoopbackServer { _ in .text("{}", type: "application/json") }
        let send = [
            "--format", "otlp", "--to", backend.url().absoluteString, "--cursor", work.file("sent").path,
        ]
        #expect(try await Command.waybill(["export", folder.url.path] + send).status == 0)
        let other = try TemporaryDirectory()
        try other.makeStore(of: LoginHistory().clientSet(), LoginHistory().serverSet(), LoginHistory().clientSet())
        let export = try await Command.waybill(["export", other.url.path] + send)
        #expect(export.status == 1 && export.errors.contains("The cursor is of another store"), "\(export.errors)")
        #expect(spanCount(backend) == 3)
    }

    @Test func aRoundThatBreaksOffLeavesTheCursor() async throws {
        let cursor = work.file("sent")
        let closed = try LoopbackServer { _ in .init(status: 401) }
        let export = try await Command.waybill(
            "export", folder.url.path, "--format", "otlp", "--to", closed.url().absoluteString, "--cursor", cursor.path)
        #expect(export.status == 1 && export.errors.contains("OTEL_EXPORTER_OTLP_HEADERS"))
        #expect(!FileManager.default.fileExists(atPath: cursor.path))
    }

    @Test func whatIsRejectedIsToldAndExitsWith1() async throws {
        let answer = #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"not these"}}"#
        let backend = try LoopbackServer { _ in .text(answer, type: "application/json") }
        let export = try await Command.waybill(
            "export", folder.url.path, "--format", "otlp", "--to", backend.url().absoluteString)
        #expect(export.status == 1 && export.errors == "Error: 1 span sent, 2 rejected: not these\n")
    }

    @Test func aBackendIsFollowed() async throws {
        let (first, second) = (Gate(), Gate())
        let backend = try LoopbackServer { request in
            let isFirst = request.body.ranges(of: Data("\"spanId\":".utf8)).count == 3
            (isFirst ? first : second).open()
            return .text("{}", type: "application/json")
        }
        let follow = try ChildProcess(
            "waybill-cli",
            ["export", folder.url.path, "--format", "otlp", "--to", backend.url().absoluteString, "--follow"])
        await first.opened()
        try folder.makeStore(of: LoginHistory().serverSet())
        await second.opened()
        follow.kill()
        #expect(spanCount(backend) == 4)
    }

    @Test(arguments: [
        ["--to", "http://127.0.0.1:1"], ["--format", "otlp", "--follow"], ["--format", "otlp", "--cursor", "x"],
        ["--format", "otlp", "--to", "http://127.0.0.1:1", "--output", "x"],
        ["--format", "otlp", "--to", "http://127.0.0.1:1", "--follow", "--outcome", "failed"],
    ])
    func whatCannotBeMeantIs64(arguments: [String]) async throws {
        let export = try await Command.waybill(["export", folder.url.path] + arguments)
        #expect(export.status == 64 && export.errors.hasPrefix("Error: "))
    }
}
#endif
