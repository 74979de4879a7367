import WaybillCore
import WaybillReading

/// The pages of an HTTP Archive: one for each transaction, which its entries refer to.
struct HARPages {
    private var known: Set<GUID> = []
    private var writer = JSONWriter()

    init() { writer.beginArray() }

    /// Adds the page of an exchange's transaction, unless it is there already. An exchange outside any transaction has
    /// no page.
    mutating func add(_ record: ExchangeRecord) {
        guard let transaction = record.transaction, known.insert(transaction).inserted else { return }
        writer.beginObject()
        writer.member("startedDateTime", Words.iso8601(record.exchange.openedMicroseconds))
        writer.member("id", transaction)
        writer.member("title", "\(record.useCaseName ?? "transaction") \(transaction.supportCode)")
        writer.key("pageTimings")
        writer.beginObject()
        writer.member("onContentLoad", -1)
        writer.member("onLoad", -1)
        writer.endObject()
        writer.endObject()
    }

    /// The array. Firefox's importer requires it, also if it is empty.
    var json: [UInt8] {
        var whole = writer
        whole.endArray()
        return whole.bytes
    }
}
