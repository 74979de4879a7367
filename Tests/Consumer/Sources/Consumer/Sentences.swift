import Foundation
import Waybill

// The code that people write first. It is compiled, but never called.

enum Upload: String, UseCase {
    case initiated, requestSent = "request sent"
}

enum ShopError: Error {
    case offline(URLError)
}

func sentences(_ transactions: TransactionManager, labels: [String: String], attempt: Int, took: Duration) async throws
{
    let upload = transactions.begin(Upload.self, attributes: Attributes(labels))
    upload.log(.requestSent, ["attempt": attempt, "took": took])
    upload.log(.initiated, at: Date(timeIntervalSinceNow: -1))
    upload.record(.initiated, from: .distantPast, to: Date())
    var attributes = Attributes()
    attributes["attempt"] = attempt
    attributes["took"] = took
    attributes["price"] = 19.99 as Decimal
    upload.log(.requestSent, attributes: attributes)
    upload.link(to: upload.id, as: "retry of")
    upload.finish(error: ShopError.offline(URLError(.cancelled)))
    transactions.begin(Login.self).finish(code: 503)
    transactions.record(Upload.self, from: .distantPast, to: Date(), error: nil)
    try await transactions.perform(Upload.self) { _ in try await Task.sleep(for: took) }
    _ = Upload.current?.log(.requestSent)
}
