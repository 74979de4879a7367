/// How a fact is read. Members may come in any order; what is not known is ignored.
extension Fact {
    package static func read(_ reader: inout JSONReader) throws(JSONFailure) -> Fact {
        reader.skipWhitespace()
        let start = reader.offset
        let (kind, kindOffset) = try kind(of: reader, at: start)
        var head = Head()
        let content: Content
        switch kind {
        case "opened": content = .opened(try Opened.read(&reader, &head, start))
        case "event": content = try Event.read(&reader, &head, start)
        case "closed": content = .closed(try Closed.read(&reader, &head, start))
        case "exchange_opened": content = .exchangeOpened(try ExchangeOpened.read(&reader, &head, start))
        case "exchange_closed": content = .exchangeClosed(try ExchangeClosed.read(&reader, &head, start))
        default:
            let word = kind.string
            throw JSONFailure(.invalid, at: kindOffset, "unknown kind \"\(word.cut(to: 64) ?? word)\"")
        }
        let fact = Fact(
            sequence: try reader.required(head.sequence, "sequence", at: start),
            part: try reader.required(head.part, "part", at: start),
            atMicroseconds: try reader.required(head.atMicroseconds, "at_us", at: start),
            content: content)
        if let fault = fact.fault { throw JSONFailure(.invalid, at: start, fault) }
        return fact
    }

    /// Looks ahead for the kind, which says how the other members are to be read.
    private static func kind(of reader: JSONReader, at start: Int) throws(JSONFailure) -> (JSONText, Int) {
        var ahead = reader
        try ahead.beginObject()
        while let key = try ahead.nextKey() {
            guard case "kind" = key else {
                try ahead.skipValue()
                continue
            }
            ahead.skipWhitespace()
            let offset = ahead.offset
            return (try ahead.text(), offset)
        }
        throw JSONFailure(.invalid, at: start, "`kind` is missing")
    }

    /// What the numbers of a fact say about each other and cannot be; nil when all is well.
    private var fault: String? {
        switch content {
        case .opened(let opened):
            guard part == sequence else { return "`part` of an opened fact is its own `sequence`" }
            guard let parentPart = opened.parentPart else { return nil }
            return opened.parent != nil && parentPart < sequence
                ? nil : "`parent_part` is the sequence of an earlier fact, and stands beside `parent`"
        case .event, .attributesSet, .closed:
            return (1..<sequence).contains(part) ? nil : "`part` is the sequence of an earlier fact"
        case .exchangeOpened: return part < sequence ? nil : "`part` is the sequence of an earlier fact, or 0"
        case .exchangeClosed(let closed):
            guard part < sequence else { return "`part` is the sequence of an earlier fact, or 0" }
            guard closed.exchange < sequence, closed.exchange > part else {
                return "`exchange` is the sequence of an earlier fact of the same part"
            }
            return nil
        }
    }

    /// The members that all kinds have.
    fileprivate struct Head {
        var sequence: Int64?
        var part: Int64?
        var atMicroseconds: Int64?
        private var hasKind = false

        mutating func read(_ key: JSONText, _ reader: inout JSONReader) throws(JSONFailure) {
            switch key {
            case "sequence": sequence = try reader.integer(in: 1...Limits.largestInteger)
            case "part": part = try reader.count()
            // Before its source started: it was recorded later than it happened.
            case "at_us": atMicroseconds = try reader.integer(in: -Limits.largestInteger...Limits.largestInteger)
            case "kind":
                guard !hasKind else { throw reader.invalid(key, "`kind` is given twice") }
                hasKind = true
                try reader.skipValue()
            default: try reader.skipValue()
            }
        }
    }
}

extension Fact.Opened {
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head, _ start: Int) throws(JSONFailure)
        -> Self
    {
        var transaction: GUID?
        var useCase: Int?
        var timeout: Int64?
        var isJoined = false
        var cause: FactID?
        var parent: GUID?
        var parentPart: Int64?
        var attributes: Attributes = [:]
        var sampling = Fact.Sampling.Members()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "transaction": transaction = try reader.guid()
            case "use_case": useCase = try reader.count()
            case "joined": isJoined = try reader.bool()
            case "timeout_us": timeout = try reader.count()
            case "cause": cause = try FactID.read(&reader)
            case "parent": parent = try reader.guid()
            case "parent_part": parentPart = try reader.integer(in: 1...Limits.largestInteger)
            case "attributes": attributes = try reader.attributes()
            default: if try !sampling.read(key, &reader) { try head.read(key, &reader) }
            }
        }
        return Self(
            transaction: try reader.required(transaction, "transaction", at: start),
            useCase: try reader.required(useCase, "use_case", at: start), isJoined: isJoined,
            timeoutMicroseconds: try reader.required(timeout, "timeout_us", at: start), cause: cause,
            parent: parent, parentPart: parentPart, attributes: attributes,
            sampling: try sampling.sampling(at: start))
    }
}

extension FactID {
    fileprivate static func read(_ reader: inout JSONReader) throws(JSONFailure) -> Self {
        reader.skipWhitespace()
        let start = reader.offset
        var source: GUID?
        var sequence: Int64?
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "source": source = try reader.guid()
            case "sequence": sequence = try reader.integer(in: 1...Limits.largestInteger)
            default: try reader.skipValue()
            }
        }
        return Self(
            source: try reader.required(source, "source", at: start),
            sequence: try reader.required(sequence, "sequence", at: start))
    }
}

extension Fact.Event {
    /// An event, or what is written like one: attributes that were set.
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head, _ start: Int) throws(JSONFailure)
        -> Fact.Content
    {
        var code: Int?
        var error: RecordedError?
        var attributes: Attributes = [:]
        var setsAttributes = false
        var removed: [String] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "event": code = try reader.count()
            case "error": error = try reader.error()
            case "attributes": attributes = try reader.attributes()
            case "sets_attributes": setsAttributes = try reader.bool()
            case "removed": removed = try reader.attributeNames()
            default: try head.read(key, &reader)
            }
        }
        let event = Self(code: try reader.required(code, "event", at: start), error: error, attributes: attributes)
        guard setsAttributes else { return .event(event) }
        return .attributesSet(
            Fact.AttributesSet(attributes: attributes, removed: removed.filter { attributes[$0] == nil }))
    }
}

extension Fact.Closed {
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head, _ start: Int) throws(JSONFailure)
        -> Self
    {
        var outcome: TransactionOutcome?
        var error: RecordedError?
        var attributes: Attributes = [:]
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "outcome":
                let word = try reader.text()
                switch word {
                case "succeeded": outcome = .succeeded
                case "failed": outcome = .failed
                case "canceled": outcome = .canceled
                case "abandoned": outcome = .abandoned
                default: throw reader.invalid(word, "an outcome that can be recorded was expected")
                }
            case "error": error = try reader.error()
            case "attributes": attributes = try reader.attributes()
            default: try head.read(key, &reader)
            }
        }
        return Self(outcome: try reader.required(outcome, "outcome", at: start), error: error, attributes: attributes)
    }
}

extension Fact.ExchangeOpened {
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head, _ start: Int) throws(JSONFailure)
        -> Self
    {
        var role: ExchangeRole?
        var method: String?
        var content = Self(method: "", path: "")
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "role":
                let word = try reader.text()
                switch word {
                case "client": role = .client
                case "server": role = .server
                default: throw reader.invalid(word, "\"client\" or \"server\" was expected")
                }
            case "method": method = try reader.string(limit: Limits.labelLength, atLeast: 1)
            case "scheme": content.scheme = try reader.string(limit: Limits.labelLength)
            case "host": content.host = try reader.string(limit: Limits.labelLength)
            case "port": content.port = try reader.integer(in: 0...65_535)
            case "path": content.path = try reader.string(limit: Limits.fieldLength)
            case "query": content.query = try reader.string(limit: Limits.fieldLength)
            case "headers": content.headerFields = try reader.headerFields()
            default: try head.read(key, &reader)
            }
        }
        content.role = try reader.required(role, "role", at: start)
        content.method = try reader.required(method, "method", at: start)
        return content
    }
}

extension Fact.ExchangeClosed {
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head, _ start: Int) throws(JSONFailure)
        -> Self
    {
        var exchange: Int64?
        var state: ExchangeState?
        var content = Self(exchange: 0, state: .completed)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "exchange": exchange = try reader.integer(in: 1...Limits.largestInteger)
            case "state":
                let word = try reader.text()
                switch word {
                case "completed": state = .completed
                case "failed": state = .failed
                case "canceled": state = .canceled
                default: throw reader.invalid(word, "\"completed\", \"failed\" or \"canceled\" was expected")
                }
            case "status": content.status = try reader.integer(in: 0...999)
            case "first_byte_us": content.firstByteAtMicroseconds = try reader.count()
            case "sent_bytes": content.sentByteCount = try reader.count()
            case "received_bytes": content.receivedByteCount = try reader.count()
            case "headers": content.headerFields = try reader.headerFields()
            case "error": content.error = try reader.error()
            default: if try !content.transfer.read(key, &reader) { try head.read(key, &reader) }
            }
        }
        content.exchange = try reader.required(exchange, "exchange", at: start)
        content.state = try reader.required(state, "state", at: start)
        return content
    }
}

/// The values that the formats are made of, with their limits.
extension JSONReader {
    /// A whole number, written without fraction or exponent.
    package mutating func integer<Number: FixedWidthInteger>(
        in range: ClosedRange<Number>
    ) throws(JSONFailure) -> Number {
        let first = next
        guard first == UInt8(ascii: "-") || first.isDigit else { throw unexpected("an integer") }
        let start = offset
        guard try scanNumber() else { throw JSONFailure(.invalid, at: start, "an integer was expected") }
        guard let value = integer(from: start, to: offset).flatMap(Number.init(exactly:)), range.contains(value) else {
            throw JSONFailure(
                .invalid, at: start, "an integer from \(range.lowerBound) to \(range.upperBound) was expected")
        }
        return value
    }

    /// The text of a number of any size.
    package mutating func numberText() throws(JSONFailure) -> String {
        let first = next
        guard first == UInt8(ascii: "-") || first.isDigit else { throw unexpected("a number") }
        let start = offset
        _ = try scanNumber()
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
    }

    /// A whole number from 0 to 2^53 - 1, or to the largest that its type holds here.
    package mutating func count<Number: FixedWidthInteger>() throws(JSONFailure) -> Number {
        try integer(in: 0...Number(clamping: Limits.largestInteger))
    }

    /// A string of at most `limit` Unicode scalars.
    package mutating func string(limit: Int, atLeast minimum: Int = 0) throws(JSONFailure) -> String {
        let text = try text()
        // No scalar takes less than a byte.
        if text.bytes.count <= limit, !text.isEscaped, text.bytes.count >= minimum { return text.string }
        let string = text.string
        guard !string.isLonger(than: limit) else { throw invalid(text, "longer than \(limit) characters") }
        guard string.utf8.count >= minimum else { throw invalid(text, "empty") }
        return string
    }

    /// A UUID in its canonical form, in either case.
    package mutating func guid() throws(JSONFailure) -> GUID {
        let text = try text()
        guard let guid = text.isEscaped ? GUID(text.string) : GUID(utf8: text.bytes) else {
            throw invalid(text, "a UUID of 36 characters was expected")
        }
        return guid
    }

    /// A string, integer, double or bool. What has a fraction or an exponent is a double.
    package mutating func attributeValue() throws(JSONFailure) -> AttributeValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string(limit: Limits.valueLength))
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool(try bool())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let start = offset
            if try scanNumber() {
                guard let value = integer(from: start, to: offset), value.magnitude <= Limits.largestInteger
                else {
                    throw JSONFailure(.invalid, at: start, "an integer beyond 2^53")
                }
                return .integer(value)
            }
            let digits = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
            guard let value = Double(digits), value.isFinite else {
                throw JSONFailure(.invalid, at: start, "a number too large for a double")
            }
            return .double(value)
        default: throw unexpected("a string, a number, true or false")
        }
    }

    /// A value that was read and is not right; its text starts after the quotation mark.
    package func invalid(_ text: JSONText, _ message: String) -> JSONFailure {
        let start = text.bytes.baseAddress.flatMap { text in bytes.baseAddress.map { text - $0 - 1 } } ?? offset
        return JSONFailure(.invalid, at: start, message)
    }

    /// The value of digits that `scanNumber()` has passed; nil when it does not fit.
    private func integer(from start: Int, to end: Int) -> Int64? {
        let isNegative = bytes[start] == UInt8(ascii: "-")
        let first = isNegative ? start + 1 : start
        // 18 digits always fit, and 2^53 has 16.
        guard end - first <= 18 else { return nil }
        var value: Int64 = 0
        for index in first..<end { value = value &* 10 &+ Int64(bytes[index] &- UInt8(ascii: "0")) }
        return isNegative ? -value : value
    }
}
