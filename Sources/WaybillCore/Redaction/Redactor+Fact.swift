extension Redactor {
    /// A fact without what is known as a secret now: what an older version or another recorder has captured leaves only through this.
    package func fact(_ fact: Fact) -> Fact {
        var fact = fact
        switch fact.content {
        case .opened(var content):
            guard !content.attributes.isEmpty else { return fact }
            content.attributes = attributes(content.attributes).0
            fact.content = .opened(content)
        case .event(var content):
            guard !content.isPlain else { return fact }
            content.attributes = attributes(content.attributes).0
            content.error = content.error.map(error)
            fact.content = .event(content)
        case .closed(var content):
            guard !content.attributes.isEmpty || content.error != nil else { return fact }
            content.attributes = attributes(content.attributes).0
            content.error = content.error.map(error)
            fact.content = .closed(content)
        case .exchangeOpened(var content):
            content.method = text(content.method)
            content.host = content.host.map(text)
            content.path = path(content.path)
            content.query = content.query.map(form)
            content.headerFields = headerFields(content.headerFields)
            fact.content = .exchangeOpened(content)
        case .exchangeClosed(var content):
            guard !content.headerFields.isEmpty || content.error != nil || !content.transfer.isEmpty else { return fact }
            content.headerFields = headerFields(content.headerFields)
            content.error = content.error.map(error)
            content.transfer = transfer(content.transfer)
            fact.content = .exchangeClosed(content)
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
        return transfer
    }
}
