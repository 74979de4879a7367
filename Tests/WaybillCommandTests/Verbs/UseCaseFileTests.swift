#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore

/// The files that use case pages offer.
@Suite(.timeLimit(.minutes(5))) struct UseCaseFileTests {
    @Test(arguments: [
        ("use-cases.csv?since=2026-01-01", ["summary", "--since", "2026-01-01"]),
        ("use-cases/login/summary.csv", ["summary", "--use-case", "login"]),
        (
            "use-cases/login/duration.csv?from=requestSent",
            ["duration", "--use-case", "login", "--from", "requestSent", "--by", "version", "--every", "1m"]
        ),
        (
            "use-cases/login/funnel.csv?step=%5E&step=requestSent&step=%24&within=1h",
            ["funnel", "--use-case", "login", "--steps", "^,requestSent,$", "--within", "1h"]
        ),
        ("use-cases/login/dropoff.csv?outcome=failed", ["dropoff", "--use-case", "login", "--outcome", "failed"]),
        (
            "use-cases/login/legs.csv?filter=attribute:variant%3DB",
            ["legs", "--use-case", "login", "attribute:variant=B"]
        ),
        (
            "use-cases/login/compare.csv?a=2026-03-01..2026-03-02&b=2026-03-02..2026-03-03",
            ["compare", "--use-case", "login", "--a", "2026-03-01..2026-03-02", "--b", "2026-03-02..2026-03-03"]
        ),
    ])
    func aFileIsWhatTheCommandLinePrints(path: String, question: [String]) async throws {
        let folder = try TemporaryDirectory()
        let login = LoginHistory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
        let serve = try await ServeProcess.start(folder)
        let printed = try await Command.waybill(
            ["ask", question[0], folder.url.path] + question.dropFirst() + ["--csv"]
        ).output
        let file = try await RawClient.send("GET", "/\(path)", to: serve.port)
        #expect(file.status == 200)
        #expect(file.text == printed)
        #expect(printed.split(separator: "\r\n").count > 1)
    }
}
#endif
