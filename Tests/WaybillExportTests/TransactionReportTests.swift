import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct TransactionReportTests {
    private static func html(_ report: TransactionReport) -> String { String(decoding: report.html, as: UTF8.self) }

    /// Returns the login of client and server as a store returns it.
    private func login() throws -> TransactionRecord {
        let history = LoginHistory()
        let place = ResolvedLocation.memory(name: GUID().description)
        let store = try Store(place)
        for set in [history.clientSet(), history.serverSet()] {
            _ = try store.ingest(set, receivedAt: LoginHistory.begun)
        }
        return try #require(
            try StoreReader(place).transaction(history.transaction, now: LoginHistory.begun + 1_000_000))
    }

    @Test func aReportTellsWhatHappenedWithoutScript() throws {
        var record = try login()
        record.summary.sampling = Fact.Sampling(perMillion: 100_000, isChosen: false)
        var report = TransactionReport(records: [record], made: Date(microseconds: LoginHistory.begun))
        report.timeZone = .gmt
        let html = Self.html(report)
        for text in [
            "<code>\(record.summary.id.supportCode)</code>", record.summary.id.description, "LoginError 3",
            "requestSent", "serverRejected",
            "variant=B", "iPhone17,1", "2026-03-01", "12:00:00.000", "curl 'https://api.example.com/login'",
            "13.0 ms · ", "sent 42 B", "Sampled: 10 %, not chosen: kept, since it failed",
            "server 9.00 ms", "way there and back 4.00 ms",
        ] {
            #expect(html.contains(text), "\(text)")
        }
    }

    /// Breaks when a user's words are missing, or their markup becomes part of the page.
    @Test func theWordsOfAUserAreShownAsText() throws {
        var record = try login()
        record.timeline[1].label = RecordedName.feedback
        record.timeline[1].attributes = ["feedback": "Card <b>refused</b>"]
        let html = Self.html(TransactionReport(records: [record]))
        #expect(html.contains("Feedback: <q>Card &lt;b&gt;refused&lt;/b&gt;</q>"))
    }

    @Test func aCodeWithTwoNamesIsToldWithTheVersions() throws {
        let place = ResolvedLocation.memory(name: GUID().description)
        let store = try Store(place)
        for (version, name) in [("1.2", "login"), ("1.3", "signIn")] {
            var set = LoginHistory().clientSet()
            set.sources[0].source.appVersion = version
            set.sources[0].names = [RecordedName(useCase: 0, name: name)]
            _ = try store.ingest(set, receivedAt: LoginHistory.begun)
        }
        let report = try TransactionReport(
            StoreReader(place), matching: TransactionFilter(), limit: 10, now: LoginHistory.begun + 1_000_000)
        #expect(Self.html(report).contains("Use case 0 has several names: login (app 1.2), signIn (app 1.3)."))
    }

    @Test func aReportOfTheNewestSaysThatThereAreMore() throws {
        let place = ResolvedLocation.memory(name: GUID().description)
        let store = try Store(place)
        for _ in 0..<3 {
            _ = try store.ingest(LoginHistory().clientSet(), receivedAt: LoginHistory.begun)
        }
        let report = try TransactionReport(
            StoreReader(place), matching: TransactionFilter(), limit: 2, now: LoginHistory.begun + 1_000_000)
        #expect(report.records.count == 2)
        #expect(Self.html(report).contains("These are the newest 2; there are more."))
    }

    @Test func theNewestComesFirstWhateverOrderIsGiven() throws {
        let records = HostileText.records
        let html = Self.html(TransactionReport(records: records.shuffled()))
        let places = records.map { html.range(of: "<code>\($0.summary.id.supportCode)</code>")?.lowerBound }
        #expect(!places.contains(nil))
        #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted(by: >))
    }

    @Test func everyStringIsRedactedAgain() {
        let secrets = [
            "Bearer abc.def-123", "password=hunter2", "https://ada:hunter2@h/", "4111 1111 1111 1111",
            "Cookie: hunter2",
        ]
        for secret in secrets {
            var record = HostileText.records[0]
            record.summary.useCaseName = secret
            record.summary.error?.text = secret
            record.summary.attributes = ["note": .string(secret), "api-key": "abc.def-123"]
            record.sources[0].app = secret
            record.sources[0].device = secret
            record.parts[0].attributes = ["note": .string(secret)]
            for index in record.timeline.indices {
                record.timeline[index].label = secret
                record.timeline[index].error?.domain = secret
            }
            record.exchanges[0].method = "GET"
            record.exchanges[0].url = "https://ada:hunter2@host/?token=abc.def-123&q=\(secret)"
            record.exchanges[0].requestHeaderFields = [
                HeaderField(name: "Authorization", value: "abc.def-123"),
                HeaderField(name: "X", value: secret),
            ]
            var report = TransactionReport(records: [record])
            report.title = secret
            report.selection = secret
            report.notes = [secret]
            let html = Self.html(report)
            for trace in ["abc.def-123", "hunter2", "4111"] { #expect(!html.contains(trace), "\(secret): \(trace)") }
            #expect(html.contains("[redacted]"))
        }
    }

    @Test func namesThatTheAppAddedAreSecretToo() {
        var record = HostileText.records[0]
        record.summary.attributes = ["member": "M-1815"]
        var report = TransactionReport(records: [record])
        #expect(Self.html(report).contains("M-1815"))
        report.additionalSecretNames = ["member"]
        #expect(!Self.html(report).contains("M-1815"))
    }

    @Test func urlsKeepWhatIsNoSecret() {
        let redactor = Redactor()
        for url in ["https://h:8080/a?b=c", "localhost:8080/login", "/login?page=1", "h/a%20b"] {
            var record = HostileText.records[0]
            record.exchanges[0].url = url
            #expect(record.redacted(by: redactor).exchanges[0].url == url)
        }
    }

    @Test func partsThatCausedEachOtherAreDrawnOnce() {
        var record = HostileText.records[0]
        record.parts[0].cause = record.exchanges[0].id
        let bars = Waterfall(ShownRecord(record)).bars
        #expect(bars.map(\.kind) == [.part, .exchange])
    }

    @Test func whatARequestCausedStandsBelowIt() throws {
        let record = try login()
        let waterfall = Waterfall(ShownRecord(record))
        #expect(waterfall.bars.map(\.label) == ["app", "POST /login", "server"])
        #expect(waterfall.bars.map(\.depth) == [0, 1, 2])
        #expect(waterfall.bars.map(\.hasFailed) == [true, true, false])
        #expect(waterfall.ticks == [5000, 10_000])
    }

    /// Breaks when a WebSocket that stays open for an hour is a bar without details.
    @Test func theMessagesOfAWebSocketStandOnItsBar() throws {
        var record = try login()
        let opened = record.exchanges[0].openedMicroseconds
        let times = [opened + 10, opened + 20]
        record.exchanges[0].transfer.webSocket = Fact.WebSocket(
            sentMessageCount: 1, receivedMessageCount: 1,
            messages: times.map { .init(atMicroseconds: $0, isSent: $0 == times[0], isText: true, byteCount: 12) })
        var waterfall = Waterfall(ShownRecord(record))
        waterfall.address = { $0 }
        #expect(waterfall.bars[1].events.map(\.time) == times)
        #expect(waterfall.figure().text.contains("<title>received 12 B</title>"))
    }

    @Test func thePictureOfAMomentHasALength() {
        var record = HostileText.records[0]
        record.timeline = []
        record.exchanges = []
        #expect(Waterfall(ShownRecord(record)).span.count == 2)
        #expect(!Self.html(TransactionReport(records: [record])).isEmpty)
    }

    @Test(arguments: [
        (9_999, "9999", "µs"), (99_999, "100.00", "ms"), (1_234_567, "1234.6", "ms"), (59_000_000, "59.000", "s"),
        (7_200_000_000, "2 h 0 min", nil),
    ])
    func timesOfATableShareAUnit(_ time: Int64, _ text: String, _ unit: String?) {
        let scale = TimeScale(longest: time)
        #expect(scale.text(time) == text)
        #expect(scale.unit == unit)
    }

    @Test func timesAreShownInTheZoneOfTheReport() throws {
        let zone = try #require(TimeZone(secondsFromGMT: -12_600))
        let time = WallTime(LoginHistory.begun + 7, in: zone)
        #expect((time.date, time.time, time.offset) == ("2026-03-01", "08:30:00.000", "-03:30"))
        #expect(WallTime(-1, in: .gmt).date + WallTime(-1, in: .gmt).time == "1969-12-3123:59:59.999")
    }
}
