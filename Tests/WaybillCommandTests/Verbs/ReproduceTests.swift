#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCommand
import WaybillCore
import WaybillExport
import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct ReproduceTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    /// Returns the reproduction of a failed login with both ends of its request, and their bodies.
    private static func reproduction(of text: String = "login") throws -> Reproduction {
        let (app, server) = (GUID(high: 1, low: 10), GUID(high: 1, low: 11))
        let (sent, received) = (FactID(source: app, sequence: 3), FactID(source: server, sequence: 2))
        let begun = LoginHistory.begun
        let error = RecordedError(domain: text, code: 3)
        func source(_ id: GUID, _ app: String) -> TransactionRecord.Source {
            TransactionRecord.Source(id: id, app: app, appVersion: text, device: text, os: text, osVersion: text)
        }
        func part(_ source: GUID, _ outcome: TransactionOutcome, cause: FactID? = nil) -> TransactionRecord.Part {
            TransactionRecord.Part(
                id: FactID(source: source, sequence: 1), isJoined: cause != nil, cause: cause,
                openedMicroseconds: begun, closedMicroseconds: begun + 15_000, outcome: outcome, error: error,
                attributes: [text: .string(text)])
        }
        func event(_ source: GUID, _ sequence: Int64, at time: Int64, _ name: String) -> TransactionRecord.Entry {
            TransactionRecord.Entry(
                id: FactID(source: source, sequence: sequence), kind: .event, part: 1, timeMicroseconds: begun + time,
                label: name, code: 1)
        }
        func exchange(_ id: FactID, _ role: ExchangeRole, _ times: ClosedRange<Int64>) -> TransactionRecord.Exchange {
            TransactionRecord.Exchange(
                id: id, part: 1, role: role, method: "POST", url: "https://api.example.com/\(text)?\(text)",
                state: .completed, status: 401, openedMicroseconds: begun + times.lowerBound,
                firstByteMicroseconds: nil, closedMicroseconds: begun + times.upperBound, sentByteCount: 42,
                receivedByteCount: 20, requestHeaderFields: [HeaderField(name: text, value: text)],
                responseHeaderFields: [HeaderField(name: text, value: text)], error: nil)
        }
        let summary = TransactionSummary(
            id: try #require(GUID("01890a5d-ac96-774b-bcce-b302099a8057")), useCase: 0, useCaseName: text,
            outcome: .failed, begunMicroseconds: begun, durationMicroseconds: 15_000, error: error,
            attributes: [text: .string(text)], sourceCount: 2, eventCount: 4, exchangeCount: 2,
            isWaitingForBeginner: false)
        let record = TransactionRecord(
            summary: summary, sources: [source(app, text), source(server, "\(text) server")],
            parts: [part(app, .failed), part(server, .succeeded, cause: sent)],
            timeline: [
                event(app, 2, at: 250, "\(text) sent"), event(server, 3, at: 2000, "\(text) checked"),
                event(server, 4, at: 11_000, "\(text) rejected"), event(app, 5, at: 14_100, "\(text) received"),
            ],
            exchanges: [exchange(sent, .client, 1000...14_000), exchange(received, .server, 3000...12_000)])
        return Reproduction(
            records: [record],
            bodies: [
                sent: ExchangeBodies(
                    request: .whole(Array(#"{"user":"\#(text)"}"#.utf8), "application/json"),
                    response: .whole(Array(text.utf8), text))
            ])
    }

    /// Breaks when developers get another test than the guide describes.
    @Test func theTestOfAnAppIsThis() throws {
        #expect(
            try #require(AppTest(Self.reproduction())).source == """
                // login 084S-N02Q of login, recorded at 2026-03-01 12:00:00.000 UTC:
                // failed after 15.0 ms: login 3
                import Foundation
                import Testing
                import WaybillTesting

                /// Starts login. Replace the body: call what the app calls, with this manager and its session.
                private let start: @Sendable (_ transactions: TransactionManager) async throws -> Void = { transactions in
                    Issue.record("Start the use case here.")
                }

                @Suite(.timeLimit(.minutes(1))) struct Login084SN02QTests {
                    @Test(.waybill) func theUseCaseSucceeds() async throws {
                        let transactions = TransactionManager.ofTest
                        try transactions.rules.add(json: Data(rules.utf8))
                        transactions.rules.isEnabled = true
                        // The record has the error.
                        try? await start(transactions)

                        let record = try #require(
                            try transactions.allRecords().last { $0.summary.useCase == 0 },
                            "login was not begun.")
                        // The events before the failure.
                        let expected: [String] = ["login sent"]
                        let events = record.timeline.filter { $0.kind == .event }.map(\\.label)
                        #expect(events.starts(with: expected))
                        #expect(
                            record.summary.outcome == .succeeded,
                            "Recorded: failed after 15.0 ms: login 3. Now: \\(String(describing: record.summary.error))")
                        #expect(transactions.rules.hits["not recorded"] == 0, "Add rules for requests that were not recorded.")
                    }
                }

                /// The recorded answers. Each rule answers one request, and the last one refuses all others.
                private let rules = #\"""
                    {"rules":[
                    {
                      "match" : {
                        "host" : "api.example.com",
                        "method" : "POST",
                        "path" : "/login",
                        "url" : {
                          "glob" : "*?login"
                        }
                      },
                      "mock" : {
                        "delay_us" : 13000,
                        "headers" : [
                          [
                            "login",
                            "login"
                          ],
                          [
                            "Content-Type",
                            "login"
                          ]
                        ],
                        "status" : 401,
                        "text" : "login"
                      },
                      "name" : "1 POST https://api.example.com/login?login",
                      "times" : 1
                    },
                    {
                      "fail" : {
                        "code" : "resourceUnavailable"
                      },
                      "name" : "not recorded"
                    }
                    ]}
                    \"""#

                """)
    }

    @Test func theTestOfAServiceIsThis() throws {
        let reproduction = try Self.reproduction()
        #expect(reproduction.services == ["login server"])
        #expect(
            try #require(ServiceTest(reproduction, service: "login server")).source == """
                // login 084S-N02Q of login server, recorded at 2026-03-01 12:00:00.000 UTC:
                // failed after 15.0 ms: login 3
                import HTTPTypes
                import Hummingbird
                import HummingbirdTesting
                import Testing
                import WaybillHummingbird
                import WaybillTesting

                /// Returns the application. Replace the body, and keep the middleware.
                private func application(_ transactions: TransactionManager) async throws -> some ApplicationProtocol {
                    let router = Router()
                    router.add(middleware: TransactionMiddleware(transactions))
                    return Application(router: router)
                }

                @Suite(.timeLimit(.minutes(1))) struct Login084SN02QLoginServerTests {
                    @Test(.waybill(correlatedHosts: [], configure: { $0.server.accepting = .any }))
                    func theServiceAnswers() async throws {
                        let (transactions, clock) = (TransactionManager.ofTest, ManualClock.ofTest)
                        let transaction = HTTPField.Name("Waybill-Transaction")!
                        try await application(transactions).test(.router) { client in
                            clock.advance(by: .microseconds(0))
                            try await client.execute(
                                uri: "/login?login", method: .post,
                                headers: [transaction: "\\"01890a5d-ac96-774b-bcce-b302099a8057\\";u=0;s=\\"00000000-0000-0001-0000-00000000000a\\";n=3", .contentType: "application/json"], body: ByteBuffer(string: "{\\"user\\":\\"login\\"}")
                            ) { #expect($0.status.code < 400, "Recorded: 401.") }
                        }

                        let records = try transactions.allRecords()
                        // The events before the failure.
                        let expected: [String] = ["login checked"]
                        let events = records.flatMap(\\.timeline).filter { $0.kind == .event }.map(\\.label)
                        #expect(events.starts(with: expected))
                        #expect(records.flatMap(\\.parts).allSatisfy { $0.outcome == .succeeded })
                    }
                }

                """)
    }

    /// Breaks when anyone who can name an event can run code on the machine of whoever reproduces it.
    @Test(
        arguments: HostileText.corpus + [
            "\\(fatalError(\"hostile-21\"))", "\"\"\"\n}\nfatalError(\"hostile-22\")", "*/ hostile-23 /*",
            "\\\"hostile-24",
            "\r\u{2028}\u{0B}\u{0C}\u{202E}hostile-25", "\"#\\#(\"hostile-26\")", "e\u{301}\u{5D0}\u{200F}hostile-27",
        ])
    func recordedTextDoesNotBecomeCode(_ text: String) throws {
        let reproduction = try Self.reproduction(of: text)
        let app = try #require(AppTest(reproduction)).source
        let service = try #require(ServiceTest(reproduction, service: "\(text) server")).source
        for source in [app, service] {
            #expect(source.unicodeScalars.allSatisfy { $0 == "\n" || (" "..."~").contains($0) })
            // Waybill writes the code outside literals and comments, and the only interpolation.
            let literals = source.replacing(#/#"""[^#]*"""#/#, with: "")
            let code = literals.replacing(#/"(?:\\.|[^"\\])*"/#, with: "").replacing(#/\/\/[^\n]*/#, with: "")
            #expect(!code.replacing(#/struct [A-Za-z0-9]+ \{/#, with: "").contains("hostile"))
            #expect(!code.contains("\"") && !code.contains("fatalError") && !code.contains("alert"))
            let interpolations = literals.matches(of: #/(?:^|[^\\])(?:\\\\)*\\\(/#).count
            #expect(interpolations == (source == app ? 1 : 0))
        }
        #expect(reproduction.name(text).allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }

    /// Breaks when one service's file overwrites another's.
    @Test func servicesWithSimilarNamesHaveTheirOwnFiles() throws {
        var record = try Self.reproduction().records[0]
        for (index, app) in ["a-b", "A b", "漢字"].enumerated() {
            let id = GUID(high: 2, low: UInt64(index))
            (record.parts[1].id, record.sources[1].id, record.sources[1].app) = (
                FactID(source: id, sequence: 1), id, app
            )
            record.parts.append(record.parts[1])
            record.sources.append(record.sources[1])
        }
        let reproduction = Reproduction(records: [record], bodies: [:])
        let names = reproduction.services.map { reproduction.name($0).dropFirst("Login084SN02Q".count) }
        #expect(names.sorted() == ["ABTests", "AB2Tests", "ServiceTests"].sorted())
    }

    /// Breaks when a literal differs from the recorded text.
    @Test func aLiteralIsTheText() {
        #expect("a\"\\(b)\n\u{202E}é".swiftLiteral == #""a\"\\(b)\n\u{202E}\u{E9}""#)
        #expect("7 pay by card!".swiftTypeName == "PayByCard")
        #expect("漢字".swiftTypeName == "")
    }

    @Test func theCommandWritesFilesAndReplacesNone() async throws {
        let arguments = [
            "reproduce", folder.url.path, "\(login.transaction.supportCode)", "--output", folder.file("Tests").path,
        ]
        let done = try await Command.waybill(arguments)
        let name = "Login\("\(login.transaction.supportCode)".replacing("-", with: ""))Tests"
        let file = folder.file("Tests/\(name).swift")
        #expect(done.status == 0 && done.errors == "")
        #expect(done.text.hasSuffix("/\(name).swift"), "the server recorded no request")
        #expect(try String(contentsOf: file, encoding: .utf8).contains("struct \(name) {"))
        try Data("mine".utf8).write(to: file)
        let again = try await Command.waybill(arguments)
        #expect(again.status == 1 && again.errors.contains("exists, maybe with your changes."))
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        let unknown = try await Command.waybill("reproduce", folder.url.path, "0000-0000")
        #expect(unknown.status == 1 && unknown.output.isEmpty)
    }
}
#endif
