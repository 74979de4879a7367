package import WaybillCore

extension RecordedError {
    /// The key for errors with their causes: ``group``, and the same of the innermost underlying error.
    package var identity: RecordedError {
        var identity = group
        identity.underlying = underlying.suffix(1).map { cause in
            Underlying(domain: cause.domain, code: cause.name == nil ? cause.code : 0, name: cause.name)
        }
        return identity
    }

    /// The identity as a text: `LoginError=rejected`, or `HTTP=503>NSURLErrorDomain=-1001` with an innermost cause.
    ///
    /// A `\` precedes an `=`, `>` or `\` of a domain or name, and a name that looks like a code.
    package var identityText: String { identity.chain.map(Self.text).joined(separator: ">") }

    private static func text(_ error: Underlying) -> String {
        let name = error.name.map { name in
            (Int64(name) == nil ? "" : "\\") + name.escaping(special)
        }
        return "\(error.domain.escaping(special))=\(name ?? "\(error.code)")"
    }

    private static let special: Set<Unicode.Scalar> = ["=", ">", "\\"]

    /// Reads an ``identityText``. `nil` if the text is none.
    package init?(identityText text: String) {
        var errors: [[Word]] = [[Word()]]
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let (error, word) = (errors.count - 1, errors[errors.count - 1].count - 1)
            switch scalar {
            case ">": errors.append([Word()])
            case "=": errors[error].append(Word())
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                errors[error][word].isEscaped = true
                errors[error][word].scalars.append(escaped)
            case let scalar: errors[error][word].scalars.append(scalar)
            }
        }
        guard errors.count <= 2, errors.allSatisfy({ $0.count == 2 }) else { return nil }
        let chain = errors.map { words in
            let (domain, which) = (String(words[0].scalars), String(words[1].scalars))
            let code = words[1].isEscaped ? nil : Int64(which)
            return Underlying(domain: domain, code: code ?? 0, name: code == nil ? which : nil)
        }
        self.init(
            domain: chain[0].domain, code: chain[0].code, name: chain[0].name, underlying: Array(chain.dropFirst()))
    }

    private struct Word {
        var scalars = String.UnicodeScalarView()
        var isEscaped = false
    }
}
