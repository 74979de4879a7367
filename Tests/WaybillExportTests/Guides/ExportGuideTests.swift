import Foundation
import TestSupport
import Testing
import Waybill
import WaybillExport
import WaybillQueries
import WaybillTesting

/// The samples of Export.md about reports, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct ExportGuideTests {
    @Test func theSamplesDoWhatTheySay() async throws {
        let temporary = try TemporaryDirectory()
        let folder = temporary.url
        let transactions = TransactionManager.testing()
        let good = transactions.begin(useCase: 0)
        good.finish()
        let bad = transactions.begin(useCase: 0)
        bad.finish(.failed)

        let file = try await transactions.report(last: .seconds(900))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try String(contentsOf: file, encoding: .utf8).contains("\(good.id.supportCode)"))

        let failed = TransactionFilter([.outcome([.failed, .timedOut])])
        let failures = try await transactions.report(matching: failed, to: folder.appending(path: "failures.html"))
        let html = try String(contentsOf: failures, encoding: .utf8)
        #expect(html.contains("\(bad.id.supportCode)"))
        #expect(!html.contains("\(good.id.supportCode)"))
    }

    /// Breaks when the guide shows code that was never compiled. The tests of exports contain the samples of exports.
    @Test func theGuideShowsTheSamplesThatAreTested() throws {
        let shown = try GuideSamples("Export.md").samples.filter { $0.contains("transactions.report") }
        #expect(shown.count == 2)
        #expect(try GuideSamples.lines(of: shown, notIn: URL(filePath: #filePath)) == [])
    }
}
