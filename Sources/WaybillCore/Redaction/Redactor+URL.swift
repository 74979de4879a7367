package import Foundation

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
            return isSecret ? Array(Self.placeholder.utf8) : piece(segment, plusIsSpace: false)
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
                + (isSecret ? Array(Self.placeholder.utf8) : piece(value, plusIsSpace: true))
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
        return isSecret ? Array(Self.placeholder.utf8) : plain
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
