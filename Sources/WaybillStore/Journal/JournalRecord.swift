import WaybillCore

/// What one record of a journal holds, and how it lies in words.
///
/// The first word is the record's heading (``JournalHeading``), written last; then sequence, time, part, and what the
/// kind needs. Integers are in the machine's byte order: a journal never leaves its device.
enum JournalRecord {
    /// The first byte of the heading that is not its size; 0 is no kind, so that zeroed room is not a record.
    enum Kind: UInt8 {
        case opened = 1
        case event
        case closed
        case exchangeOpened
        case exchangeClosed
        /// A name that an app gives to a code: no fact, has no sequence.
        case name
        /// The rest of a segment that the next record did not fit into.
        case filler
        case attributesSet
    }

    /// Words before what the kind needs: heading, sequence, time, part.
    static let prefixWordCount = 4

    /// Words of an event of which there is no more to say than its code: the least that a fact has.
    static let plainEventWordCount = prefixWordCount + 1
}

extension Fact.Content {
    var journalKind: JournalRecord.Kind {
        switch self {
        case .opened: .opened
        case .event: .event
        case .attributesSet: .attributesSet
        case .closed: .closed
        case .exchangeOpened: .exchangeOpened
        case .exchangeClosed: .exchangeClosed
        }
    }

    /// Writes what follows the prefix. A plain event is one word.
    @inline(__always)
    func write(to sink: inout some JournalSink) {
        switch self {
        case .opened(let content):
            sink.word(content.transaction.high)
            sink.word(content.transaction.low)
            sink.integer(content.useCase)
            sink.integer(content.isJoined ? 1 : 0)
            sink.integer(content.timeoutMicroseconds)
            sink.word(content.cause == nil ? 0 : 1)
            if let cause = content.cause {
                sink.word(cause.source.high)
                sink.word(cause.source.low)
                sink.integer(cause.sequence)
            }
            sink.detail(error: nil, content.attributes)
            // As with exchanges: what most do not have takes no room.
            if content.parent != nil || content.sampling != nil {
                sink.optional(content.parent)
                sink.optional(content.parentPart)
            }
            if let sampling = content.sampling {
                sink.integer(sampling.perMillion)
                sink.integer(sampling.isChosen ? 1 : 0)
                sink.optional(sampling.slowMicroseconds)
            }
        case .event(let content):
            sink.integer(content.code)
            if !content.isPlain { sink.detail(error: content.error, content.attributes) }
        case .attributesSet(let content):
            sink.detail(error: nil, content.attributes)
            sink.integer(content.removed.count)
            for name in content.removed { sink.text(name) }
        case .closed(let content):
            sink.integer(content.outcome.rawValue)
            sink.detail(error: content.error, content.attributes)
        case .exchangeOpened(let content):
            sink.integer(content.role.rawValue)
            sink.text(content.method)
            sink.optional(content.scheme)
            sink.optional(content.host)
            sink.optional(content.port)
            sink.text(content.path)
            sink.optional(content.query)
            sink.headerFields(content.headerFields)
        case .exchangeClosed(let content):
            sink.integer(content.exchange)
            sink.integer(content.state.rawValue)
            sink.optional(content.status)
            sink.optional(content.firstByteAtMicroseconds)
            sink.optional(content.sentByteCount)
            sink.optional(content.receivedByteCount)
            sink.headerFields(content.headerFields)
            sink.detail(error: content.error, [:])
            // As with events: what most do not have takes no room.
            if !content.transfer.isEmpty { sink.transfer(content.transfer) }
        }
    }
}

extension JournalSink {
    fileprivate mutating func detail(error: RecordedError?, _ attributes: Attributes) {
        // What most errors of old did not have takes no room where there is none of it.
        let isNamed = error.map { $0.name != nil || !$0.underlying.isEmpty } ?? false
        word(error == nil ? 0 : isNamed ? 2 : 1)
        if let error {
            text(error.domain)
            integer(error.code)
            optional(error.text)
            if isNamed {
                optional(error.name)
                integer(error.underlying.count)
                for underlying in error.underlying {
                    text(underlying.domain)
                    integer(underlying.code)
                    optional(underlying.name)
                }
            }
        }
        integer(attributes.count)
        for (name, value) in attributes {
            text(name)
            switch value {
            case .string(let value):
                word(0)
                text(value)
            case .integer(let value):
                word(1)
                integer(value)
            case .double(let value):
                word(2)
                word(value.bitPattern)
            case .bool(let value):
                word(3)
                word(value ? 1 : 0)
            }
        }
    }

    fileprivate mutating func transfer(_ transfer: Fact.Transfer) {
        optional(transfer.httpVersion)
        optional(transfer.receivedWireByteCount)
        optional(transfer.sentAtMicroseconds)
        optional(transfer.phases.lookupMicroseconds)
        optional(transfer.phases.connectMicroseconds)
        optional(transfer.phases.secureMicroseconds)
        optional(transfer.isConnectionReused.map { $0 ? 1 : 0 } as Int?)
        integer(transfer.redirects.count)
        for redirect in transfer.redirects {
            integer(redirect.status)
            text(redirect.url)
            integer(redirect.atMicroseconds)
        }
        integer(transfer.isMocked ? 1 : 0)
        optional(transfer.rule)
        if let socket = transfer.webSocket { webSocket(socket) }
    }

    fileprivate mutating func webSocket(_ socket: Fact.WebSocket) {
        integer(socket.sentMessageCount)
        integer(socket.receivedMessageCount)
        integer(socket.pingCount)
        optional(socket.closeCode)
        optional(socket.closeReason)
        integer(socket.messages.count)
        for message in socket.messages {
            integer(message.atMicroseconds)
            integer((message.isSent ? 1 : 0) | (message.isText ? 2 : 0))
            integer(message.byteCount)
        }
    }

    fileprivate mutating func headerFields(_ fields: [HeaderField]) {
        integer(fields.count)
        for field in fields {
            text(field.name)
            text(field.value)
        }
    }
}
