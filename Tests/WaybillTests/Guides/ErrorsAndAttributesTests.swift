import Foundation
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

private enum Checkout: Int, UseCase {
    static let code = 4
    case itemAdded = 0
    case paymentTried = 1
}

private struct PaymentError: Error {
    var status: Int
    var isFinal: Bool
}

extension PaymentError: TransactionError {
    static var recordedDomain: String { "payment" }
    var recordedCode: Int { status }
    var recordedName: String? { isFinal ? "declined" : "postponed" }
}

private struct Money {
    var amount: Decimal
    var currency: String
}

extension Money: AttributeConvertible {
    var attributeValue: AttributeValue? { .string("\(amount) \(currency)") }
}

/// The snippets of the guide on errors and attributes, compiled and run as they stand there.
@Suite(.timeLimit(.minutes(5))) struct ErrorsAndAttributesTests {
    struct Coupon { var code: String }

    enum Plan: String, AttributeConvertible { case free, paid }

    let transactions = TransactionManager.testing()

    @Test func anErrorIsRecorded() throws {
        enum CheckoutError: Error {
            case soldOut
            case rejected(reason: String)
            case network(URLError)
        }

        let checkout = transactions.begin(Checkout.self)
        checkout.log(.paymentTried, error: CheckoutError.rejected(reason: "limit of card reached"))
        checkout.finish(.failed, error: CheckoutError.network(URLError(.timedOut)))
        let record = try #require(transactions.transactions(Checkout.self).first)
        let tried = try #require(record.timeline.first { $0.kind == .event }?.error)
        #expect(tried.name == "rejected" && tried.code == 0 && tried.text == nil)
        let outcome = try #require(record.summary.error)
        #expect(outcome.name == "network" && outcome.code == 1)
        #expect(outcome.underlying == [.init(domain: "NSURLErrorDomain", code: -1001)])
    }

    @Test func aTypeSaysWhatIsRecorded() throws {
        transactions.begin(Checkout.self).finish(.failed, error: PaymentError(status: 51, isFinal: true))
        #expect(
            try transactions.transactions(Checkout.self).first?.summary.error
                == RecordedError(domain: "payment", code: 51, name: "declined"))
    }

    @Test func variablesAreAttributes() throws {
        let (sku, attempt, price, coupon) = ("A-1", 2, 9.5, nil as Coupon?)
        let checkout = transactions.begin(Checkout.self)
        checkout.log(.itemAdded, attributes: ["sku": sku, "attempt": attempt, "price": price, "coupon": coupon?.code])
        let labels = ["color": "red"]
        var attributes = Attributes(labels)  // [String: String]
        attributes["attempt"] = attempt
        checkout.log(.itemAdded, attributes)
        checkout.log(.itemAdded, attributes: ["plan": Plan.paid, "sum": Money(amount: 3, currency: "EUR")])
        let record = try #require(transactions.transactions(Checkout.self).first)
        #expect(
            record.timeline.filter { $0.kind == .event }.map(\.attributes)
                == [
                    ["sku": "A-1", "attempt": 2, "price": 9.5], ["color": "red", "attempt": 2],
                    ["plan": "paid", "sum": "3 EUR"],
                ])
    }

    /// Broken, the guide would show what nobody has compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        let here = URL(filePath: #filePath)
        let guide = try String(
            contentsOf: here.appending(path: "../../../../Sources/Waybill/Waybill.docc/ErrorsAndAttributes.md")
                .standardizedFileURL, encoding: .utf8)
        let tested = Set(
            try String(contentsOf: here, encoding: .utf8).split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            })
        let snippets = guide.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        #expect(snippets.count == 5)
        for line in snippets.flatMap({ $0.split(separator: "\n").dropFirst() }) {
            let code = line.trimmingCharacters(in: .whitespaces)
            #expect(tested.contains(code), "\(code)")
        }
    }
}
