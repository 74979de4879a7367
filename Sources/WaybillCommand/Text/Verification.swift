#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// What `waybill verify` has found.
struct Verification: Encodable {
    /// Sentences, each saying what is wrong; empty: nothing.
    var problems: [String] = []
    /// What is worth knowing, and no fault.
    var remarks: [String] = []
    /// nil where they were not counted.
    var transactionCount: Int?
    var factCount: Int64?
    var sources: [Source] = []
    /// Sums of the sources that were folded; only of a store.
    var totals: [AppTotal]?
    /// How large the tables are; nil where that cannot be told.
    var tables: [StoreVerification.TableSize]?

    /// One source's ledger, and what is missing of it.
    struct Source: Encodable {
        var id: GUID
        var ledger: Ledger?
        var gaps: [SourceRecord.Gap]
    }

    var isSound: Bool { problems.isEmpty }

    /// A store, as far as it could be recounted.
    init(_ store: StoreVerification) {
        problems = store.problems
        remarks = store.remarks
        transactionCount = store.transactionCount
        factCount = store.factCount
        sources = store.sources.map { Source(id: $0.id, ledger: $0.ledger, gaps: $0.gaps) }
        totals = store.totals.isEmpty ? nil : store.totals
        tables = store.tables.isEmpty ? nil : store.tables
    }

    /// The bytes of a set.
    init(set bytes: [UInt8]) {
        do throws(SetDecodingFailure) {
            let decoded = try TransactionSet.decode(bytes)
            factCount = Int64(decoded.set.factCount)
            sources = decoded.set.sources.map { Source(id: $0.source.id, ledger: nil, gaps: []) }
            problems = decoded.rejections.map(Words.rejection)
        } catch {
            problems = ["This is no transaction set: \(error)."]
        }
    }
}

extension Verification: Redactable {
    func redacted(by redactor: Redactor) -> Self {
        var verification = self
        verification.problems = problems.redacted(by: redactor)
        verification.remarks = remarks.redacted(by: redactor)
        verification.totals = totals?.map { total in
            var total = total
            total.app = redactor.text(total.app)
            return total
        }
        return verification
    }
}
#endif
