package import WaybillCore
package import WaybillStore

extension RecordingDraft {
    /// Returns `nil` for a kind of fact that this version doesn't know.
    package init?(_ fact: Fact, of origin: FactOrigin) {
        let (transaction, useCase) = (origin.part?.transaction ?? .unknown, origin.part?.useCase ?? -1)
        switch fact.content {
        case .opened(let content):
            self = .opened(
                Opened(
                    transaction: content.transaction, useCase: content.useCase, isJoined: content.isJoined,
                    parent: content.parent, attributes: content.attributes))
        case .event(let content):
            self = .event(
                Event(
                    transaction: transaction, useCase: useCase, code: content.code, name: origin.eventName,
                    error: content.error, attributes: content.attributes))
        case .attributesSet(let content):
            self = .attributesSet(
                AttributesSet(
                    transaction: transaction, useCase: useCase, attributes: content.attributes,
                    removed: content.removed))
        case .closed(let content):
            self = .closed(
                Closed(
                    transaction: transaction, useCase: useCase, outcome: content.outcome, error: content.error,
                    attributes: content.attributes))
        case .exchangeOpened(let content):
            self = .exchangeOpened(ExchangeOpened(content, transaction: origin.part?.transaction))
        case .exchangeClosed(let content):
            let request =
                origin.request.map { ExchangeOpened($0, transaction: origin.part?.transaction) }
                ?? ExchangeOpened(
                    transaction: origin.part?.transaction, role: .client, method: "", url: "", headerFields: [])
            self = .exchangeClosed(ExchangeClosed(content, of: request))
        case .unknown: return nil
        }
    }

    /// Returns the fact with the changes of the draft, redacted and cut to the limits.
    ///
    /// - Returns: `nil` if the draft is of another kind.
    package func applied(to fact: Fact, redactedBy redactor: Redactor) -> Fact? {
        var fact = fact
        switch (self, fact.content) {
        case (.opened(let draft), .opened(var content)):
            content.attributes = draft.attributes
            fact.content = .opened(content)
        case (.event(let draft), .event(var content)):
            (content.error, content.attributes) = (draft.error, draft.attributes)
            fact.content = .event(content)
        case (.attributesSet(let draft), .attributesSet(var content)):
            content.attributes = draft.attributes.filter { !content.removed.contains($0.key) }
            fact.content = .attributesSet(content)
        case (.closed(let draft), .closed(var content)):
            (content.error, content.attributes) = (draft.error, draft.attributes)
            fact.content = .closed(content)
        case (.exchangeOpened(let draft), .exchangeOpened(var content)):
            if draft.url != ExchangeOpened(content, transaction: nil).url {
                let address = redactor.url(draft.url)
                (content.scheme, content.host, content.port) = (address.scheme, address.host, address.port)
                (content.path, content.query) = (address.path, address.query)
            }
            (content.method, content.headerFields) = (draft.method, draft.headerFields)
            fact.content = .exchangeOpened(content)
        case (.exchangeClosed(let draft), .exchangeClosed(var content)):
            draft.apply(to: &content)
            fact.content = .exchangeClosed(content)
        case (.opened, _), (.event, _), (.attributesSet, _), (.closed, _), (.exchangeOpened, _), (.exchangeClosed, _),
            (.body, _):
            return nil
        }
        return fact.redacted(by: redactor)
    }
}

extension RecordingDraft.ExchangeOpened {
    fileprivate init(_ content: Fact.ExchangeOpened, transaction: GUID?) {
        self.init(
            transaction: transaction, role: content.role, method: content.method,
            url: content.scheme == nil ? "//\(content.url)" : content.url, headerFields: content.headerFields)
    }
}

extension RecordingDraft.ExchangeClosed {
    init(_ content: Fact.ExchangeClosed, of request: RecordingDraft.ExchangeOpened) {
        self.init(
            request: request, state: content.state, status: content.status, headerFields: content.headerFields,
            error: content.error, redirects: content.transfer.redirects.map(RecordingDraft.Redirect.init),
            closeReason: content.transfer.webSocket?.closeReason)
    }

    func apply(to content: inout Fact.ExchangeClosed) {
        (content.headerFields, content.error) = (headerFields, error)
        content.transfer.redirects = redirects.map(\.changed)
        content.transfer.webSocket?.closeReason = closeReason
    }
}

extension GUID {
    /// The transaction of a fact that arrived before the opening of its part.
    fileprivate static let unknown = GUID(high: 0, low: 0)
}
