import Foundation
import TestSupport
import WaybillCore
import WaybillStore

extension Row {
    /// The cost of redaction for a collector: sets of 2,000 facts are decoded, redacted and added, without syncs, which
    /// would make the cost look smaller.
    static let redact = Row("redact", unit: "ns/fact", against: "without redaction") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let redacting = try Store(.folder(folder.appending(path: "redacting")))
        let bare = try Store(.folder(folder.appending(path: "bare")))
        let (redactor, setCount, loginCount) = (Redactor(), 8, 166)
        let factCount = setCount * SampleSet.logins(loginCount).factCount
        var bodies: [[UInt8]] = []

        func add(to store: Store, _ redacted: (TransactionSet) -> TransactionSet = { $0 }) throws -> Int {
            try bodies.reduce(0) { count, body in
                let set = redacted(try TransactionSet.decode(body))
                return try count + store.ingest(set, receivedAt: 1_760_518_860_000_000).acceptedCount
            }
        }
        return try Comparison.nanoseconds(operations: factCount) {
            bodies = (0..<setCount).map { _ in SampleSet.logins(loginCount).encoded() }
        } of: {
            try add(to: redacting) { redactor.redacted($0).value }
        } against: {
            try add(to: bare)
        }
    }

    /// The share of secrets in the corpus that is hidden, and the share of harmless values that is not hidden.
    static let redactRates = Row("redact", unit: "% hidden, % untouched", against: "harmless") {
        let (secrets, harmless) = (
            RedactionCorpus.attempts(Redactor()), RedactionCorpus.harmlessAttempts(Redactor())
        )
        func rate(_ count: Int, _ all: Int) -> Double { 100 * Double(count) / Double(all) }
        return Comparison(
            value: rate(secrets.count { !$0.isLeak }, secrets.count),
            baseline: rate(harmless.count { $0.isLeak }, harmless.count))
    }

    /// The cost of looking for secrets in a log without any, compared with looking at each byte once, which is the
    /// least that any pass costs. A pass that looks for less would be a different thing, and is not kept for measuring.
    static let redactText = Row("redact", unit: "ns/KB of text", against: "each byte once") {
        let line =
            "12:00:07 INFO order 42 of 7 was shipped to Rome in 3 parcels: weight 12.5 kg, carrier=blue, page /a/b\n"
        return try costs(of: line) { redactor, text in redactor.text(text).utf8.count }
    }

    /// Like ``redactText``, for JSON that is read as a body.
    static let redactBody = Row("redact", unit: "ns/KB of JSON", against: "each byte once") {
        let line =
            #"{"id":42,"name":"keyboard","price":12.5,"tags":["a","b"],"author":{"city":"Rome"},"page":"/a/b"}"# + "\n"
        return try costs(of: line) { redactor, text in
            redactor.body(Array(text.utf8), contentType: "application/json").count
        }
    }

    private static func costs(of line: String, _ redact: (Redactor, String) throws -> Int) throws -> Comparison {
        let (redactor, kilobytes) = (Redactor(), 256)
        let text = String(repeating: line, count: (kilobytes << 10) / line.utf8.count)
        return try Comparison.nanoseconds(operations: kilobytes) {
            try redact(redactor, text)
        } against: {
            text.utf8.reduce(0) { $0 &+ Int($1) }
        }
    }
}
