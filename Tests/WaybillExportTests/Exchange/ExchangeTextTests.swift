import TestSupport
import Testing
import WaybillCore
import WaybillStore

@testable import WaybillExport
@testable import WaybillQueries

@Suite(.timeLimit(.minutes(5))) struct ExchangeTextTests {
    @Test func anExchangeIsAPageToRead() {
        let bodies = ExchangeBodies(
            request: ExchangeBody.whole(Array(#"{"name":"ada"}"#.utf8), "application/json"),
            response: ExchangeBody(contentType: nil, bytes: [0xFF, 0, 1], byteCount: 2000, omission: .limit))
        #expect(
            ExchangeText(Redactor.off.redacted(SampleExchange.record()), bodies: Redactor.off.redacted(bodies)).text
                == """
                POST https://api.example.com/login?page=1&q=a%20b

                state        200, completed after 100.0 ms
                opened       2026-03-01 12:00:00.000 UTC
                sizes        sent 17 B · received 2.0 kB, 310 B on the wire
                connection   HTTP/2 · new
                transaction  login \(SampleExchange.transaction.supportCode)  \(SampleExchange.transaction)
                source       shop 4.2
                exchange     \(SampleExchange.source.supportCode):3  \(SampleExchange.source):3

                TIME
                lookup    2.00 ms  █
                connect   8.00 ms  ███
                TLS       20.0 ms     ████████
                send       500 µs             █
                wait      49.5 ms              ███████████████████
                receive   20.0 ms                                 █████████

                REQUEST
                Content-Type: application/json

                {
                  "name": "ada"
                }

                RESPONSE
                Content-Type: application/json

                (3 B that are no text)
                (The first 3 B of 2.0 kB were kept.)
                """)
    }

    @Test func whatIsNotKnownIsNotThere() {
        let record = SampleExchange.record(.failed) {
            ($0.state, $0.status, $0.firstByteMicroseconds, $0.sentByteCount, $0.receivedByteCount) = (
                .failed, nil, nil, nil, nil
            )
            $0.transfer = Fact.Transfer(
                redirects: [Fact.Redirect(status: 301, url: "/x", atMicroseconds: SampleExchange.opened + 900)],
                rule: "r")
            ($0.requestHeaderFields, $0.responseHeaderFields) = ([], [])
            $0.error = RecordedError(domain: "NSURLErrorDomain", code: -1001)
        }
        #expect(
            ExchangeText(Redactor.off.redacted(record), bodies: Redactor.off.redacted(ExchangeBodies())).text.split(
                separator: "\n"
            )
            .dropFirst().prefix(5).joined(separator: "\n") == """
                state        failed after 100.0 ms
                error        NSURLErrorDomain -1001
                opened       2026-03-01 12:00:00.000 UTC
                redirect     301 after 900 µs to /x
                rule         r
                """)
    }
}
