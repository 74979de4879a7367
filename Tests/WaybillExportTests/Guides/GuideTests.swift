import Foundation
import TestSupport
import Testing
import Waybill
import WaybillExport
import WaybillQueries
import WaybillTesting

/// The samples of ShareAReport.md, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct GuideTests {
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

    @Test func theGuideShowsTheSamplesThatAreTested() throws {
        let here = URL(filePath: #filePath)
        let guide = try String(
            contentsOf: here.deletingLastPathComponent().appending(
                path: "../../../Sources/Waybill/Waybill.docc/ShareAReport.md"
            )
            .standardizedFileURL, encoding: .utf8)
        let tested = Set(
            try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        let blocks = guide.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        #expect(blocks.count == 2)
        for line in blocks.joined(separator: "\n").split(separator: "\n") {
            #expect(tested.contains(String(line)), "\(line)")
        }
    }
}
