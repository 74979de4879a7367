import WaybillCore

/// What a span becomes, redacted: facts in order, numbered from 2 in a part that is called 1, and the names of their
/// codes in a use case that is called 0; from 1 where the span stands for the part.
struct SpanFacts {
    private(set) var facts: [Fact] = []
    private(set) var names: [RecordedName] = []
    /// Whether the first opens the part, and the last closes it.
    let isPart: Bool

    /// Microseconds of what an internal span took, beside its attributes.
    static let duration = "duration_us"

    /// - Parameter isPart: Whether the span stands for the part: it is opened and closed with it.
    init(_ span: ReceivedSpan, isPart: Bool, redactor: Redactor) {
        self.isPart = isPart
        let error = span.error
        let exchange = SpanExchange(span, error: error, redactor: redactor)
        var rest = exchange == nil ? span.attributes : span.attributes.filter { !SpanExchange.isPart($0.key) }
        for (index, link) in span.links.enumerated() { rest["link.\(index + 1)"] = .string(link.text) }
        let name = redactor.label(span.name.isEmpty ? "unnamed" : span.name)
        if isPart {
            let code = NameCode.code(of: name)
            names.append(RecordedName(useCase: code, name: name))
            append(
                .opened(
                    Fact.Opened(
                        transaction: span.transaction, useCase: code, isJoined: span.parent != nil, attributes: rest)),
                at: span.startMicroseconds, redactor)
        }
        if let exchange {
            append(.exchangeOpened(exchange.opened), at: span.startMicroseconds, redactor)
            var closed = exchange.closed
            closed.exchange = facts[facts.count - 1].sequence
            append(.exchangeClosed(closed), at: span.endMicroseconds, redactor)
        }
        if !isPart, exchange == nil || !rest.isEmpty {
            rest[Self.duration] = .integer(span.endMicroseconds - span.startMicroseconds)
            let error = span.hasFailed && exchange == nil ? error ?? .unknown : nil
            append(name, error, rest, at: span.startMicroseconds, redactor)
        }
        for event in span.events {
            let isException = event.name == "exception"
            let attributes = event.attributes.filter { !isException || !$0.key.hasPrefix("exception.") }
            append(
                redactor.label(event.name.isEmpty ? "unnamed" : event.name),
                isException ? event.exception ?? .unknown : nil, attributes,
                at: event.atMicroseconds > 0 ? event.atMicroseconds : span.startMicroseconds, redactor)
        }
        if isPart {
            let error = span.hasFailed && exchange?.closed.error == nil ? error : nil
            append(
                .closed(Fact.Closed(outcome: span.hasFailed ? .failed : .succeeded, error: error)),
                at: span.endMicroseconds, redactor)
        }
    }

    /// Takes the facts of a span that has waited.
    init(waiting bytes: [UInt8]) {
        isPart = false
        guard let share = try? TransactionSet.decode(bytes).set.sources.first else { return }
        (facts, names) = (share.facts, share.names)
    }

    /// A part for spans whose own never came.
    ///
    /// - Parameter name: What the part is called.
    init(partOf transaction: GUID, named name: String, during times: ClosedRange<Int64>) {
        isPart = true
        let code = NameCode.code(of: name)
        names = [RecordedName(useCase: code, name: name)]
        facts = [
            Fact(
                sequence: 1, part: 1, atMicroseconds: times.lowerBound,
                content: .opened(Fact.Opened(transaction: transaction, useCase: code, isJoined: true))),
            Fact(
                sequence: 2, part: 1, atMicroseconds: times.upperBound,
                content: .closed(Fact.Closed(outcome: .abandoned))),
        ]
    }

    /// As what waits is kept.
    var encoded: [UInt8] {
        let id = GUID(high: 0, low: 0)
        let share = TransactionSet.Share(
            source: RecordedSource(id: id), clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 0)],
            names: names, facts: facts)
        return TransactionSet(id: id, sources: [share]).encoded()
    }

    private mutating func append(
        _ name: String, _ error: RecordedError?, _ attributes: Attributes, at time: Int64, _ redactor: Redactor
    ) {
        let code = NameCode.code(of: name)
        if !names.contains(where: { $0.event == code }) {
            names.append(RecordedName(useCase: 0, event: code, name: name))
        }
        append(.event(Fact.Event(code: code, error: error, attributes: attributes)), at: time, redactor)
    }

    private mutating func append(_ content: Fact.Content, at time: Int64, _ redactor: Redactor) {
        facts.append(
            redactor.fact(
                Fact(
                    sequence: Int64(facts.count + (isPart ? 1 : 2)), part: 1, atMicroseconds: time, content: content)))
    }
}

extension RecordedError {
    /// Of a span that failed and says no more: OTLP's `STATUS_CODE_ERROR`.
    fileprivate static let unknown = RecordedError(domain: "opentelemetry", code: 2)
}

extension ReceivedSpan {
    /// Why it failed: its last exception, else the type of its error, else what its status says; nil where it did not,
    /// or said nothing.
    fileprivate var error: RecordedError? {
        guard hasFailed else { return nil }
        if let exception = events.last(where: { $0.name == "exception" })?.exception { return exception }
        let text = statusMessage.isEmpty ? nil : statusMessage
        if let type = attributes.text("error.type"), Int(type) == nil { return RecordedError(type: type, text: text) }
        return text.map { RecordedError(domain: "opentelemetry", code: 2, text: $0) }
    }
}

extension ReceivedSpan.Event {
    /// By the semantic conventions for exceptions; without the stack, which has paths and values of the service.
    fileprivate var exception: RecordedError? {
        attributes.text("exception.type").map {
            RecordedError(type: $0, text: attributes.text("exception.message"))
        }
    }
}

extension RecordedError {
    /// `requests.exceptions.ConnectionError` is `ConnectionError` of `requests.exceptions`.
    fileprivate init(type: String, text: String?) {
        let parts = type.split(separator: ".", omittingEmptySubsequences: false)
        self.init(
            domain: parts.dropLast().joined(separator: "."), code: 0, name: parts.last.map(String.init) ?? type,
            text: text)
    }
}
