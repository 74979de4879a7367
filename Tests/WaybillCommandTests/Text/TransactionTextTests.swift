#if Collector
import Testing
@testable import WaybillCommand
import WaybillCore
import WaybillExport
import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct TransactionTextTests {
    @Test func aLoginShowsTheServersPartInsideTheExchange() throws {
        let lines = TransactionText(Redactor.off.redacted(try Login.record())).lines(
            Palette(isColored: false), width: 80)
        #expect(
            lines.joined(separator: "\n") == """
                login failed after 15.0 ms

                id            01890a5d-ac96-774b-bcce-b302099a8057
                support code  084S-N02Q
                begun         2026-03-01 12:00:00.000 UTC
                error         LoginError 3
                attributes    variant=B

                SOURCE  VERSION  DEVICE               PART                  TOOK
                app     1.2      iPhone17,1 iOS 18.1  began, failed      15.0 ms
                server  4.0      x86_64 Linux 6.1     joined, succeeded  9.00 ms

                                                        0            5 ms         10 ms
                app                            15.0 ms  ●────────────────────────────────────●─┤
                  POST /login            401 · 13.0 ms    ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
                    server · POST /log…        9.00 ms          ├────────────────────✕──┤
                ├──┤ part   ● event   ✕ error   ▒ connect   ▓ send   ░ wait   █ receive

                     AT     SINCE  SOURCE  WHAT HAPPENED
                      0            app     ┌ begun                               variant=B
                 250 µs   +250 µs  app     │ requestSent
                1.00 ms   +750 µs  app     ├─▶ POST http://127.0.0.1:4411/login
                3.00 ms  +2.00 ms  server  │   ┌ joined
                3.05 ms    +50 µs  server  │   │ ▶ POST /login
                11.0 ms  +7.95 ms  server  │   │ serverRejected                  LoginError 3
                11.9 ms   +900 µs  server  │   │ ◀ 401                           took 8.85 ms
                12.0 ms   +100 µs  server  │   └ succeeded                       took 9.00 ms
                14.0 ms  +2.00 ms  app     ├─◀ 401                               took 13.0 ms · server 9.00 ms · way there and back 4.00 ms · sent 42 B
                14.1 ms   +100 µs  app     │ responseReceived
                15.0 ms   +900 µs  app     └ failed                              took 15.0 ms · LoginError 3
                """)
    }

    @Test func coloursChangeNothingButColours() throws {
        let record = try Login.record()
        let plain = TransactionText(Redactor.off.redacted(record)).lines(Palette(isColored: false), width: 80)
        let colored = TransactionText(Redactor.off.redacted(record)).lines(Palette(isColored: true), width: 80)
        #expect(colored.map { $0.replacing(#/\u{1B}\[\d+m/#, with: "") } == plain)
        #expect(colored != plain)
    }

    @Test func whatIsOpenIsSaidToBe() throws {
        var record = try Login.record()
        record.summary.outcome = .open
        record.summary.durationMicroseconds = nil
        record.summary.isWaitingForBeginner = true
        record.parts[0].closedMicroseconds = nil
        record.exchanges[0].state = nil
        record.exchanges[0].closedMicroseconds = nil
        record.timeline.removeLast(3)
        let lines = TransactionText(Redactor.off.redacted(record)).lines(Palette(isColored: false), width: 80)
        #expect(lines[0] == "login open")
        #expect(lines.contains("note          The source that began it has not been heard yet."))
        #expect(lines.contains { $0.contains("├─▶ POST") && $0.hasSuffix("no end recorded") })
    }

    /// Breaks when the text doesn't say that the transaction was sampled, and why it was kept.
    @Test func whatWasSampledIsSaidToBe() throws {
        var record = try Login.record()
        record.summary.sampling = Fact.Sampling(perMillion: 100_000, isChosen: false)
        let lines = TransactionText(Redactor.off.redacted(record)).lines(Palette(isColored: false), width: 80)
        #expect(lines.contains("sampled       10 %, not chosen: kept, since it failed"))
    }

    /// Breaks when the text doesn't warn that lists may show another source's part.
    @Test func twoWhoSayThatTheyBeganItAreTold() throws {
        var record = try Login.record()
        func notes() -> [String] {
            let lines = TransactionText(Redactor.off.redacted(record)).lines(Palette(isColored: false), width: 80)
            return lines.filter { $0.hasPrefix("note") }
        }
        #expect(notes().isEmpty)
        record.parts[1].isJoined = false
        #expect(notes().count == 1 && notes()[0].contains("2 sources say that they began it"))
    }

    /// Breaks when hostile or damaged data ends the program of the person who reads it.
    @Test func timesAtTheLimitsOfTheFormatAreShown() throws {
        let times = [Limits.largestInteger, -Limits.largestInteger, 0]
        for (first, second) in times.flatMap({ first in times.map { (first, $0) } }) {
            var record = try Login.record()
            record.clocks = ClockAlignment(
                reference: record.sources[0].id,
                offsets: [
                    ClockAlignment.Offset(
                        source: record.sources[1].id, microseconds: second,
                        uncertaintyMicroseconds: Limits.largestInteger, sampleCount: 3)
                ])
            record.parts[0].openedMicroseconds = first
            record.parts[1].closedMicroseconds = second
            record.exchanges[0].closedMicroseconds = first
            record.summary.durationMicroseconds = second
            for index in record.timeline.indices {
                record.timeline[index].timeMicroseconds = index.isMultiple(of: 2) ? first : second
            }
            for clocks in ShownClocks.allCases {
                let text = TransactionText(Redactor.off.redacted(record), clocks: clocks)
                #expect(text.lines(Palette(isColored: false), width: 80).count > 10)
            }
        }
    }

    @Test func twoSourcesOfOneAppAreNumbered() throws {
        var sources = try Login.record().sources
        sources[1].app = "app"
        let names = SourceNames(sources)
        #expect(sources.map { names.cell($0.id).text } == ["app #1", "app #2"])
    }
}

/// A failed login as recorded by two sources.
private enum Login {
    static let begun: Int64 = 1_772_366_400_000_000

    static func transaction() throws -> GUID { try #require(GUID("01890a5d-ac96-774b-bcce-b302099a8057")) }

    static func record() throws -> TransactionRecord {
        let app = try #require(GUID("01890a5d-0000-7000-8000-00000000000a"))
        let server = try #require(GUID("01890a5d-0000-7000-8000-00000000000b"))
        let exchange = FactID(source: app, sequence: 3)
        let serverExchange = FactID(source: server, sequence: 2)
        let error = RecordedError(domain: "LoginError", code: 3)
        func entry(
            _ source: GUID, _ sequence: Int64, _ kind: TransactionRecord.Kind, _ at: Int64, _ label: String,
            error: RecordedError? = nil,
            attributes: Attributes = [:], exchange: FactID? = nil
        ) -> TransactionRecord.Entry {
            TransactionRecord.Entry(
                id: FactID(source: source, sequence: sequence), kind: kind, part: 1, timeMicroseconds: begun + at,
                label: label,
                error: error, attributes: attributes, exchange: exchange)
        }
        return TransactionRecord(
            summary: TransactionSummary(
                id: try transaction(), useCase: 0, useCaseName: "login", outcome: .failed, begunMicroseconds: begun,
                durationMicroseconds: 15_000, error: error, attributes: ["variant": "B"], sourceCount: 2, eventCount: 3,
                exchangeCount: 2,
                isWaitingForBeginner: false),
            sources: [
                TransactionRecord.Source(
                    id: app, app: "app", appVersion: "1.2", device: "iPhone17,1", os: "iOS", osVersion: "18.1"),
                TransactionRecord.Source(
                    id: server, app: "server", appVersion: "4.0", device: "x86_64", os: "Linux", osVersion: "6.1"),
            ],
            parts: [
                TransactionRecord.Part(
                    id: FactID(source: app, sequence: 1), isJoined: false, cause: nil, openedMicroseconds: begun,
                    closedMicroseconds: begun + 15_000, outcome: .failed, error: error, attributes: ["variant": "B"]),
                TransactionRecord.Part(
                    id: FactID(source: server, sequence: 1), isJoined: true, cause: exchange,
                    openedMicroseconds: begun + 3000,
                    closedMicroseconds: begun + 12_000, outcome: .succeeded, error: nil, attributes: [:]),
            ],
            timeline: [
                entry(app, 1, .begun, 0, "begun", attributes: ["variant": "B"]),
                entry(app, 2, .event, 250, "requestSent"),
                entry(app, 3, .exchangeBegun, 1000, "POST /login", exchange: exchange),
                entry(server, 1, .joined, 3000, "joined"),
                entry(server, 2, .exchangeBegun, 3050, "POST /login", exchange: serverExchange),
                entry(server, 3, .event, 11_000, "serverRejected", error: error),
                entry(server, 4, .exchangeFinished, 11_900, "401", exchange: serverExchange),
                entry(server, 5, .finished, 12_000, "succeeded"),
                entry(app, 4, .exchangeFinished, 14_000, "401", exchange: exchange),
                entry(app, 5, .event, 14_100, "responseReceived"),
                entry(app, 6, .finished, 15_000, "failed", error: error),
            ],
            exchanges: [
                TransactionRecord.Exchange(
                    id: exchange, part: 1, role: .client, method: "POST", url: "http://127.0.0.1:4411/login",
                    state: .completed,
                    status: 401,
                    openedMicroseconds: begun + 1000, firstByteMicroseconds: nil, closedMicroseconds: begun + 14_000,
                    sentByteCount: 42,
                    receivedByteCount: nil, requestHeaderFields: [], responseHeaderFields: [], error: nil),
                TransactionRecord.Exchange(
                    id: serverExchange, part: 1, role: .server, method: "POST", url: "/login", state: .completed,
                    status: 401,
                    openedMicroseconds: begun + 3050, firstByteMicroseconds: nil, closedMicroseconds: begun + 11_900,
                    sentByteCount: nil,
                    receivedByteCount: nil, requestHeaderFields: [], responseHeaderFields: [], error: nil),
            ])
    }
}
#endif
