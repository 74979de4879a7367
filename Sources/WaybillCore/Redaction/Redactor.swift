package import Foundation

/// Takes secrets out of what is recorded: at capture, before anything touches the disk, and again at export.
///
/// Deny by default: what stands under a name like `authorization`, `cookie`, `password`, `token`, `session`, `code` or
/// `api-key` goes, in any case and spelling, and so does wherever it stands what has the shape of a secret: credentials
/// behind their scheme, JSON Web Tokens, keys that say whose they are, private keys, addresses of e-mail, and numbers
/// of cards, accounts, telephones and people. Nothing here can fail; what has already been redacted stays as it is.
package struct Redactor: Sendable {
    /// What stands where a secret stood.
    package static let placeholder = "[redacted]"
    static let placeholderBytes = Array(placeholder.utf8)

    let names: SensitiveNames

    /// Makes a redactor.
    ///
    /// - Parameters:
    ///   - additionalNames: Of secrets, too; compared whole, in any case, with or without hyphens and underscores.
    ///   - visibleNames: Of no secrets, though they look like it, compared likewise; what has the shape of a secret
    ///     goes under these, too. A name that is among both is a secret's.
    package init(additionalNames: [String] = [], visibleNames: [String] = []) {
        names = SensitiveNames(additional: additionalNames, visible: visibleNames)
    }

    /// A redactor that takes nothing out: by it a test shows that it would see what another one takes out.
    package static let off = Redactor(names: SensitiveNames(isOff: true))

    private init(names: SensitiveNames) { self.names = names }

    /// Whether what stands under this name is a secret.
    package func isSensitive(_ name: String) -> Bool { names.contains(name.utf8) }

    /// A text of any kind: an error's words, the value of an attribute or of a header field, JSON, a line of a log.
    package func text(_ text: String) -> String {
        guard SecretShapes.mayOccur(in: text.utf8),
            let redacted = embeddedText(Array(text.utf8))
        else {
            return text
        }
        return String(decoding: redacted, as: UTF8.self)
    }

    /// A value that has a name.
    package func value(_ value: String, named name: String) -> String {
        names.hides(value.utf8, under: name.utf8) ? Self.placeholder : text(value)
    }

    /// Attributes within the limits: at most `Limits.attributes`, the first by name; names and values cut; integers
    /// beyond 2^53 and doubles that are no numbers as strings. `truncated` counts the attributes that were changed for
    /// that or left out.
    package func attributes(_ attributes: Attributes) -> (Attributes, truncated: Int) {
        if attributes.count <= Limits.attributes, attributes.allSatisfy({ isFine($0.key, $0.value) }) {
            return (attributes, 0)
        }
        var result: Attributes = [:]
        var truncated = max(0, attributes.count - Limits.attributes)
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }).prefix(Limits.attributes) {
            let shortName = name.cut(to: Limits.nameLength)
            let (shortValue, isCut) = attribute(value, named: name)
            if isCut || shortName != nil { truncated += 1 }
            result[shortName ?? name] = shortValue
        }
        return (result, truncated)
    }

    /// The method of a request, within the limits; `GET` for none.
    package func method(_ method: String) -> String {
        method.isEmpty ? "GET" : cut(text(method), to: Limits.labelLength)
    }

    /// Header fields in order, within the limits: the first `Limits.headerFields`, names and values cut.
    package func headerFields(_ fields: [HeaderField]) -> [HeaderField] {
        fields.lazy.filter { !$0.name.isEmpty }.prefix(Limits.headerFields).map { field in
            HeaderField(
                name: field.name.cut(to: Limits.nameLength) ?? field.name,
                value: cut(value(field.value, named: field.name), to: Limits.fieldLength))
        }
    }

    /// Header fields in order, within the limits.
    package func headerFields(_ fields: some Sequence<(name: String, value: String)>) -> [HeaderField] {
        headerFields(fields.map { HeaderField(name: $0.name, value: $0.value) })
    }

    /// An error within the limits; a code beyond 2^53 becomes the nearest that fits.
    package func error(_ error: RecordedError) -> RecordedError {
        RecordedError(
            domain: label(error.domain), code: number(error.code), name: name(error.name),
            underlying: error.underlying.prefix(Limits.underlyingErrors).map {
                RecordedError.Underlying(domain: label($0.domain), code: number($0.code), name: name($0.name))
            },
            text: error.text.map { cut(text($0), to: Limits.textLength) })
    }

    private func label(_ label: String) -> String { cut(text(label), to: Limits.labelLength) }

    private func name(_ name: String?) -> String? { name.flatMap { $0.isEmpty ? nil : label($0) } }

    private func number(_ code: Int64) -> Int64 { min(max(code, -Limits.largestInteger), Limits.largestInteger) }

    // MARK: Attributes

    /// Whether an attribute can stay as it is; nothing is allocated to find out.
    private func isFine(_ name: String, _ value: AttributeValue) -> Bool {
        guard !name.isLonger(than: Limits.nameLength) else { return false }
        switch value {
        // That there is a token is no secret.
        case .bool: return true
        case .string(let text):
            return !text.isLonger(than: Limits.valueLength) && !names.hides(text.utf8, under: name.utf8)
                && !SecretShapes.mayOccur(in: text.utf8)
        case .integer(let value): return value.magnitude < 1_000_000_000_000 && !isSecret(value, named: name)
        case .double(let value): return value.isFinite && !isSecret(value, named: name)
        }
    }

    private func isSecret(_ number: some CustomStringConvertible, named name: String) -> Bool {
        let meaning = names.meaning(of: name.utf8)
        return meaning != .harmless && names.hides(number: number.description, as: meaning)
    }

    /// What is recorded of an attribute, and whether a limit changed it.
    private func attribute(_ value: AttributeValue, named name: String) -> (AttributeValue, isCut: Bool) {
        switch value {
        // That there is a token is no secret.
        case .bool: return (value, false)
        case .string(let string):
            let redacted = self.value(string, named: name)
            let short = redacted.cut(to: Limits.valueLength)
            return (.string(short ?? redacted), short != nil)
        case .integer(let integer):
            let digits = "\(integer)"
            let redacted = isSecret(integer, named: name) ? Self.placeholder : text(digits)
            if redacted != digits { return (.string(redacted), false) }
            return integer.magnitude > UInt(Limits.largestInteger) ? (.string(digits), true) : (value, false)
        case .double(let double):
            if isSecret(double, named: name) { return (.string(Self.placeholder), false) }
            return double.isFinite ? (value, false) : (.string("\(double)"), true)
        }
    }

    func cut(_ text: String, to limit: Int) -> String { text.cut(to: limit) ?? text }
}

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

extension Redactor {
    /// Every string of a description.
    package func source(_ source: SourceIdentity) -> SourceIdentity {
        SourceIdentity(
            id: source.id, installation: source.installation, app: text(source.app),
            appVersion: text(source.appVersion),
            device: text(source.device), os: text(source.os), osVersion: text(source.osVersion),
            attributes: attributes(source.attributes).0)
    }
}

/// A URL in parts, without secrets: no user-info, no fragment, names and values checked.
package struct RedactedURL: Hashable, Sendable {
    /// In lower case; nil where the URL has none.
    package var scheme: String?
    /// In lower case, without port; nil where the URL has none.
    package var host: String?
    /// nil for the scheme's own.
    package var port: Int?
    /// As on the wire, but for placeholders; empty for none.
    package var path = ""
    /// Without the question mark; nil for none.
    package var query: String?

    package init() {}
}

extension Redactor {
    /// The parts of a URL (RFC 3986, appendix B), within the limits.
    package func url(_ url: URL) -> RedactedURL { self.url(url.absoluteString) }

    /// A URL as a record shows it: scheme, host and port as far as they are known, path, query.
    package func wholeURL(_ url: String) -> String {
        // Without a scheme, what a server recorded starts with the host, which must not be taken for a scheme:
        // `localhost:8080/login`.
        let hasScheme = url.contains("://")
        let parts = self.url(hasScheme || url.hasPrefix("/") ? url : "//\(url)")
        var result = parts.scheme.map { "\($0)://" } ?? ""
        result += parts.host ?? ""
        if let port = parts.port { result += ":\(port)" }
        result += parts.path
        if let query = parts.query { result += "?\(query)" }
        return result
    }

    /// The parts of a URL, or of the target of a request: `/login?page=1`.
    ///
    /// What a scheme without `//` says (`data:`, `mailto:`) is hidden whole.
    package func url(_ url: String) -> RedactedURL {
        var result = RedactedURL()
        var rest = Array(url.utf8).prefix { $0 != UInt8(ascii: "#") }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            result.query = cut(text(form(rest[(mark + 1)...])), to: Limits.fieldLength)
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            result.scheme = cut(text(rest[..<colon]).lowercased(), to: Limits.labelLength)
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
        result.path = cut(text(path(rest)), to: Limits.fieldLength)
        return result
    }

    /// The path of a URL alone: each segment goes by its shape once it is decoded, and by the one before it, and then
    /// all of them as one text.
    package func path(_ path: String) -> String { text(self.path(Array(path.utf8)[...])) }

    private func path(_ path: ArraySlice<UInt8>) -> [UInt8] {
        var before: [UInt8]?
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { segment in
            let meant = PercentEncoding.decoded(segment)
            let isSecret = before.map { SensitiveNames.isSecret(meant, behind: $0) } ?? false || hasUserInfo(meant)
            before = names.precedesSecret(meant) ? meant : nil
            return isSecret ? Self.placeholderBytes : piece(segment, plusIsSpace: false)
        }
        let whole = Array(segments.joined(separator: "/".utf8))
        return SecretScanner.redacting(whole, names: names, isDecoded: true) ?? whole
    }

    /// `user:password@host`, of a URL inside a path.
    private func hasUserInfo(_ segment: [UInt8]) -> Bool {
        guard !names.isOff, let at = segment.lastIndex(of: UInt8(ascii: "@")) else { return false }
        return segment[..<at].contains(UInt8(ascii: ":"))
    }

    /// A query or a form (`application/x-www-form-urlencoded`): values go by their name, and by their shape once they
    /// are decoded.
    package func form(_ form: String) -> String { text(self.form(Array(form.utf8)[...])) }

    func form(_ form: ArraySlice<UInt8>) -> [UInt8] {
        let members = form.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { member in
            guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return piece(member, plusIsSpace: true) }
            let (name, value) = (member[..<equals], member[(equals + 1)...])
            let meaning = names.meaning(of: PercentEncoding.decoded(name, plusIsSpace: true))
            let isSecret =
                meaning != .harmless && names.hides(PercentEncoding.decoded(value, plusIsSpace: true), as: meaning)
            return piece(name, plusIsSpace: true) + "=".utf8
                + (isSecret ? Self.placeholderBytes : piece(value, plusIsSpace: true))
        }
        return Array(members.joined(separator: "&".utf8))
    }

    /// One name, value or segment: as it is, or hidden whole when a secret is in it once it is decoded.
    private func piece(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        let plain = Array(bytes)
        guard SecretShapes.mayOccur(in: plain) || plain.contains(UInt8(ascii: "+")) else { return plain }
        var readings = [PercentEncoding.decoded(plain, plusIsSpace: plusIsSpace)]
        // A plus sign that was not encoded may have been meant as one: that of a telephone number.
        if plusIsSpace, plain.first == UInt8(ascii: "+") {
            readings.append([UInt8(ascii: "+")] + readings[0].dropFirst())
        }
        let isSecret = readings.contains { SecretScanner.redacting($0, names: names) != nil }
        return isSecret ? Self.placeholderBytes : plain
    }

    private func hostAndPort(_ authority: ArraySlice<UInt8>) -> (String?, Int?) {
        // All before the last @ is user-info, also where a password was not encoded.
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        // An IPv6 address has colons inside its brackets.
        guard let colon = host.lastIndex(of: UInt8(ascii: ":")), !host[colon...].contains(UInt8(ascii: "]")) else {
            return (host.isEmpty ? nil : cut(text(host).lowercased(), to: Limits.labelLength), nil)
        }
        let port = Int(text(host[(colon + 1)...])).flatMap { (0...65_535).contains($0) ? $0 : nil }
        return (cut(text(host[..<colon]).lowercased(), to: Limits.labelLength), port)
    }

    private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Section 3.1.
    private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
        guard let first = text.first, first.isLetter else { return false }
        return text.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    }
}
