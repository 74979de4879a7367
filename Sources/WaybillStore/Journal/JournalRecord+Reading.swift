import WaybillCore

extension Fact.Content {
    init?(_ kind: JournalRecord.Kind, _ words: UnsafeBufferPointer<UInt64>) {
        if kind == .event, words.count == 1 {
            guard let code = Int(exactly: Int64(bitPattern: words[0])) else { return nil }
            self = .event(Fact.Event(plain: code))
            return
        }
        var reader = JournalWordReader(words)
        let content: Fact.Content? =
            switch kind {
            case .opened: reader.opened().map { .opened($0) }
            case .event: reader.event().map { .event($0) }
            case .attributesSet: reader.attributesSet().map { .attributesSet($0) }
            case .closed: reader.closed().map { .closed($0) }
            case .exchangeOpened: reader.exchangeOpened().map { .exchangeOpened($0) }
            case .exchangeClosed: reader.exchangeClosed().map { .exchangeClosed($0) }
            case .name, .filler: nil
            }
        guard let content else { return nil }
        self = content
    }
}

extension JournalWordReader {
    fileprivate mutating func opened() -> Fact.Opened? {
        guard let transaction = guid(), let useCase = int(), let joined = integer(), let timeout = integer(),
            let hasCause = word()
        else { return nil }
        var cause: FactID?
        if hasCause == 1 {
            guard let source = guid(), let sequence = integer() else { return nil }
            cause = FactID(source: source, sequence: sequence)
        }
        guard let detail = detail(), let parent = isAtEnd ? .some(nil) : optionalGUID(),
            let parentPart = isAtEnd ? .some(nil) : optionalInteger()
        else { return nil }
        var opened = Fact.Opened(
            transaction: transaction, useCase: useCase, isJoined: joined == 1,
            timeoutMicroseconds: timeout, cause: cause, parent: parent, parentPart: parentPart,
            attributes: detail.attributes)
        if !isAtEnd {
            guard let perMillion = int(), let isChosen = integer(), let slow = optionalInteger() else { return nil }
            opened.sampling = Fact.Sampling(perMillion: perMillion, isChosen: isChosen == 1, slowMicroseconds: slow)
        }
        return opened
    }

    fileprivate mutating func event() -> Fact.Event? {
        guard let code = int(), let detail = detail() else { return nil }
        return Fact.Event(code: code, error: detail.error, attributes: detail.attributes)
    }

    fileprivate mutating func attributesSet() -> Fact.AttributesSet? {
        guard let detail = detail(), let removed = list({ $0.text() }) else { return nil }
        return Fact.AttributesSet(attributes: detail.attributes, removed: removed)
    }

    fileprivate mutating func closed() -> Fact.Closed? {
        guard let outcome = int().flatMap({ TransactionOutcome(rawValue: $0) }), let detail = detail() else {
            return nil
        }
        return Fact.Closed(outcome: outcome, error: detail.error, attributes: detail.attributes)
    }

    fileprivate mutating func exchangeOpened() -> Fact.ExchangeOpened? {
        guard let role = int().flatMap({ ExchangeRole(rawValue: $0) }), let method = text(),
            let scheme = optionalText(),
            let host = optionalText(), let port = optionalInt(), let path = text(), let query = optionalText(),
            let fields = headerFields()
        else { return nil }
        return Fact.ExchangeOpened(
            role: role, method: method, scheme: scheme, host: host, port: port, path: path, query: query,
            headerFields: fields)
    }

    fileprivate mutating func exchangeClosed() -> Fact.ExchangeClosed? {
        guard let exchange = integer(), let state = int().flatMap({ ExchangeState(rawValue: $0) }),
            let status = optionalInt(),
            let firstByte = optionalInteger(), let sent = optionalInteger(), let received = optionalInteger(),
            let fields = headerFields(),
            let detail = detail(), let transfer = isAtEnd ? Fact.Transfer() : transfer()
        else { return nil }
        return Fact.ExchangeClosed(
            exchange: exchange, state: state, status: status, firstByteAtMicroseconds: firstByte, sentByteCount: sent,
            receivedByteCount: received, headerFields: fields, error: detail.error, transfer: transfer)
    }

    private mutating func transfer() -> Fact.Transfer? {
        guard let version = optionalText(), let received = optionalInteger(), let sentAt = optionalInteger(),
            let lookup = optionalInteger(),
            let connect = optionalInteger(), let secure = optionalInteger(), let isReused = optionalInteger(),
            let redirects = redirects(),
            let isMocked = integer(), let rule = optionalText()
        else { return nil }
        var socket: Fact.WebSocket?
        if !isAtEnd {
            guard let known = webSocket() else { return nil }
            socket = known
        }
        return Fact.Transfer(
            httpVersion: version, receivedWireByteCount: received, sentAtMicroseconds: sentAt,
            phases: Fact.Phases(lookupMicroseconds: lookup, connectMicroseconds: connect, secureMicroseconds: secure),
            isConnectionReused: isReused.map { $0 == 1 }, redirects: redirects, isMocked: isMocked == 1, rule: rule,
            webSocket: socket)
    }

    private mutating func redirects() -> [Fact.Redirect]? {
        list { reader in
            guard let status = reader.int(), let url = reader.text(), let at = reader.integer() else { return nil }
            return Fact.Redirect(status: status, url: url, atMicroseconds: at)
        }
    }

    private mutating func webSocket() -> Fact.WebSocket? {
        guard let sent = integer(), let received = integer(), let pings = integer(), let code = optionalInt(),
            let reason = optionalText(), let messages = list({ $0.message() })
        else { return nil }
        return Fact.WebSocket(
            sentMessageCount: sent, receivedMessageCount: received, pingCount: pings, closeCode: code,
            closeReason: reason, messages: messages)
    }

    private mutating func message() -> Fact.WebSocket.Message? {
        guard let at = integer(), let kind = integer(), let byteCount = integer() else { return nil }
        return Fact.WebSocket.Message(
            atMicroseconds: at, isSent: kind & 1 != 0, isText: kind & 2 != 0, byteCount: byteCount)
    }

    private mutating func detail() -> (error: RecordedError?, attributes: Attributes)? {
        guard let hasError = word() else { return nil }
        var error: RecordedError?
        if hasError > 0 {
            guard let domain = text(), let code = integer(), let text = optionalText() else { return nil }
            error = RecordedError(domain: domain, code: code, text: text)
        }
        if hasError == 2 {
            guard let name = optionalText(), let underlying = list({ $0.underlying() }),
                underlying.count <= Limits.underlyingErrors
            else { return nil }
            error?.name = name
            error?.underlying = underlying
        }
        guard let count = int(), count >= 0 else { return nil }
        var attributes: Attributes = [:]
        for _ in 0..<count {
            guard let name = text(), let value = attributeValue() else { return nil }
            attributes[name] = value
        }
        return (error, attributes)
    }

    private mutating func underlying() -> RecordedError.Underlying? {
        guard let domain = text(), let code = integer(), let name = optionalText() else { return nil }
        return RecordedError.Underlying(domain: domain, code: code, name: name)
    }

    private mutating func attributeValue() -> AttributeValue? {
        switch word() {
        case 0: text().map { .string($0) }
        case 1: integer().map { .integer($0) }
        case 2: word().map { .double(Double(bitPattern: $0)) }
        case 3: word().map { .bool($0 == 1) }
        default: nil
        }
    }

    private mutating func headerFields() -> [HeaderField]? {
        list { reader in
            guard let name = reader.text(), let value = reader.text() else { return nil }
            return HeaderField(name: name, value: value)
        }
    }
}

extension RecordedName {
    func write(to sink: inout some JournalSink) {
        sink.integer(useCase)
        sink.optional(event)
        sink.text(name)
    }

    init?(_ record: UnsafeBufferPointer<UInt64>) {
        guard record.count > JournalRecord.prefixWordCount else { return nil }
        var reader = JournalWordReader(UnsafeBufferPointer(rebasing: record[JournalRecord.prefixWordCount...]))
        guard let useCase = reader.int(), let event = reader.optionalInt(), let name = reader.text() else {
            return nil
        }
        self.init(useCase: useCase, event: event, name: name)
    }
}

extension Fact {
    /// Reads a complete record; `nil` if its words are not a valid fact.
    init?(_ kind: JournalRecord.Kind, _ record: UnsafePointer<UInt64>, wordCount: Int) {
        let prefix = JournalRecord.prefixWordCount
        guard wordCount > prefix,
            let content = Content(kind, UnsafeBufferPointer(start: record + prefix, count: wordCount - prefix))
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
