import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

/// The sample of WhereTheTimeGoes.md about one transaction, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct ClocksGuideTests {
    @Test func theSampleReadsATransactionOfOneSource() async throws {
        let transactions = TransactionManager.testing()
        let login = transactions.begin(useCase: 0)
        login.finish()
        let id = login.id
        guard let record = try await transactions.transaction(id) else { return }
        for entry in record.aligned.timeline { print(entry.time, entry.label) }
        for offset in record.clocks?.offsets ?? [] { print(offset.source, offset.duration, offset.uncertainty) }
        #expect(record.aligned == record && record.clocks == nil)
    }

    @Test func theGuideShowsTheSampleThatIsTested() throws {
        let here = URL(filePath: #filePath)
        let guide = try String(
            contentsOf: here.deletingLastPathComponent().appending(
                path: "../../../Sources/Waybill/Waybill.docc/WhereTheTimeGoes.md"
            )
            .standardizedFileURL, encoding: .utf8)
        let section = try #require(guide.components(separatedBy: "## One transaction").last)
        let sample = try #require(
            section.components(separatedBy: "```swift\n").dropFirst().first?.components(separatedBy: "\n```").first)
        let tested = try String(contentsOf: here, encoding: .utf8)
        for line in sample.split(separator: "\n") where line.hasPrefix("for") {
            #expect(tested.contains(line), "\(line)")
        }
        #expect(sample.split(separator: "\n").count == 3)
    }
}
