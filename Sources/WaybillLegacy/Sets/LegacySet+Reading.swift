package import WaybillCore

/// Reads sets of version 0.0.1 leniently, because their clients can't be changed, and send refused sets again forever.
extension LegacySet {
    /// Ignores unknown members. Transactions without an ID, a use case or an event's code are `unread`.
    /// Throws `.malformed` for invalid JSON, `.invalid` if the list of transactions is missing.
    package static func decode(_ bytes: [UInt8]) throws(SetDecodingFailure) -> LegacySet {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            var set: LegacySet?
            let start = try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "apptxns": set = try LegacySet(sorting: &reader)
                default: try reader.skipValue()
                }
            }
            return try reader.required(set, "apptxns", at: start)
        }
    }

    private init(sorting reader: inout JSONReader) throws(JSONFailure) {
        var unread: [Unread] = []
        var index = 0
        let transactions = try reader.legacyList { (reader) throws(JSONFailure) -> Transaction? in
            reader.skipWhitespace()
            defer { index += 1 }
            let before = reader
            do throws(JSONFailure) { return try Transaction(&reader) } catch {
                reader = before
                try reader.skipValue()
                let bytes = UnsafeBufferPointer(rebasing: before.bytes[before.offset..<reader.offset])
                let pointer = JSONPointer.path(to: error.offset - before.offset, in: bytes)
                unread.append(
                    Unread(
                        transaction: Transaction.id(of: before),
                        reason: "/apptxns/\(index)\(pointer): \(error.message)",
                        json: Array(bytes)))
                return nil
            }
        }
        self.init(transactions: transactions.compactMap(\.self), unread: unread)
    }
}

extension LegacySet.Transaction {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var name: LegacyID?
        var told: Int?
        self.init(id: GUID(high: 0, low: 0), useCase: 0)
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "apptxn/id":
                let text = try reader.text()
                name = LegacyID(text.string)
                if name == nil {
                    throw reader.invalid(text, "an ID like TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7 was expected")
                }
            case "apptxn/usecase": told = try reader.legacyCode()
            case "apptxn/user-agent-device-make": deviceMake = try reader.legacyText(limit: Limits.valueLength)
            case "apptxn/user-agent-device-os": deviceOS = try reader.legacyText(limit: Limits.valueLength)
            case "apptxn/user-agent-device-os-version":
                deviceOSVersion = try reader.legacyText(limit: Limits.valueLength)
            case "apptxn/logs":
                logs = try reader.legacyList { (reader) throws(JSONFailure) in try LegacySet.Log(&reader) }
            default: try reader.skipValue()
            }
        }
        let id = try reader.required(name, "apptxn/id", at: start)
        self.id = id.transaction
        useCase = try reader.required(told ?? id.useCase, "apptxn/usecase", at: start)
    }

    fileprivate static func id(of reader: JSONReader) -> GUID? {
        var reader = reader
        do throws(JSONFailure) {
            try reader.beginObject()
            while let key = try reader.nextKey() {
                if case "apptxn/id" = key { return LegacyID(try reader.text().string)?.transaction }
                try reader.skipValue()
            }
        } catch {}  // the transaction is being set apart for that very reason; only its ID is wanted here
        return nil
    }
}

extension LegacySet.Log {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        var code: Int?
        self.init(event: 0, timestamp: "")
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "apptxnlog/usecase-event": code = try reader.legacyCode()
            case "apptxnlog/timestamp": timestamp = try reader.legacyText(limit: Limits.valueLength) ?? ""
            case "apptxnlog/in-ctx-err-code": errorCode = try reader.legacyErrorCode()
            case "apptxnlog/in-ctx-err-desc": errorDescription = try reader.legacyText(limit: Limits.textLength)
            case "apptxnlog/edn-ctx": context = try reader.legacyText(limit: Limits.valueLength)
            default: try reader.skipValue()
            }
        }
        event = try reader.required(code, "apptxnlog/usecase-event", at: start)
    }
}

/// The values of version 0.0.1. A null counts as missing.
extension JSONReader {
    private mutating func isNull() throws(JSONFailure) -> Bool {
        guard next == UInt8(ascii: "n") else { return false }
        try skipValue()
        return true
    }

    /// Empty for null.
    fileprivate mutating func legacyList<Element>(
        _ element: (inout JSONReader) throws(JSONFailure) -> Element
    ) throws(JSONFailure) -> [Element] {
        var elements: [Element] = []
        if try isNull() { return elements }
        try beginArray()
        while try nextElement() { elements.append(try element(&self)) }
        return elements
    }

    /// A code, possibly as a text.
    fileprivate mutating func legacyCode() throws(JSONFailure) -> Int? {
        if try isNull() { return nil }
        guard next == UInt8(ascii: "\"") else { return try count() }
        let text = try text()
        guard let code = Int(text.string), (0...Limits.largestCode).contains(code) else {
            throw invalid(text, "a code from 0 was expected")
        }
        return code
    }

    fileprivate mutating func legacyErrorCode() throws(JSONFailure) -> LegacySet.ErrorCode? {
        if try isNull() { return nil }
        guard next == UInt8(ascii: "\"") else {
            return .number(try integer(in: -Limits.largestInteger...Limits.largestInteger))
        }
        let text = try text().string
        guard let code = Int64(text), code.magnitude <= Limits.largestInteger else {
            return text.isEmpty ? nil : .text(text.cut(to: Limits.valueLength))
        }
        return .number(code)
    }

    /// Numbers and booleans count as texts.
    fileprivate mutating func legacyText(limit: Int) throws(JSONFailure) -> String? {
        if try isNull() { return nil }
        guard next == UInt8(ascii: "\"") else { return try valueText().cut(to: limit) }
        return try text().string.cut(to: limit)
    }
}
