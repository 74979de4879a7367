import Foundation
import Testing
import WaybillCore
import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct JSONCodersTests {
    static let summary = TransactionSummary(
        id: .fixed(1), useCase: 0, useCaseName: "login", outcome: .timedOut, begunMicroseconds: 5,
        durationMicroseconds: nil,
        error: RecordedError(code: 401), attributes: ["useCase": 1, "at_us": "x"], sourceCount: 2, eventCount: 3,
        exchangeCount: 1,
        isWaitingForBeginner: true)

    @Test func recordsAreWrittenWithTheirUnitsInTheNames() throws {
        let json = String(decoding: try JSONEncoder.waybill().encode(Self.summary), as: UTF8.self)
        #expect(
            json
                == #"{"attributes":{"at_us":"x","useCase":1},"begun_us":5,"error":{"code":401,"domain":""},"event_count":3,"exchange_count":1,"#
                + #""id":"0199f3a2-5c00-7000-8000-000000000001","is_waiting_for_beginner":true,"outcome":"timed_out","source_count":2,"support_code":"0000-0001","use_case":0,"use_case_name":"login"}"#
        )
    }

    @Test func recordsComeBackAsTheyWere() throws {
        let page = RecordPage(rows: [Self.summary], next: "x")
        #expect(
            try JSONDecoder.waybill().decode(
                RecordPage<TransactionSummary>.self, from: JSONEncoder.waybill().encode(page)
            ).rows
                == page.rows)
        let exchange = TransactionRecord.Exchange(
            id: FactID(source: .fixed(2), sequence: 7), part: 0, role: .server, method: "GET", url: "/",
            state: .cancelled, status: nil,
            openedMicroseconds: 1, firstByteMicroseconds: 2, closedMicroseconds: 3, sentByteCount: 4,
            receivedByteCount: nil,
            requestHeaderFields: [.init(name: "A", value: "b")], responseHeaderFields: [], error: nil)
        let record = TransactionRecord(
            summary: Self.summary, sources: [], parts: [], timeline: [], exchanges: [exchange])
        let data = try JSONEncoder.waybill().encode(record)
        #expect(try JSONDecoder.waybill().decode(TransactionRecord.self, from: data) == record)
        let text = String(decoding: data, as: UTF8.self)
        #expect(
            text.contains(#""first_byte_us":2"#) && text.contains(#""role":"server""#)
                && text.contains(#""state":"cancelled""#))
    }

    @Test(arguments: TransactionOutcome.allCases) func outcomesAreWords(outcome: TransactionOutcome) throws {
        let data = try JSONEncoder.waybill().encode([outcome])
        #expect(String(decoding: data, as: UTF8.self) == "[\"\(outcome.name)\"]")
        #expect(try JSONDecoder.waybill().decode([TransactionOutcome].self, from: data) == [outcome])
        #expect(TransactionOutcome(name: outcome.name) == outcome)
    }

    @Test func aWordThatIsNotKnownIsAnError() {
        #expect(throws: DecodingError.self) {
            try JSONDecoder.waybill().decode([TransactionOutcome].self, from: Data(#"["great"]"#.utf8))
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder.waybill().decode([ExchangeRole].self, from: Data("[0]".utf8))
        }
    }

    @Test func numbersThatJSONLacksDoNotEndAnAnswer() throws {
        var summary = Self.summary
        summary.attributes = ["a": .double(.nan)]
        let data = try JSONEncoder.waybill().encode(summary)
        #expect(try JSONDecoder.waybill().decode(TransactionSummary.self, from: data).attributes == ["a": "nan"])
    }
}
