/// Takes secrets out of what is recorded: at capture, before anything touches the disk, and again at export.
///
/// Deny by default: what stands under a name like `authorization`, `cookie`, `password`, `token`, `secret` or `api-key`
/// goes, in any case and spelling, and so do bearer and basic credentials, JSON Web Tokens and card numbers wherever
/// they stand. Nothing here can fail; what has already been redacted stays as it is.
package struct Redactor: Sendable {
    /// What stands where a secret stood.
    package static let placeholder = "[redacted]"

    let names: SensitiveNames

    /// Makes a redactor; additional names are compared whole, in any case, with or without hyphens and underscores.
    package init(additionalNames: [String] = []) { names = SensitiveNames(additional: additionalNames) }

    /// A redactor that takes nothing out: by it a test shows that it would see what another one takes out.
    package static let off = Redactor(names: SensitiveNames(isOff: true))

    private init(names: SensitiveNames) { self.names = names }

    /// Whether what stands under this name is a secret.
    package func isSensitive(_ name: String) -> Bool { names.contains(name.utf8) }

    /// A text of any kind: an error's words, the value of an attribute or of a header field, JSON, a line of a log.
    package func text(_ text: String) -> String {
        guard SecretShapes.mayOccur(in: text.utf8),
            let redacted = SecretScanner.redacting(Array(text.utf8), names: names)
        else {
            return text
        }
        return String(decoding: redacted, as: UTF8.self)
    }

    /// A value that has a name.
    package func value(_ value: String, named name: String) -> String {
        isSensitive(name) ? Self.placeholder : text(value)
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
            domain: cut(text(error.domain), to: Limits.labelLength),
            code: min(max(error.code, -Limits.largestInteger), Limits.largestInteger),
            text: error.text.map { cut(text($0), to: Limits.textLength) })
    }

    // MARK: Attributes

    /// Whether an attribute can stay as it is; nothing is allocated to find out.
    private func isFine(_ name: String, _ value: AttributeValue) -> Bool {
        guard !name.isLonger(than: Limits.nameLength) else { return false }
        switch value {
        // That there is a token is no secret.
        case .bool: return true
        case .string(let text):
            return !isSensitive(name) && !text.isLonger(than: Limits.valueLength)
                && !SecretShapes.mayOccur(in: text.utf8)
        case .integer(let value):
            return !isSensitive(name) && value.magnitude < 1_000_000_000_000
        case .double(let value): return !isSensitive(name) && value.isFinite
        }
    }

    /// What is recorded of an attribute, and whether a limit changed it.
    private func attribute(_ value: AttributeValue, named name: String) -> (AttributeValue, isCut: Bool) {
        if case .bool = value { return (value, false) }
        if isSensitive(name) { return (.string(Self.placeholder), false) }
        switch value {
        case .bool: return (value, false)
        case .string(let string):
            let redacted = text(string)
            let short = redacted.cut(to: Limits.valueLength)
            return (.string(short ?? redacted), short != nil)
        case .integer(let integer):
            let digits = "\(integer)"
            let redacted = text(digits)
            if redacted != digits { return (.string(redacted), false) }
            return integer.magnitude > UInt(Limits.largestInteger) ? (.string(digits), true) : (value, false)
        case .double(let double): return double.isFinite ? (value, false) : (.string("\(double)"), true)
        }
    }

    func cut(_ text: String, to limit: Int) -> String { text.cut(to: limit) ?? text }
}
