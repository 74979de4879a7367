/// How a fact is written, as `Schemas/fact.v1.schema.json` describes it. What is empty, false or nil is left out.
extension Fact {
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch content {
        case .opened(let content):
            head("opened", to: &writer)
            content.write(to: &writer)
        case .event(let content):
            head("event", to: &writer)
            content.write(to: &writer)
        case .attributesSet(let content):
            head("event", to: &writer)
            content.write(to: &writer)
        case .closed(let content):
            head("closed", to: &writer)
            content.write(to: &writer)
        case .exchangeOpened(let content):
            head("exchange_opened", to: &writer)
            content.write(to: &writer)
        case .exchangeClosed(let content):
            head("exchange_closed", to: &writer)
            content.write(to: &writer)
        }
        writer.endObject()
    }

    private func head(_ kind: StaticString, to writer: inout JSONWriter) {
        writer.member("kind", word: kind)
        writer.member("sequence", sequence)
        writer.member("part", part)
        writer.member("at_us", atMicroseconds)
    }
}

extension Fact.Opened {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("transaction", transaction)
        writer.member("use_case", useCase)
        writer.member("joined", isJoined)
        writer.member("timeout_us", timeoutMicroseconds)
        if let cause {
            writer.key("cause")
            writer.beginObject()
            writer.member("source", cause.source)
            writer.member("sequence", cause.sequence)
            writer.endObject()
        }
        if let parent { writer.member("parent", parent) }
        writer.member("parent_part", parentPart)
        writer.member("attributes", attributes)
        writer.members(sampling)
    }
}

extension Fact.Event {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("event", code)
        writer.member("error", error)
        writer.member("attributes", attributes)
    }
}

extension Fact.AttributesSet {
    /// As an event of the largest code, which readers of before version 1.4 take it for: none refuses it.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("event", Limits.largestInteger)
        writer.member("attributes", attributes)
        writer.member("sets_attributes", true)
        writer.member("removed", removed)
    }
}

extension Fact.Closed {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("outcome", outcome.name)
        writer.member("error", error)
        writer.member("attributes", attributes)
    }
}

extension Fact.ExchangeOpened {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("role", role.name)
        writer.member("method", method)
        writer.member("scheme", scheme)
        writer.member("host", host)
        writer.member("port", port)
        writer.member("path", path)
        writer.member("query", query)
        writer.member("headers", headerFields)
    }
}

extension Fact.ExchangeClosed {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("exchange", exchange)
        writer.member("state", state.name)
        writer.member("status", status)
        writer.member("first_byte_us", firstByteAtMicroseconds)
        writer.member("sent_bytes", sentByteCount)
        writer.member("received_bytes", receivedByteCount)
        writer.member("headers", headerFields)
        writer.member("error", error)
        writer.members(transfer)
    }
}
