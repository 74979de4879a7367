import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

private enum Checkout: Int, UseCase {
    static let code = 7
    case paid = 0
}

private struct Account {
    var id = "u-4711"
    var tenant = "acme"
}

private struct Coupon { var code = "SUMMER" }

/// The snippets of the guide on context, as they stand there.
@Suite(.timeLimit(.minutes(5))) struct ContextAndAttributesTests {
    private let transactions = TransactionManager.testing()

    @Test func whatIsTrueFromNowOn() throws {
        let account = Account()
        transactions.context.setUser(account.id)  // hashed
        transactions.context.set(account.tenant, forKey: "tenant")
        transactions.context.set("beta", forKey: "channel", remembered: true)  // later launches have it, too
        transactions.context.remove("tenant")
        #expect(transactions.context.attributes.keys.sorted() == ["channel", "user"])
    }

    @Test func afterTheBeginning() throws {
        let (coupon, basket, isExpress) = (Coupon(), [1, 2], true)
        let checkout = transactions.begin(Checkout.self)
        checkout.set(coupon.code, forKey: "coupon")
        checkout.set(["items": basket.count, "express": isExpress])
        checkout.set(nil, forKey: "coupon")
        let record = try #require(transactions.transactions(Checkout.self).first)
        #expect(record.summary.attributes == ["items": 2, "express": true])
    }

    /// Broken, the guide would show what nobody has compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        let here = URL(filePath: #filePath)
        let guide = try String(
            contentsOf: here.appending(path: "../../../../Sources/Waybill/Waybill.docc/ContextAndAttributes.md")
                .standardizedFileURL, encoding: .utf8)
        let tested = Set(
            try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        let snippets = guide.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            .filter { $0.hasPrefix("swift") }
        #expect(snippets.count == 2)
        for line in snippets.flatMap({ $0.split(separator: "\n").dropFirst() }) {
            let code = line.trimmingCharacters(in: .whitespaces)
            #expect(tested.contains(code), "\(code)")
        }
    }
}
