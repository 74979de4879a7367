/// Takes secrets out of what is recorded: at capture, before anything touches the disk, and again at export.
///
/// Deny by default: what stands under a name like `authorization`, `cookie`, `password`, `token`, `session`, `code` or
/// `api-key` goes, in any case and spelling, and so does wherever it stands what has the shape of a secret: credentials
/// behind their scheme, JSON Web Tokens, keys that say whose they are, private keys, addresses of e-mail, and numbers
/// of cards, accounts, telephones and people. Nothing here can fail; what has already been redacted stays as it is.
package struct Redactor: Sendable {
    /// What stands where a secret stood.
    package static let placeholder = "[redacted]"

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
    package func headerFields(_ fields: [Fact.HeaderField]) -> [Fact.HeaderField] {
        fields.lazy.filter { !$0.name.isEmpty }.prefix(Limits.headerFields).map { field in
            Fact.HeaderField(
                name: field.name.cut(to: Limits.nameLength) ?? field.name,
                value: cut(value(field.value, named: field.name), to: Limits.fieldLength))
        }
    }

    /// Header fields in order, within the limits.
    package func headerFields(_ fields: some Sequence<(name: String, value: String)>) -> [Fact.HeaderField] {
        headerFields(fields.map { Fact.HeaderField(name: $0.name, value: $0.value) })
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
