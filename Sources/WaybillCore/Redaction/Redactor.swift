import Foundation

/// Removes secrets from records, at capture and again at export. It hides values under names like `password`, and
/// values in the form of secrets anywhere. It never fails, and redacting twice changes nothing more.
package struct Redactor: Sendable {
    package static let placeholder = "[redacted]"
    static let placeholderBytes = Array(placeholder.utf8)

    let names: SensitiveNames

    /// Compares whole names, ignoring case, hyphens and underscores. Values in the form of secrets are hidden anyway.
    package init(additionalNames: [String] = [], visibleNames: [String] = []) {
        names = SensitiveNames(additional: additionalNames, visible: visibleNames)
    }

    package static let off = Redactor(names: SensitiveNames(isOff: true))

    private init(names: SensitiveNames) { self.names = names }

    package func isSensitive(_ name: String) -> Bool { names.contains(name.utf8) }

    package func text(_ text: String) -> String {
        guard SecretShapes.mayOccur(in: text.utf8),
            let redacted = embeddedText(Array(text.utf8))
        else {
            return text
        }
        return String(decoding: redacted, as: UTF8.self)
    }

    package func label(_ name: String) -> String { text(name).cut(to: Limits.labelLength) }

    package func value(_ value: String, named name: String) -> String {
        names.hides(value.utf8, under: name.utf8) ? Self.placeholder : text(value)
    }

    /// Redacts attributes and applies the limits: the first `Limits.attributes` by name, with names and values cut.
    /// Integers beyond 2^53 and non-finite doubles become strings. `truncated` counts the affected attributes.
    package func attributes(_ attributes: Attributes) -> (Attributes, truncated: Int) {
        if attributes.count <= Limits.attributes, attributes.allSatisfy({ isFine($0.key, $0.value) }) {
            return (attributes, 0)
        }
        var result: Attributes = [:]
        var truncated = max(0, attributes.count - Limits.attributes)
        for (name, value) in attributes.sortedByName.prefix(Limits.attributes) {
            let (shortValue, isCut) = attribute(value, named: name)
            if isCut || name.isLonger(than: Limits.nameLength) { truncated += 1 }
            result[name.cut(to: Limits.nameLength)] = shortValue
        }
        return (result, truncated)
    }

    package func method(_ method: String) -> String { method.isEmpty ? "GET" : label(method) }

    package func headerFields(_ fields: [HeaderField]) -> [HeaderField] {
        fields.lazy.filter { !$0.name.isEmpty }.prefix(Limits.headerFields).map { field in
            HeaderField(
                name: field.name.cut(to: Limits.nameLength),
                value: value(field.value, named: field.name).cut(to: Limits.fieldLength))
        }
    }

    /// Redacts an error and applies the limits. A code beyond 2^53 becomes the nearest that fits.
    package func error(_ error: RecordedError) -> RecordedError {
        RecordedError(
            domain: label(error.domain), code: error.code.bounded, name: name(error.name),
            underlying: error.underlying.prefix(Limits.underlyingErrors).map {
                RecordedError.Underlying(domain: label($0.domain), code: $0.code.bounded, name: name($0.name))
            },
            text: error.text.map { text($0).cut(to: Limits.textLength) })
    }

    private func name(_ name: String?) -> String? { name.flatMap { $0.isEmpty ? nil : label($0) } }

    // MARK: Attributes

    private func isFine(_ name: String, _ value: AttributeValue) -> Bool {
        let (redacted, isCut) = attribute(value, named: name)
        return redacted == value && !isCut && !name.isLonger(than: Limits.nameLength)
    }

    private func isSecret(_ number: some CustomStringConvertible, named name: String) -> Bool {
        let meaning = names.meaning(of: name.utf8)
        return meaning != .harmless && names.hides(number: number.description, as: meaning)
    }

    private func attribute(_ value: AttributeValue, named name: String) -> (AttributeValue, isCut: Bool) {
        switch value {
        case .bool: return (value, false)
        case .string(let string):
            let redacted = self.value(string, named: name)
            return (.string(redacted.cut(to: Limits.valueLength)), redacted.isLonger(than: Limits.valueLength))
        case .integer(let integer):
            if isSecret(integer, named: name) { return (.string(Self.placeholder), false) }
            // The shortest number with the shape of a secret has thirteen digits.
            guard integer.magnitude >= 1_000_000_000_000 else { return (value, false) }
            let digits = "\(integer)"
            let redacted = text(digits)
            if redacted != digits { return (.string(redacted), false) }
            return integer.magnitude > UInt(Limits.largestInteger) ? (.string(digits), true) : (value, false)
        case .double(let double):
            if isSecret(double, named: name) { return (.string(Self.placeholder), false) }
            return double.isFinite ? (value, false) : (.string("\(double)"), true)
        }
    }
}

/// Redacts by the current rules, for facts that an older version or another recorder captured.
extension Fact: Redactable {
    package mutating func redact(by redactor: Redactor) {
        switch content {
        case .opened(let opened): if !opened.attributes.isEmpty { content = .opened(opened.redacted(by: redactor)) }
        case .event(let event): if !event.isPlain { content = .event(event.redacted(by: redactor)) }
        case .attributesSet(let changes): content = .attributesSet(changes.redacted(by: redactor))
        case .closed(let closed):
            if !closed.attributes.isEmpty || closed.error != nil { content = .closed(closed.redacted(by: redactor)) }
        case .unknown(var unknown):
            let members = redactor.body(Array(unknown.members.utf8), contentType: "application/json")
            unknown.kind.redact(by: redactor)
            unknown.members = String(decoding: members, as: UTF8.self)
            content = .unknown(unknown)
        case .exchangeOpened(let opened): content = .exchangeOpened(opened.redacted(by: redactor))
        case .exchangeClosed(let closed):
            if !closed.headerFields.isEmpty || closed.error != nil || !closed.transfer.isEmpty {
                content = .exchangeClosed(closed.redacted(by: redactor))
            }
        }
    }
}

extension Fact.Opened: Redactable {
    package mutating func redact(by redactor: Redactor) { attributes.redact(by: redactor) }
}

extension Fact.Event: Redactable {
    package mutating func redact(by redactor: Redactor) {
        error.redact(by: redactor)
        attributes.redact(by: redactor)
    }
}

extension Fact.AttributesSet: Redactable {
    package mutating func redact(by redactor: Redactor) {
        attributes.redact(by: redactor)
        removed = removed.prefix(Limits.attributes).map { $0.cut(to: Limits.nameLength) }
    }
}

extension Fact.Closed: Redactable {
    package mutating func redact(by redactor: Redactor) {
        error.redact(by: redactor)
        attributes.redact(by: redactor)
    }
}

extension Fact.ExchangeOpened: Redactable {
    package mutating func redact(by redactor: Redactor) {
        method.redact(by: redactor)
        host.redact(by: redactor)
        path = redactor.path(path)
        query = query.map(redactor.form)
        headerFields = redactor.headerFields(headerFields)
    }
}

extension Fact.ExchangeClosed: Redactable {
    package mutating func redact(by redactor: Redactor) {
        headerFields = redactor.headerFields(headerFields)
        error.redact(by: redactor)
        transfer.redact(by: redactor)
    }
}

extension Fact.Transfer: Redactable {
    package mutating func redact(by redactor: Redactor) {
        httpVersion = httpVersion.map(redactor.label)
        rule = rule.map(redactor.label)
        redirects = redirects.prefix(Limits.redirects).map { redirect in
            var redirect = redirect
            redirect.url = redactor.wholeURL(redirect.url).cut(to: Limits.fieldLength)
            return redirect
        }
        if let reason = webSocket?.closeReason { webSocket?.closeReason = redactor.label(reason) }
    }
}

extension Redactor {
    package func wholeURL(_ url: String) -> String {
        // A server records URLs without a scheme, and their host must not be taken for one: `localhost:8080/login`.
        let hasScheme = url.contains("://")
        return self.url(hasScheme || url.hasPrefix("/") ? url : "//\(url)").url
    }

    package func url(_ url: String) -> Fact.ExchangeOpened {
        var result = Fact.ExchangeOpened(method: "", path: "")
        var rest = Array(url.utf8).prefix { $0 != UInt8(ascii: "#") }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            result.query = text(form(rest[(mark + 1)...])).cut(to: Limits.fieldLength)
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            result.scheme = text(rest[..<colon]).lowercased().cut(to: Limits.labelLength)
            rest = rest[(colon + 1)...]
            guard rest.first == UInt8(ascii: "/") else {
                result.path = Self.placeholder
                result.query = nil
                return result
            }
        }
        if rest.starts(with: "//".utf8) {
            let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
            (result.host, result.port) = hostAndPort(authority)
            rest = rest[authority.endIndex...]
        }
        result.path = text(path(rest)).cut(to: Limits.fieldLength)
        return result
    }

    /// Redacts a path: each decoded segment by its form and the previous segment, and then the path as one text.
    package func path(_ path: String) -> String { text(self.path(Array(path.utf8)[...])) }

    private func path(_ path: ArraySlice<UInt8>) -> [UInt8] {
        var before: [UInt8]?
        let whole = pieces(of: path, separator: UInt8(ascii: "/")) { segment in
            let meant = PercentEncoding.decoded(segment)
            let isSecret = before.map { SensitiveNames.isSecret(meant, behind: $0) } ?? false || hasUserInfo(meant)
            before = names.precedesSecret(meant) ? meant : nil
            return isSecret ? Self.placeholderBytes : piece(segment, plusIsSpace: false)
        }
        return SecretScanner.redacting(whole, names: names, isDecoded: true) ?? whole
    }

    private func hasUserInfo(_ segment: [UInt8]) -> Bool {
        guard !names.isOff, let at = segment.lastIndex(of: UInt8(ascii: "@")) else { return false }
        return segment[..<at].contains(UInt8(ascii: ":"))
    }

    /// Redacts a query or a form (`application/x-www-form-urlencoded`): values by their name and their decoded form.
    package func form(_ form: String) -> String { text(self.form(Array(form.utf8)[...])) }

    func form(_ form: ArraySlice<UInt8>) -> [UInt8] {
        pieces(of: form, separator: UInt8(ascii: "&")) { member in
            guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return piece(member, plusIsSpace: true) }
            let (name, value) = (member[..<equals], member[(equals + 1)...])
            let meaning = names.meaning(of: PercentEncoding.decoded(name, plusIsSpace: true))
            let isSecret =
                meaning != .harmless && names.hides(PercentEncoding.decoded(value, plusIsSpace: true), as: meaning)
            return piece(name, plusIsSpace: true) + "=".utf8
                + (isSecret ? Self.placeholderBytes : piece(value, plusIsSpace: true))
        }
    }

    private func pieces(
        of bytes: ArraySlice<UInt8>, separator: UInt8, _ redact: (ArraySlice<UInt8>) -> [UInt8]
    ) -> [UInt8] {
        let pieces = bytes.split(separator: separator, omittingEmptySubsequences: false).map(redact)
        return Array(pieces.joined(separator: [separator]))
    }

    private func piece(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        let plain = Array(bytes)
        guard SecretShapes.mayOccur(in: plain) || plain.contains(UInt8(ascii: "+")) else { return plain }
        var readings = [PercentEncoding.decoded(plain, plusIsSpace: plusIsSpace)]
        // An unencoded plus sign may belong to a telephone number.
        if plusIsSpace, plain.first == UInt8(ascii: "+") {
            readings.append([UInt8(ascii: "+")] + readings[0].dropFirst())
        }
        let isSecret = readings.contains { SecretScanner.redacting($0, names: names) != nil }
        return isSecret ? Self.placeholderBytes : plain
    }

    private func hostAndPort(_ authority: ArraySlice<UInt8>) -> (String?, Int?) {
        // User-info ends at the last @, even if a password contains unencoded ones.
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        // Colons inside the brackets of an IPv6 address don't count.
        guard let colon = host.lastIndex(of: UInt8(ascii: ":")), !host[colon...].contains(UInt8(ascii: "]")) else {
            return (host.isEmpty ? nil : text(host).lowercased().cut(to: Limits.labelLength), nil)
        }
        let port = Int(text(host[(colon + 1)...])).flatMap { (0...65_535).contains($0) ? $0 : nil }
        return (text(host[..<colon]).lowercased().cut(to: Limits.labelLength), port)
    }

    private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, first.isLetter else { return false }
        return text.allSatisfy { $0.isLetterOrDigit || $0.isOne(of: "+-.") }
    }
}
