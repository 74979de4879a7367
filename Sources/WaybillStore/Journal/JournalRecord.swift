import WaybillCore

/// The content of a journal's record, and its layout in words: heading, sequence, time, part, and the kind's fields.
///
/// Integers have the machine's byte order, because a journal never leaves its device.
enum JournalRecord {
    /// 0 is no kind, so zeroed room is not a record.
    enum Kind: UInt8 {
        case opened = 1
        case event
        case closed
        case exchangeOpened
        case exchangeClosed
        /// A name is not a fact and has no sequence.
        case name
        case filler
        case attributesSet
    }

    static let prefixWordCount = 4

    static let plainEventWordCount = prefixWordCount + 1
}

extension Fact.Content {
    var journalKind: JournalRecord.Kind {
        switch self {
        case .opened: .opened
        case .event: .event
        case .attributesSet: .attributesSet
        // Only readers of sets make them, and a recorder takes none.
        case .unknown: .filler
        case .closed: .closed
        case .exchangeOpened: .exchangeOpened
        case .exchangeClosed: .exchangeClosed
        }
    }

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
            // Omitted fields at the end take no room; this also holds for events and exchanges.
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
        case .unknown: break
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
            if !content.transfer.isEmpty { sink.transfer(content.transfer) }
        }
    }
}

extension JournalSink {
    fileprivate mutating func detail(error: RecordedError?, _ attributes: Attributes) {
        // Names and underlying errors take no room if there are none.
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
