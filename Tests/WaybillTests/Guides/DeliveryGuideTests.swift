import Foundation
import TestSupport
import Testing
import WaybillTesting

@testable import Waybill

/// The guide on delivery: its table is the policy, and its snippets compile.
struct DeliveryGuideTests {
    private let guide: String

    init() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../../Sources/Waybill/Waybill.docc/Delivery.md").standardizedFileURL
        guide = try String(contentsOf: file, encoding: .utf8)
    }

    /// Broken, the guide would promise what the library does not do.
    @Test func theTableHasEveryRowOfThePolicyInItsWords() {
        let rows = guide.split(separator: "\n").filter { $0.hasPrefix("| ") }
        for policy in AnswerPolicy.rows {
            let row = rows.first { $0.contains("*\(policy.sentence)*") }
            #expect(row != nil, "\(policy.sentence)")
            switch policy.remedy {
            case .retry: #expect(row?.contains("a pause") == true, "\(policy.sentence)")
            case .sendLess: #expect(row?.contains("half as many") == true)
            case .waitForNewDelivery: #expect(row?.contains("set anew") == true)
            }
        }
        let bounds = [1, 1_000].map { Backoff().bound(afterFailures: $0) }
        #expect(bounds == [.seconds(10), .seconds(3_600)] && guide.contains("10 seconds after the first failure"))
    }

    @Test func theSnippetsDoWhatTheGuideSays() async throws {
        let folder = try TemporaryDirectory()
        var options = TransactionManager.Options()
        options.diagnostics = { _ in }
        options.canFlush = { true }
        let archive = InMemoryTransport()
        let transactions = TransactionManager.testing(options: options)
        transactions.delivery = .transport(TeeTransport(InMemoryTransport(), archive))
        transactions.perform(Login.self) { _ in }
        #expect(await transactions.flush().delivered == 2)
        #expect(await transactions.flush(deadline: .seconds(5)).isComplete)
        for fact in try await transactions.quarantined() { print(fact.id.sequence, fact.reason) }
        try await transactions.sendQuarantinedAgain()
        try await transactions.exportQuarantined(to: folder.url)
        #expect(archive.sets.count == 1)
    }
}
