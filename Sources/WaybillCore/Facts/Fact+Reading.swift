/// Members can be in any order; unknown members are ignored.
extension Fact {
    /// Reads a fact that has all its members.
    package static func read(_ reader: inout JSONReader) throws(JSONFailure) -> Fact {
        var order = FactOrder()
        return try read(&reader, in: &order)
    }

    /// - Parameter order: The facts before it in the set, which supply the members that this fact omits.
    static func read(_ reader: inout JSONReader, in order: inout FactOrder) throws(JSONFailure) -> Fact {
        reader.skipWhitespace()
        let start = reader.offset
        let kind = try kind(of: reader, at: start)
        var head = Head()
        let content: Content
        switch kind {
        case "begun": content = .opened(try Opened.read(&reader, &head, &order.names))
        case "joined":
            var opened = try Opened.read(&reader, &head, &order.names)
            opened.isJoined = true
            content = .opened(opened)
        case "event": content = .event(try Event.read(&reader, &head, &order))
        case "attributes_set": content = .attributesSet(try AttributesSet.read(&reader, &head))
        case "finished": content = .closed(try Closed.read(&reader, &head))
        case "exchange_begun": content = .exchangeOpened(try ExchangeOpened.read(&reader, &head))
        case "exchange_finished": content = .exchangeClosed(try ExchangeClosed.read(&reader, &head, order.exchange))
        default: content = .unknown(try Unknown.read(&reader, &head, kind))
        }
        let sequence = head.sequence ?? order.nextSequence
        let isOpening = if case .opened = content { true } else { false }
        let fact = Fact(
            sequence: sequence,
            part: try reader.required(head.part ?? (isOpening ? sequence : order.part), "part", at: start),
            atMicroseconds: try reader.required(head.atMicroseconds ?? head.wallMicroseconds, "at_us", at: start),
            content: content)
        if let fault = fact.fault { throw JSONFailure(.invalid, at: start, fault) }
        order.note(fact, isNumbered: head.sequence != nil, isWall: head.atMicroseconds == nil)
        return fact
    }

    private static func kind(of reader: JSONReader, at start: Int) throws(JSONFailure) -> JSONText {
        var ahead = try reader.required(reader.ahead(at: "kind"), "kind", at: start)
        return try ahead.text()
    }

    /// The kind of a fact that was rejected; `nil` if it has none.
    static func kind(of reader: JSONReader) -> String? { try? kind(of: reader, at: reader.offset).string }

    private var fault: String? {
        switch content {
        case .opened(let opened):
            guard part == sequence else { return "`part` of a `begun` or `joined` fact is its own `sequence`" }
            guard let parentPart = opened.parentPart else { return nil }
            return opened.parent != nil && parentPart < sequence
                ? nil : "`parent_part` is the sequence of an earlier fact, and stands beside `parent`"
        case .event, .attributesSet, .closed, .unknown:
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

    fileprivate struct Head {
        var sequence: Int64?
        var part: Int64?
        var atMicroseconds: Int64?
        /// Microseconds since 1970.
        var wallMicroseconds: Int64?
        private var hasKind = false

        mutating func read(_ key: JSONText, _ reader: inout JSONReader) throws(JSONFailure) {
            switch key {
            case "sequence": sequence = try reader.integer(in: 1...Limits.largestInteger)
            case "part": part = try reader.count()
            // Negative for a fact that happened before its source started.
            case "at_us": atMicroseconds = try reader.integer(in: -Limits.largestInteger...Limits.largestInteger)
            case "at": wallMicroseconds = try reader.date()
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
    fileprivate static func read(
        _ reader: inout JSONReader, _ head: inout Fact.Head, _ names: inout Set<RecordedName>
    ) throws(JSONFailure) -> Self {
        var transaction: GUID?
        var useCase: Int?
        var timeout = usualTimeoutMicroseconds
        var cause: FactID?
        var parent: GUID?
        var parentPart: Int64?
        var attributes: Attributes = [:]
        var sampling = Fact.Sampling.Members()
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "transaction": transaction = try reader.guid()
            case "use_case": useCase = try reader.namedUseCase(&names)
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
            useCase: try reader.required(useCase, "use_case", at: start),
            timeoutMicroseconds: timeout, cause: cause,
            parent: parent, parentPart: parentPart, attributes: attributes,
            sampling: try sampling.sampling(at: start))
    }
}

extension FactID {
    fileprivate static func read(_ reader: inout JSONReader) throws(JSONFailure) -> Self {
        var source: GUID?
        var sequence: Int64?
        let start = try reader.beginObject()
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
    fileprivate static func read(
        _ reader: inout JSONReader, _ head: inout Fact.Head, _ order: inout FactOrder
    ) throws(JSONFailure) -> Self {
        var code: Int?
        var name: String?
        var event = Self(plain: 0)
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "event": code = try reader.count()
            case "name": name = try reader.string(limit: Limits.labelLength, atLeast: 1)
            case "error": event.error = try reader.error()
            case "attributes": event.attributes = try reader.attributes()
            default: try head.read(key, &reader)
            }
        }
        event.code = try reader.required(code ?? name.map(Self.code(ofName:)), "event", at: start)
        let useCase = (head.part ?? order.part).flatMap { order.useCases[$0] }
        guard code != nil || useCase != nil else {
            throw JSONFailure(
                .invalid, at: start,
                "a `name` alone needs the part's `begun` or `joined` earlier in the set; add `event`")
        }
        if let name, let useCase {
            try order.names.add(RecordedName(useCase: useCase, event: event.code, name: name), at: start)
        }
        return event
    }

    /// The code of an event that has only a name: the same in every set, and from 2^30 to 2^31 - 1.
    static func code(ofName name: String) -> Int {
        let digest = SHA256.hash(Array(name.utf8))
        return digest.prefix(4).reduce(0) { $0 << 8 | Int($1) } & (1 << 30 - 1) | 1 << 30
    }
}

extension Fact.AttributesSet {
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head) throws(JSONFailure) -> Self {
        var content = Self()
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "attributes": content.attributes = try reader.attributes()
            case "removed": content.removed = try reader.attributeNames()
            default: try head.read(key, &reader)
            }
        }
        content.removed.removeAll { content.attributes[$0] != nil }
        return content
    }
}

extension Fact.Unknown {
    /// Keeps the text of the members that not every fact has.
    fileprivate static func read(
        _ reader: inout JSONReader, _ head: inout Fact.Head, _ kind: JSONText
    ) throws(JSONFailure) -> Self {
        let start = try reader.beginObject()
        let kind = kind.string
        guard (1...Limits.nameLength).contains(kind.utf8.count) else {
            throw JSONFailure(.invalid, at: start, "`kind` has 1 to \(Limits.nameLength) bytes")
        }
        var writer = JSONWriter()
        writer.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "kind", "sequence", "part", "at_us", "at": try head.read(key, &reader)
            default:
                let name = key.string
                writer.key(name)
                writer.json(try reader.valueText())
                guard writer.bytes.count <= byteLimit else {
                    throw JSONFailure(.invalid, at: start, "a fact of an unknown kind has at most \(byteLimit) bytes")
                }
            }
        }
        writer.endObject()
        return Self(kind: kind, members: writer.text)
    }
}

extension Fact.Closed {
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head) throws(JSONFailure) -> Self {
        var outcome: TransactionOutcome?
        var error: RecordedError?
        var attributes: Attributes = [:]
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "outcome": outcome = try reader.named("an outcome that can be recorded", where: \.isRecorded)
            case "error": error = try reader.error()
            case "attributes": attributes = try reader.attributes()
            default: try head.read(key, &reader)
            }
        }
        return Self(outcome: try reader.required(outcome, "outcome", at: start), error: error, attributes: attributes)
    }
}

extension Fact.ExchangeOpened {
    fileprivate static func read(_ reader: inout JSONReader, _ head: inout Fact.Head) throws(JSONFailure) -> Self {
        var role = ExchangeRole.client
        var method: String?
        var content = Self(method: "", path: "")
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "role": role = try reader.named("\"client\" or \"server\"")
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
        content.role = role
        content.method = try reader.required(method, "method", at: start)
        return content
    }
}

extension Fact.ExchangeClosed {
    fileprivate static func read(
        _ reader: inout JSONReader, _ head: inout Fact.Head, _ latest: Int64?
    ) throws(JSONFailure) -> Self {
        var exchange = latest
        var state: ExchangeState?
        var content = Self(exchange: 0, state: .completed)
        let start = try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "exchange": exchange = try reader.integer(in: 1...Limits.largestInteger)
            case "state": state = try reader.named("\"completed\", \"failed\" or \"cancelled\"")
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
        content.state = try reader.required(state ?? (content.status == nil ? nil : .completed), "state", at: start)
        return content
    }
}

extension JSONReader {
    fileprivate mutating func named<Value: Named>(
        _ expected: String, where isAllowed: (Value) -> Bool = { _ in true }
    ) throws(JSONFailure) -> Value {
        let word = try text()
        let name = word.string
        guard let value = Value.allCases.first(where: { $0.name == name && isAllowed($0) }) else {
            throw invalid(word, "\(expected) was expected")
        }
        return value
    }
}
