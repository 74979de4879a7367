package import WaybillCore
package import WaybillQueries

/// Applies filters by examining every fact.
extension NaiveAnswers {
    package func passes(_ filter: TransactionFilter, _ run: Run) -> Bool {
        guard filter.isFolded, let parent = run.leader.opened.parent, parent != run.id else {
            return passesUnfolded(filter, run)
        }
        return passesUnfolded(filter, run) && !runs.contains { $0.id == parent && passesUnfolded(filter, $0) }
    }

    private func passesUnfolded(_ filter: TransactionFilter, _ run: Run) -> Bool {
        isLetThrough(run, by: filter.beginner) && filter.conditions.allSatisfy { passes($0, run) }
    }

    func isLetThrough(_ run: Run, by beginner: TransactionFilter.Beginner) -> Bool {
        switch beginner {
        case .known: !run.leader.opened.isJoined
        case .unknown: run.leader.opened.isJoined
        case .any: true
        }
    }

    /// The key that sorts a list. Transactions without a duration come last.
    package func key(_ order: TransactionFilter.Order, _ run: Run) -> Int64 {
        switch order {
        case .newest: -run.begun
        case .oldest: run.begun
        case .longest: run.duration.map { -$0 } ?? .max
        case .shortest: run.duration ?? .max
        }
    }

    private func equal(_ left: String, _ right: String) -> Bool { left.lowercased() == right.lowercased() }

    private func contains(_ text: String, _ other: String) -> Bool {
        other.isEmpty || text.lowercased().contains(other.lowercased())
    }

    private func isOn(_ os: String, _ source: Int) -> Bool {
        let whole = "\(histories[source].source.os) \(histories[source].source.osVersion)"
        return equal(whole, os) || [".", " "].contains { whole.lowercased().hasPrefix(os.lowercased() + $0) }
    }

    private func ended(_ value: String, _ source: Int) -> Bool {
        guard histories[source].hasEnded else { return false }
        let name = histories[source].endedBy?.name
        return switch value {
        case "unknown": name == nil
        case "signal": name?.hasPrefix("SIG") ?? false
        default: name == value
        }
    }

    // MARK: Transactions

    private func passes(_ condition: FilterCondition, _ run: Run) -> Bool {
        let source = histories[run.leader.source].source
        return switch condition {
        case .useCase(let code): run.leader.opened.useCase == code
        case .outcome(let outcomes): outcomes.isEmpty || outcomes.contains(run.outcome)
        case .sinceMicroseconds(let time): run.begun >= time
        case .untilMicroseconds(let time): run.begun < time
        case .event(let name): run.events.contains { $0.name == name }
        case .error(let pattern):
            run.parts.flatMap(\.facts).contains { error(of: $0).map { matches($0, pattern) } ?? false }
        case .finishError(let error): run.closing?.closed.error.map { isSame($0, error) } ?? false
        case .attribute(let name, let value):
            run.parts.contains { part in
                ([histories[part.source].source.attributes] + part.facts.compactMap { attributes(of: $0) })
                    .contains { $0[name].map { isEqual($0, value) } ?? false }
            }
        case .status(let range):
            exchanges(of: run).contains { $0.closing?.closed.status.map { range.contains($0) } ?? false }
        case .exchange(let state): exchanges(of: run).contains { $0.state == state }
        case .app(let value): equal(source.app, value)
        case .appVersion(let value): equal(source.appVersion, value)
        case .device(let value): equal(source.device, value)
        case .osVersion(let value): equal(source.osVersion, value)
        case .source(let id): source.id == id
        case .installation(let id): source.installation == id
        case .ended(let value): run.outcome == .interrupted && ended(value, run.leader.source)
        case .sampled(let sampled):
            run.leader.opened.sampling.map { $0.isChosen ? .chosen : .unchosen } ?? .none == sampled
        case .oneIn(let count): run.id.isOne(in: count)
        case .os(let value): isOn(value, run.leader.source)
        case .tookMoreThan(let limit): run.duration.map { $0 > limit.microseconds } ?? false
        case .tookLessThan(let limit): run.duration.map { $0 < limit.microseconds } ?? false
        case .text(let text): mentions(text, run)
        case .parent(let relative): run.leader.opened.parent.map { isMeant(relative, $0) } ?? false
        case .root(let relative):
            root(of: run).map { top in
                isMeant(relative, top.id) || top.leader.opened.parent.map { isMeant(relative, $0) } ?? false
            } ?? false
        case .child(let relative): children(of: run).contains { isMeant(relative, $0.id) }
        case .not(let condition): !passes(condition, run)
        // Filters of transactions have none of these.
        case .state, .host, .path, .method, .receivedMoreThan, .receivedLessThan, .closeCode: false
        }
    }

    private func isMeant(_ relative: FilterCondition.Relative, _ id: GUID) -> Bool {
        let run = runs.first { $0.id == id }
        return switch relative {
        case .known: run != nil
        case .transaction(let meant): meant == id
        case .supportCode(let code): SupportCode(id) == code
        case .useCase(let code): run?.leader.opened.useCase == code
        case .outcome(let outcome): run?.outcome == outcome
        }
    }

    /// The topmost known ancestor; `nil` if the walk to it does not end.
    private func root(of run: Run) -> Run? {
        var top = run
        for _ in 0...ParentWalk.limit {
            guard let parent = runs.first(where: { $0.id == top.leader.opened.parent }) else { return top }
            top = parent
        }
        return nil
    }

    /// Compares values as they are shown, and numbers however they are written. `nil` matches any value.
    private func isEqual(_ given: AttributeValue, _ value: String?) -> Bool {
        guard let value else { return true }
        return switch given {
        case .integer(let number): Double(value) == Double(number)
        case .double(let number): Double(value) == number
        case .string, .bool: given.description == value
        }
    }

    /// The attributes that a fact sets; `nil` if it can't set any.
    func attributes(of fact: Fact) -> Attributes? {
        switch fact.content {
        case .opened(let opened): opened.attributes
        case .event(let event): event.attributes
        case .attributesSet(let content): content.attributes
        case .closed(let closed): closed.attributes
        case .exchangeOpened, .exchangeClosed, .unknown: nil
        }
    }

    /// The latest value of an attribute in a transaction: from its closing, else its latest event or change, else its
    /// opening, else its source. The leading part has precedence over the others.
    package func latest(_ name: String, in run: Run) -> AttributeValue? {
        let others = run.parts.filter { $0.id != run.leader.id }
            .sorted { ($0.id.source, $0.id.sequence) < ($1.id.source, $1.id.sequence) }
        for part in [run.leader] + others {
            let between = part.facts.filter {
                $0.sequence != part.fact.sequence && $0.sequence != part.closing?.fact.sequence
            }
            for fact in [part.closing?.fact].compactMap(\.self) + between.reversed() + [part.fact] {
                if let value = attributes(of: fact)?[name] { return value }
                if case .attributesSet(let content) = fact.content, content.removed.contains(name) { return nil }
            }
            if let value = histories[part.source].source.attributes[name] { return value }
        }
        return nil
    }

    private func error(of fact: Fact) -> RecordedError? {
        switch fact.content {
        case .closed(let closed): closed.error
        case .event(let event): event.error
        case .exchangeClosed(let closed): closed.error
        case .opened, .attributesSet, .exchangeOpened, .unknown: nil
        }
    }

    /// Whether domain, name and innermost cause are equal, or domain and code if an error has no name.
    func isSame(_ left: RecordedError, _ right: RecordedError) -> Bool {
        func words(_ error: RecordedError.Underlying) -> [String?] {
            [error.domain, error.name, error.name == nil ? "\(error.code)" : nil]
        }
        return words(left.chain[0]) == words(right.chain[0])
            && left.underlying.last.map(words) == right.underlying.last.map(words)
    }

    private func matches(_ error: RecordedError, _ pattern: String) -> Bool {
        if pattern == "*" { return true }
        let words = pattern.split(separator: " ").map(String.init)
        let code = words.last.flatMap { Int64($0) }
        let text = (code == nil ? words : words.dropLast()).joined(separator: " ")
        return error.chain.contains { one in
            if let code, code != one.code { return false }
            if contains(one.domain, text) { return true }
            guard let name = one.name else { return false }
            return contains(name, text) || "\(one.domain) \(name)".lowercased().hasSuffix(text.lowercased())
        } || (code ?? error.code) == error.code && error.text.map { contains($0, text) } ?? false
    }

    func exchanges(of run: Run) -> [NaiveExchange] { exchanges.filter { $0.transaction == run.id } }

    private func mentions(_ text: String, _ run: Run) -> Bool {
        let ids = run.parts.flatMap { part in
            part.facts.map { fact -> (useCase: Int, event: Int?) in
                if case .event(let event) = fact.content {
                    (part.opened.useCase, event.code)
                } else {
                    (run.leader.opened.useCase, nil)
                }
            }
        }
        return isAbout(text, run.id)
            || names.contains { name in
                contains(name.name.name, text)
                    && ids.contains { $0.useCase == name.name.useCase && $0.event == name.name.event }
            }
            || run.parts.flatMap(\.facts).contains { fact in
                if case .exchangeOpened(let opened) = fact.content, contains((opened.host ?? "") + opened.path, text) {
                    return true
                }
                return texts(of: fact).contains { contains($0, text) }
            }
    }

    /// Whether a text is the ID, a piece of it, or the support code.
    private func isAbout(_ text: String, _ transaction: GUID) -> Bool {
        contains(transaction.description, text) || SupportCode(text) == SupportCode(transaction)
    }

    /// The texts of a fact, except for the parts of a URL.
    private func texts(of fact: Fact) -> [String] {
        func words(_ attributes: Attributes, _ error: RecordedError?) -> [String] {
            attributes.map { "\($0.key)=\($0.value)" } + [error?.text].compactMap(\.self)
                + (error?.chain ?? []).flatMap { [$0.domain, $0.name].compactMap(\.self) }
        }
        switch fact.content {
        case .opened(let content): return words(content.attributes, nil)
        case .event(let content): return words(content.attributes, content.error)
        case .attributesSet(let content): return words(content.attributes, nil) + content.removed
        case .closed(let content): return words(content.attributes, content.error)
        case .unknown: return []
        case .exchangeOpened(let content):
            return [content.scheme, content.query].compactMap(\.self)
                + content.headerFields.flatMap { [$0.name, $0.value] }
        case .exchangeClosed(let content):
            let transfer = content.transfer
            return words([:], content.error) + content.headerFields.flatMap { [$0.name, $0.value] }
                + transfer.redirects.map(\.url)
                + [transfer.httpVersion, transfer.rule, transfer.webSocket?.closeReason].compactMap(\.self)
        }
    }

    // MARK: Exchanges

    package func passes(_ filter: ExchangeFilter, _ exchange: NaiveExchange) -> Bool {
        let run = runs.first { $0.id == exchange.transaction }
        return filter.conditions.allSatisfy { passes($0, exchange, run) }
    }

    private func passes(_ condition: FilterCondition, _ exchange: NaiveExchange, _ run: Run?) -> Bool {
        if condition.isOfTransaction { return run.map { passes(condition, $0) } ?? false }
        let (opened, closed) = (exchange.opened, exchange.closing?.closed)
        let source = histories[exchange.source].source
        switch condition {
        case .sinceMicroseconds(let time): return exchange.wall >= time
        case .untilMicroseconds(let time): return exchange.wall < time
        case .host(let host):
            return opened.host.map { equal($0, host) || $0.lowercased().hasSuffix(".\(host.lowercased())") } ?? false
        case .path(let path):
            let whole = "/" + path.drop { $0 == "/" }
            return opened.path == whole || opened.path.hasPrefix(whole.hasSuffix("/") ? whole : "\(whole)/")
        case .method(let methods): return methods.contains { equal($0, opened.method) }
        case .status(let range): return closed?.status.map { range.contains($0) } ?? false
        case .state(let states): return states.contains(exchange.state)
        case .closeCode(let range): return closed?.transfer.webSocket?.closeCode.map { range.contains($0) } ?? false
        case .error(let pattern): return closed?.error.map { matches($0, pattern) } ?? false
        case .tookMoreThan(let limit): return exchange.duration.map { $0 > limit.microseconds } ?? false
        case .tookLessThan(let limit): return exchange.duration.map { $0 < limit.microseconds } ?? false
        case .receivedMoreThan(let count): return closed?.receivedByteCount.map { $0 > count } ?? false
        case .receivedLessThan(let count): return closed?.receivedByteCount.map { $0 < count } ?? false
        case .app(let value): return equal(source.app, value)
        case .appVersion(let value): return equal(source.appVersion, value)
        case .device(let value): return equal(source.device, value)
        case .osVersion(let value): return equal(source.osVersion, value)
        case .source(let id): return source.id == id
        case .installation(let id): return source.installation == id
        case .ended(let value): return closed == nil && ended(value, exchange.source)
        case .os(let value): return isOn(value, exchange.source)
        case .text(let text): return mentions(text, exchange)
        case .not(let condition): return !passes(condition, exchange, run)
        // Conditions about its transaction were checked above, and filters of exchanges have no `exchange:`.
        case .useCase, .outcome, .event, .attribute, .sampled, .oneIn, .exchange, .finishError, .parent, .root, .child:
            return false
        }
    }

    private func mentions(_ text: String, _ exchange: NaiveExchange) -> Bool {
        contains("\(exchange.opened.method) \(exchange.opened.url)", text)
            || exchange.transaction.map { isAbout(text, $0) } ?? false
            || [exchange.fact, exchange.closing?.fact].compactMap(\.self).flatMap(texts).contains { contains($0, text) }
    }
}
