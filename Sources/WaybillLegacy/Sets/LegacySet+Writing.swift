import WaybillCore

/// How a set of version 0.0.1 is written: as the first framework did, which servers of its time were made for.
extension LegacySet {
    /// The set as JSON.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + 160 * factCount)
        writer.beginObject()
        writer.key("apptxns")
        writer.beginArray()
        for transaction in transactions { transaction.write(to: &writer) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

extension LegacySet.Transaction {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("apptxn/id", LegacyID(transaction: id, useCase: useCase).description)
        writer.member("apptxn/usecase", useCase)
        writer.member("apptxn/user-agent-device-make", deviceMake)
        writer.member("apptxn/user-agent-device-os", deviceOS)
        writer.member("apptxn/user-agent-device-os-version", deviceOSVersion)
        writer.key("apptxn/logs")
        writer.beginArray()
        for log in logs { log.write(to: &writer) }
        writer.endArray()
        writer.endObject()
    }
}

extension LegacySet.Log {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("apptxnlog/usecase-event", event)
        writer.member("apptxnlog/timestamp", timestamp)
        writer.key("apptxnlog/in-ctx-err-code")
        switch errorCode {
        case .number(let code): writer.integer(code)
        case .text(let code): writer.string(code)
        // That framework wrote the code in any case, and its servers may look for it.
        case nil: writer.null()
        }
        writer.member("apptxnlog/in-ctx-err-desc", errorDescription)
        writer.member("apptxnlog/edn-ctx", context)
        writer.endObject()
    }
}
