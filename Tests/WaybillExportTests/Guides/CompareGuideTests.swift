import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 1
}

/// The samples of CompareTwoGroups.md, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct CompareGuideTests {
    @Test func theSamplesDoWhatTheySay() async throws {
        let clock = ManualClock()
        let transactions = TransactionManager.testing(clock: clock)
        for run in 0..<200 {
            let login = transactions.begin(Login.self, attributes: ["variant": .string(run % 2 == 0 ? "A" : "B")])
            clock.advance(by: .milliseconds(run % 2 == 0 ? 10 : 30))
            login.finish()
        }
        let logins = TransactionFilter(useCase: Login.self)
        let hourAgo = Date(timeIntervalSince1970: 0)
        var printed: [String] = []
        func print(_ items: any CustomStringConvertible...) {
            printed.append(items.map(\.description).joined(separator: " "))
        }

        let variants = CompareQuestion(filter: logins, groups: .values(of: .attribute("variant"), "A", "B"))
        for sentence in try await transactions.answer(variants).sentences { print(sentence) }
        #expect(printed.count == 6)
        #expect(
            printed[3]
                == "The p50 of “B” is longer than that of “A”: 30.0 ms against 10.0 ms, a difference of +20.0 ms (95 % interval +20.0 ms to +20.0 ms). That is more than noise."
        )

        let lastHour = ExchangeFilter([.since(hourAgo)])
        let answer = try await transactions.answer(NetworkQuestion(filter: lastHour))
        for group in answer.groups {
            print(
                group.host ?? "-", group.path ?? "-", group.count, group.whole.p99 ?? .zero, group.failed.p99 ?? .zero)
        }
        #expect(answer.whyEmpty == "There is no exchange here.")
    }

    @Test func theGuideShowsTheSamplesThatAreTested() throws {
        let here = URL(filePath: #filePath)
        let guide = try String(
            contentsOf: here.deletingLastPathComponent().appending(
                path: "../../../Sources/Waybill/Waybill.docc/CompareTwoGroups.md"
            )
            .standardizedFileURL, encoding: .utf8)
        // Without spaces: a line may be broken otherwise there.
        let tested = try String(contentsOf: here, encoding: .utf8).filter { !$0.isWhitespace }
        let blocks = guide.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        #expect(blocks.count == 2)
        for line in blocks.joined(separator: "\n").split(separator: "\n") {
            #expect(tested.contains(line.filter { !$0.isWhitespace }), "\(line)")
        }
    }
}
