import WaybillCore

extension Fact.Content {
    init(_ kind: JournalRecord.Kind, _ words: UnsafeBufferPointer<UInt64>) throws(JournalWordReader.Invalid) {
        if kind == .event, words.count == 1 {
            guard let code = Int(exactly: Int64(bitPattern: words[0])) else { throw JournalWordReader.Invalid() }
            self = .event(Fact.Event(plain: code))
            return
        }
        var reader = JournalWordReader(words)
        switch kind {
        case .opened: self = .opened(try reader.opened())
        case .event: self = .event(try reader.event())
        case .attributesSet: self = .attributesSet(try reader.attributesSet())
        case .closed: self = .closed(try reader.closed())
        case .exchangeOpened: self = .exchangeOpened(try reader.exchangeOpened())
        case .exchangeClosed: self = .exchangeClosed(try reader.exchangeClosed())
        case .name, .filler: throw JournalWordReader.Invalid()
        }
    }
}

/// Arguments are evaluated in order.
extension JournalWordReader {
    fileprivate mutating func opened() throws(Invalid) -> Fact.Opened {
        var opened = Fact.Opened(
            transaction: try guid(), useCase: try int(), isJoined: try bool(), timeoutMicroseconds: try integer(),
            cause: try isPresent() ? FactID(source: guid(), sequence: integer()) : nil,
            attributes: try detail().attributes)
        if !isAtEnd { opened.parent = try optionalGUID() }
        if !isAtEnd { opened.parentPart = try optionalInteger() }
        if !isAtEnd {
            opened.sampling = Fact.Sampling(
                perMillion: try int(), isChosen: try bool(), slowMicroseconds: try optionalInteger())
        }
        return opened
    }

    fileprivate mutating func event() throws(Invalid) -> Fact.Event {
        let code = try int()
        let (error, attributes) = try detail()
        return Fact.Event(code: code, error: error, attributes: attributes)
    }

    fileprivate mutating func attributesSet() throws(Invalid) -> Fact.AttributesSet {
        Fact.AttributesSet(
            attributes: try detail().attributes,
            removed: try list { (reader) throws(Invalid) in try reader.text() })
    }

    fileprivate mutating func closed() throws(Invalid) -> Fact.Closed {
        let outcome: TransactionOutcome = try value()
        let (error, attributes) = try detail()
        return Fact.Closed(outcome: outcome, error: error, attributes: attributes)
    }

    fileprivate mutating func exchangeOpened() throws(Invalid) -> Fact.ExchangeOpened {
        Fact.ExchangeOpened(
            role: try value(), method: try text(), scheme: try optionalText(), host: try optionalText(),
            port: try optionalInt(), path: try text(), query: try optionalText(), headerFields: try headerFields())
    }

    fileprivate mutating func exchangeClosed() throws(Invalid) -> Fact.ExchangeClosed {
        Fact.ExchangeClosed(
            exchange: try integer(), state: try value(), status: try optionalInt(),
            firstByteAtMicroseconds: try optionalInteger(), sentByteCount: try optionalInteger(),
            receivedByteCount: try optionalInteger(), headerFields: try headerFields(), error: try detail().error,
            transfer: try isAtEnd ? Fact.Transfer() : transfer())
    }

    private mutating func transfer() throws(Invalid) -> Fact.Transfer {
        Fact.Transfer(
            httpVersion: try optionalText(), receivedWireByteCount: try optionalInteger(),
            sentAtMicroseconds: try optionalInteger(),
            phases: Fact.Phases(
                lookupMicroseconds: try optionalInteger(), connectMicroseconds: try optionalInteger(),
                secureMicroseconds: try optionalInteger()),
            isConnectionReused: try optionalInteger().map { $0 == 1 }, redirects: try redirects(),
            isMocked: try bool(), rule: try optionalText(), webSocket: try isAtEnd ? nil : webSocket())
    }

    private mutating func redirects() throws(Invalid) -> [Fact.Redirect] {
        try list { (reader) throws(Invalid) in
            Fact.Redirect(status: try reader.int(), url: try reader.text(), atMicroseconds: try reader.integer())
        }
    }

    private mutating func webSocket() throws(Invalid) -> Fact.WebSocket {
        Fact.WebSocket(
            sentMessageCount: try integer(), receivedMessageCount: try integer(), pingCount: try integer(),
            closeCode: try optionalInt(), closeReason: try optionalText(),
            messages: try list { (reader) throws(Invalid) in try reader.message() })
    }

    private mutating func message() throws(Invalid) -> Fact.WebSocket.Message {
        let (at, kind) = (try integer(), try integer())
        return Fact.WebSocket.Message(
            atMicroseconds: at, isSent: kind & 1 != 0, isText: kind & 2 != 0, byteCount: try integer())
    }

    private mutating func detail() throws(Invalid) -> (error: RecordedError?, attributes: Attributes) {
        let hasError = try word()
        var error: RecordedError?
        if hasError > 0 { error = RecordedError(domain: try text(), code: try integer(), text: try optionalText()) }
        if hasError == 2 {
            error?.name = try optionalText()
            let underlying = try list { (reader) throws(Invalid) in
                RecordedError.Underlying(
                    domain: try reader.text(), code: try reader.integer(), name: try reader.optionalText())
            }
            guard underlying.count <= Limits.underlyingErrors else { throw Invalid() }
            error?.underlying = underlying
        }
        let count = try int()
        guard count >= 0 else { throw Invalid() }
        var attributes: Attributes = [:]
        for _ in 0..<count {
            let name = try text()
            attributes[name] = try attributeValue()
        }
        return (error, attributes)
    }

    private mutating func attributeValue() throws(Invalid) -> AttributeValue {
        switch try word() {
        case 0: .string(try text())
        case 1: .integer(try integer())
        case 2: .double(Double(bitPattern: try word()))
        case 3: .bool(try bool())
        default: throw Invalid()
        }
    }

    private mutating func headerFields() throws(Invalid) -> [HeaderField] {
        try list { (reader) throws(Invalid) in HeaderField(name: try reader.text(), value: try reader.text()) }
    }
}

extension RecordedName {
    func write(to sink: inout some JournalSink) {
        sink.integer(useCase)
        sink.optional(event)
        sink.text(name)
    }

    init(_ record: UnsafeBufferPointer<UInt64>) throws(JournalWordReader.Invalid) {
        let words = record.dropFirst(JournalRecord.prefixWordCount)
        var reader = JournalWordReader(UnsafeBufferPointer(rebasing: words))
        self.init(useCase: try reader.int(), event: try reader.optionalInt(), name: try reader.text())
    }
}

extension Fact {
    /// Reads a complete record; `nil` if its words are not a valid fact.
    init?(_ kind: JournalRecord.Kind, _ record: UnsafePointer<UInt64>, wordCount: Int) {
        let prefix = JournalRecord.prefixWordCount
        guard wordCount > prefix,
            let content = try? Content(kind, UnsafeBufferPointer(start: record + prefix, count: wordCount - prefix))
        else { return nil }
        let numbers = (
            Int64(bitPattern: record[1]), Int64(bitPattern: record[3]), Int64(bitPattern: record[2])
        )
        let range = 0...Limits.largestInteger
        guard numbers.0 > 0, range.contains(numbers.0), range.contains(numbers.1), range.contains(numbers.2) else {
            return nil
        }
        self.init(sequence: numbers.0, part: numbers.1, atMicroseconds: numbers.2, content: content)
    }
}
