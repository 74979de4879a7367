/// How a set of version 0.0.1 is read: leniently, since the clients that write it cannot be changed any more, and send again for ever what is refused.
extension LegacySet {
    /// Reads a set; members that are not known are ignored.
    ///
    /// - Throws: `.malformed` for what is not JSON, `.invalid` for what has no list of transactions, or in it one without an ID, a use case or the
    ///   code of an event.
    package static func decode(_ bytes: [UInt8]) throws(SetDecodingFailure) -> LegacySet {
        try SetDecodingFailure.decoding(bytes) { reader throws(JSONFailure) in
            reader.skipWhitespace()
            let start = reader.offset
            var transactions: [Transaction]?
            try reader.beginObject()
            while let key = try reader.nextKey() {
                switch key {
                case "apptxns": transactions = try reader.legacyList { (reader) throws(JSONFailure) in try Transaction(&reader) }
                default: try reader.skipValue()
                }
            }
            return LegacySet(transactions: try reader.required(transactions, "apptxns", at: start))
        }
    }
}

extension LegacySet.Transaction {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        reader.skipWhitespace()
        let start = reader.offset
        var name: LegacyID?
        var told: Int?
        self.init(id: GUID(high: 0, low: 0), useCase: 0)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "apptxn/id":
                let text = try reader.text()
                name = LegacyID(text.string)
                if name == nil { throw reader.invalid(text, "an ID like TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7 was expected") }
            case "apptxn/usecase": told = try reader.legacyCode()
            case "apptxn/user-agent-device-make": deviceMake = try reader.legacyText(limit: Limits.valueLength)
            case "apptxn/user-agent-device-os": deviceOS = try reader.legacyText(limit: Limits.valueLength)
            case "apptxn/user-agent-device-os-version": deviceOSVersion = try reader.legacyText(limit: Limits.valueLength)
            case "apptxn/logs": logs = try reader.legacyList { (reader) throws(JSONFailure) in try LegacySet.Log(&reader) }
            default: try reader.skipValue()
            }
        }
        let id = try reader.required(name, "apptxn/id", at: start)
        self.id = id.guid
        useCase = try reader.required(told ?? id.useCase, "apptxn/usecase", at: start)
    }
}

extension LegacySet.Log {
    fileprivate init(_ reader: inout JSONReader) throws(JSONFailure) {
        reader.skipWhitespace()
        let start = reader.offset
        var code: Int?
        self.init(event: 0, timestamp: "")
        try reader.beginObject()
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

/// The ID of a transaction of that framework.
private struct LegacyID {
    var guid: GUID
    /// nil where only the UUID was given.
    var useCase: Int?

    /// Reads `TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7`, in any case; also the UUID alone.
    init?(_ text: String) {
        guard let guid = GUID(text.suffix(36)) else { return nil }
        self.guid = guid
        let head = text.dropLast(36)
        if head.isEmpty { return }
        guard head.lowercased().hasPrefix("txn"), head.last == "-", let useCase = Int(head.dropFirst(3).dropLast()),
            (0...Limits.largestInteger).contains(useCase)
        else { return nil }
        self.useCase = useCase
    }
}

/// The values of that version: each may be null, which is as if it were missing.
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

    /// A code, which may be a text of digits.
    fileprivate mutating func legacyCode() throws(JSONFailure) -> Int? {
        if try isNull() { return nil }
        guard next == UInt8(ascii: "\"") else { return try count() }
        let text = try text()
        guard let code = Int(text.string), (0...Limits.largestInteger).contains(code) else {
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
        guard let code = Int(text), code.magnitude <= UInt(Limits.largestInteger) else {
            return text.isEmpty ? nil : .text(text.cut(to: Limits.valueLength) ?? text)
        }
        return .number(code)
    }

    /// A text, cut where it is longer; a number, true or false as it is written.
    fileprivate mutating func legacyText(limit: Int) throws(JSONFailure) -> String? {
        if try isNull() { return nil }
        guard next == UInt8(ascii: "\"") else {
            let start = offset
            try skipValue()
            let value = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
            return value.cut(to: limit) ?? value
        }
        let text = try text().string
        return text.cut(to: limit) ?? text
    }
}
