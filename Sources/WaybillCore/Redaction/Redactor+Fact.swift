extension Redactor {
    /// A fact without what is known as a secret now: what an older version or another recorder has captured leaves only
    /// through this.
    package func fact(_ fact: Fact) -> Fact {
        var fact = fact
        switch fact.content {
        case .opened(let content): if !content.attributes.isEmpty { fact.content = .opened(content.redacted(by: self)) }
        case .event(let content): if !content.isPlain { fact.content = .event(content.redacted(by: self)) }
        case .attributesSet(let content): fact.content = .attributesSet(content.redacted(by: self))
        case .closed(let content):
            if !content.attributes.isEmpty || content.error != nil {
                fact.content = .closed(content.redacted(by: self))
            }
        case .exchangeOpened(let content): fact.content = .exchangeOpened(content.redacted(by: self))
        case .exchangeClosed(let content):
            guard !content.headerFields.isEmpty || content.error != nil || !content.transfer.isEmpty else {
                return fact
            }
            fact.content = .exchangeClosed(content.redacted(by: self))
        }
        return fact
    }

    /// What is text in it, within the limits.
    package func transfer(_ transfer: Fact.Transfer) -> Fact.Transfer {
        var transfer = transfer
        transfer.httpVersion = transfer.httpVersion.map { cut(text($0), to: Limits.labelLength) }
        transfer.rule = transfer.rule.map { cut(text($0), to: Limits.labelLength) }
        transfer.redirects = transfer.redirects.prefix(Limits.redirects).map { redirect in
            var redirect = redirect
            redirect.url = cut(wholeURL(redirect.url), to: Limits.fieldLength)
            return redirect
        }
        if let reason = transfer.webSocket?.closeReason {
            transfer.webSocket?.closeReason = cut(text(reason), to: Limits.labelLength)
        }
        return transfer
    }
}

extension Fact.Opened: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var content = self
        content.attributes = redactor.attributes(attributes).0
        return content
    }
}

extension Fact.Event: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var content = self
        content.attributes = redactor.attributes(attributes).0
        content.error = error.map(redactor.error)
        return content
    }
}

extension Fact.AttributesSet: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        Fact.AttributesSet(
            attributes: redactor.attributes(attributes).0,
            removed: removed.prefix(Limits.attributes).map { redactor.cut($0, to: Limits.nameLength) })
    }
}

extension Fact.Closed: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var content = self
        content.attributes = redactor.attributes(attributes).0
        content.error = error.map(redactor.error)
        return content
    }
}

extension Fact.ExchangeOpened: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var content = self
        content.method = redactor.text(method)
        content.host = host.map(redactor.text)
        content.path = redactor.path(path)
        content.query = query.map(redactor.form)
        content.headerFields = redactor.headerFields(headerFields)
        return content
    }
}

extension Fact.ExchangeClosed: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var content = self
        content.headerFields = redactor.headerFields(headerFields)
        content.error = error.map(redactor.error)
        content.transfer = redactor.transfer(transfer)
        return content
    }
}
