#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct ServeTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func whatWasAcknowledgedSurvivesSIGKILLUnderLoad() async throws {
        let serve = try await ServeProcess.start(folder)
        let histories = (0..<400).map { _ in LoginHistory() }
        let sets = histories.flatMap { [$0.clientSet(), $0.serverSet()] }
        let receipts = await withTaskGroup(of: [Receipt].self) { group in
            let acknowledged = Gate()
            for share in 0..<4 {
                group.addTask {
                    var receipts: [Receipt] = []
                    for index in stride(from: share, to: sets.count, by: 4) {
                        guard let receipt = await serve.post(sets[index]) else { break }
                        receipts.append(receipt)
                        if receipts.count == 20 { acknowledged.open() }
                    }
                    return receipts
                }
            }
            await acknowledged.opened()
            serve.process.kill()
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect((20..<sets.count).contains(receipts.count), "It was killed in the middle.")

        let again = try await ServeProcess.start(folder)
        let acknowledged = Set(receipts.map(\.set))
        for set in sets {
            let receipt = try #require(await again.post(set))
            #expect(receipt.factCount == set.factCount)
            if acknowledged.contains(set.id) { #expect(receipt.knownCount == set.factCount) }
        }
        let verification = try await Command.waybill("verify", folder.url.path)
        #expect(verification.output.hasPrefix("sound: 400 transactions, 3600 facts, 800 sources\n"))
        #expect(!verification.output.contains("remark"))
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aRequestInFlightFinishesAfterASignal(signal: Int32) async throws {
        let serve = try await ServeProcess.start(folder)
        let set = LoginHistory().clientSet()
        let body = Data(set.encoded())
        let client = try RawClient(port: serve.port)
        // One write, so an answer to the health request means that the head of the set has been read, too.
        try await client.send(
            RawClient.head("GET", "/v1/health")
                + RawClient.head(
                    "POST", "/v1/sets", headers: ["Content-Type": TransactionSet.mediaType], length: body.count)
                + body.prefix(10))
        #expect(try await client.response().status == 200)

        serve.process.signal(signal)
        // The collector accepts no more connections after the signal.
        try await eventually("the collector takes no more connections") { (try? RawClient(port: serve.port)) == nil }
        try await client.send(body.dropFirst(10))
        let response = try await client.response()
        #expect(response.status == 200)
        #expect(try Receipt.decode(Array(response.body)).acceptedCount == 6)
        #expect(await serve.status() == 0)
        #expect(try StoreReader(.folder(folder.url)).sources().map(\.ledger.delivered) == [6])
    }

    @Test func anIdleConnectionDoesNotHoldUpTheEnd() async throws {
        let serve = try await ServeProcess.start(folder)
        let client = try RawClient(port: serve.port)
        try await client.send(RawClient.head("GET", "/v1/health"))
        #expect(try await client.response().status == 200)
        serve.process.terminate()
        #expect(await serve.status() == 0)
        #expect(try await client.untilClosed().isEmpty)
    }

    /// The limits apply to steady bodies, too: a trickling body would otherwise keep its connection, and the bytes read
    /// so far, forever.
    @Test func whatComesTooLateIsCutOff() async throws {
        let serve = try await ServeProcess.start(folder, "--header-seconds", "1", "--body-seconds", "1")
        let silent = try RawClient(port: serve.port)
        let slow = try RawClient(port: serve.port)
        try await slow.send(
            RawClient.head("POST", "/v1/sets", headers: ["Content-Type": TransactionSet.mediaType], length: 1000)
                + Data("{".utf8))
        #expect(try await slow.response().status == 408)
        #expect(try await slow.untilClosed().isEmpty)
        #expect(try await silent.untilClosed().isEmpty)
        #expect(await serve.post(LoginHistory().clientSet())?.acceptedCount == 6)
    }

    /// Breaks when a body may stall for as long as a whole body may take: a minute.
    @Test func aBodyOfWhichTooLittleComesIsCutOffBeforeItsTimeIsOver() async throws {
        let serve = try await ServeProcess.start(folder, "--stalled-seconds", "1", "--body-seconds", "3600")
        let slow = try RawClient(port: serve.port)
        let head = RawClient.head(
            "POST", "/v1/sets", headers: ["Content-Type": TransactionSet.mediaType], length: 1_000_000)
        try await slow.send(head + Data(repeating: UInt8(ascii: " "), count: 300_000))
        #expect(try await slow.response().status == 408)
        #expect(try await slow.untilClosed().isEmpty)
    }

    /// Breaks when the first client, without a token, keeps all others out for as long as a connection may stay idle.
    @Test func connectionsAtRestMakeRoomForThoseWhoCome() async throws {
        let token = try await folder.addToken("read")
        let serve = try await ServeProcess.start(folder, "--max-connections", "1", asksForToken: true)
        let stranger = try RawClient(port: serve.port)
        try await stranger.send(RawClient.head("GET", "/v1/health"))
        #expect(try await stranger.response().status == 200)
        for _ in 0..<2 {
            let client = try RawClient(port: serve.port)
            try await client.send(RawClient.head("GET", "/v1/sources", headers: ["Authorization": "Bearer \(token)"]))
            #expect(try await client.response().status == 200)
        }
        #expect(try await stranger.untilClosed().isEmpty)
    }

    @Test func theTokenComesFromAFileOrTheEnvironment() async throws {
        let secrets = try TemporaryDirectory()
        try folder.makeStore(of: LoginHistory().clientSet())
        let token = try await folder.addToken("read")
        try Data("\(token)\n".utf8).write(to: secrets.file("token"))
        try Data("fedcba9876543210\n".utf8).write(to: secrets.file("other"))
        let serve = try await ServeProcess.start(folder, asksForToken: true)

        let without = try await Command.waybill("list", serve.url)
        #expect(without.status == 1)
        #expect(
            without.errors == """
                Error: Send the collector's token as “Authorization: Bearer ...”. Give it by --token-file or the variable WAYBILL_TOKEN.

                """)
        let wrong = try await Command.waybill("list", serve.url, "--token-file", secrets.file("other").path)
        #expect(wrong.status == 1)
        #expect(!wrong.errors.contains("fedcba"))
        #expect(try await Command.waybill("list", serve.url, "--token-file", secrets.file("token").path).status == 0)
        #expect(try await Command.waybill("list", serve.url, environment: ["WAYBILL_TOKEN": token]).status == 0)
    }

    @Test func withoutATokenItDoesNotStartUnlessItIsInsecure() async throws {
        let result = try await Command.waybill("serve", folder.url.path, "--port", "0")
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: There is no token yet."))
        #expect(try folder.names().isEmpty, "Nothing was made.")
    }

    @Test func insecureIsForLoopbackAlone() async throws {
        let result = try await Command.waybill(
            "serve", folder.url.path, "--port", "0", "--insecure", "--host", "0.0.0.0")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("Error: Without tokens the collector listens on loopback alone"))
    }

    /// Breaks when somebody believes that a store in one file is kept short, sent or checked.
    @Test func aStoreInOneFileTakesNoOptionOfACollector() async throws {
        // This file cannot be shown, so that the command ends when this breaks.
        try Data("none".utf8).write(to: folder.file("store.sqlite"))
        let result = try await Command.waybill(
            "serve", folder.file("store.sqlite").path, "--port", "0", "--sample", "0.5", "--retention-days", "1",
            "--otlp",
            "http://127.0.0.1:4318")
        #expect(result.status == 1)
        #expect(
            result.errors
                == "Error: A store in one file is only shown: leave out --retention-days, --sample, --otlp.\n")
    }

    /// Breaks when a page from elsewhere, whose host name was rebound to this machine (DNS rebinding), can read answers
    /// that need no token.
    @Test func insecureAnswersToNamesOfThisMachineAlone() async throws {
        let serve = try await ServeProcess.start(folder)
        for path in ["/transactions", "/network", "/login", "/v1/transactions", "/v1/export", "/metrics", "/nowhere"] {
            for (host, isOwn) in [
                ("evil.example", false), ("127.0.0.1.evil.example", false),
                ("localhost.evil.example:\(serve.port)", false), ("", false),
                ("localhost", true), ("LOCALHOST:\(serve.port)", true), ("127.0.0.1:\(serve.port)", true),
                ("[::1]:\(serve.port)", true),
            ] {
                let client = try RawClient(port: serve.port)
                try await client.send(Data("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8))
                let answer = try await client.response()
                #expect((answer.status != 403) == isOwn, "\(path) at “\(host)”: \(answer.status)")
            }
        }
    }

    @Test func aPortThatIsTakenIsOneSentence() async throws {
        let server = try LoopbackServer { _ in .closed }
        let result = try await Command.waybill("serve", folder.url.path, "--insecure", "--port", "\(server.port)")
        #expect(result.status == 1)
        #expect(result.output.isEmpty)
        #expect(
            result.errors.hasPrefix(
                "Error: The collector cannot listen on 127.0.0.1, port \(server.port). Another program uses this port: stop it, or choose"
            ))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func aTokenFileThatIsNoneIsOneSentence() async throws {
        try Data("a token\n".utf8).write(to: folder.file("tokens"))
        let result = try await Command.waybill("serve", folder.url.path, "--port", "0")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("Error: Line 1 of the token file"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func aFolderThatCannotBeMadeIsOneSentence() async throws {
        try Data().write(to: folder.file("file"))
        let result = try await Command.waybill(
            "serve", folder.file("file").path + "/below", "--insecure", "--port", "0")
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("Error: "))
        #expect(result.errors.split(separator: "\n").count == 1)
    }
}
#endif
