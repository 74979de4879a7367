import Foundation

/// The hosts whose requests carry the transaction's header field: names, and patterns such as `*.example.com`.
package struct CorrelatedHosts: Sendable {
    /// In small letters, as `URL` has hosts; a pattern with its `*`.
    package private(set) var names: Set<String> = []

    /// Adds a name or a pattern; a sentence where it is none.
    mutating func add(_ text: String) -> String? {
        guard text.contains("*") else {
            guard Self.isName(text) else {
                return "“\(text)” is not a host name such as api.example.com; no request to it carries a transaction."
            }
            names.insert(Self.normalized(text))
            return nil
        }
        let name = text.dropFirst(2).hasSuffix(".") ? text.dropFirst(2).dropLast() : text.dropFirst(2)
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        // An address has no names below it.
        guard text.hasPrefix("*."), Self.isName(String(name)), !name.contains(":"), labels.count > 1,
            !labels.contains(""), labels.last?.allSatisfy({ ("0"..."9").contains($0) }) == false
        else {
            return
                "“\(text)” is no pattern of hosts: write *. and a name of your own, as *.example.com; no request carries "
                + "a transaction because of it."
        }
        names.insert("*." + Self.normalized(String(name)))
        return nil
    }

    /// Whether requests to a URL carry a transaction.
    ///
    /// The `*` is one label, as in certificates (RFC 9525, section 6.3), so that `*.example.com` is neither
    /// `example.com` nor `a.b.example.com`.
    func contains(_ url: URL) -> Bool {
        guard let host = url.host(percentEncoded: false).map(Self.lowercased) else { return false }
        if names.contains(host) { return !host.hasPrefix("*") }
        guard let dot = host.firstIndex(of: "."), Self.isLabel(host[..<dot]) else { return false }
        return names.contains("*" + host[dot...])
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 == "." || $0 == "-" || $0 == ":" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
            }
            // a colon only in an IPv6 address
            && (!text.contains(":") || text.allSatisfy { $0.isHexDigit || $0 == ":" })
    }

    private static func isLabel(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 == "-" || $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
            }
    }

    /// As `URL` has it, whatever script it is written in: `bücher.example` is `xn--bcher-kva.example` there.
    private static func normalized(_ name: String) -> String {
        lowercased(URL(string: "https://\(name)/")?.host(percentEncoded: false) ?? name)
    }

    /// Without the dot that ends a name which is complete: `api.example.com.` is the same host.
    private static func lowercased(_ host: String) -> String {
        (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    }
}
