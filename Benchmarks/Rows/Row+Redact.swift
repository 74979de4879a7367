import Foundation
import WaybillCore
import WaybillStore

extension Row {
    /// What redaction costs a collector: sets of 2,000 facts decoded, redacted and added, without syncs, beside which
    /// it would seem to cost less.
    static let redact = Row("redact", unit: "ns/fact", against: "without redaction") {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-bench-\(GUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let redacting = try Store(.folder(folder.appending(path: "redacting")))
        let bare = try Store(.folder(folder.appending(path: "bare")))
        let (redactor, setCount, loginCount) = (Redactor(), 8, 166)
        let factCount = setCount * SampleSet.logins(loginCount).factCount
        var bodies: [[UInt8]] = []

        func add(to store: Store, _ redacted: (DecodedSet) -> DecodedSet = { $0 }) throws -> Int {
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
}
