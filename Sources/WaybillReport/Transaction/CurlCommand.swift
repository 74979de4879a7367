import WaybillCore

/// The request of an exchange as a command for a POSIX shell and curl 7.
struct CurlCommand {
    private let lines: [String]

    /// nil for what curl cannot send again: what a server received, a URL that is not HTTP, a method or the name of a field that is none.
    init?(_ exchange: TransactionRecord.Exchange) {
        let scheme = exchange.url.prefix { $0 != ":" }.lowercased()
        guard exchange.role == .client, scheme == "http" || scheme == "https", Self.isToken(exchange.method),
            exchange.requestHeaderFields.allSatisfy({ Self.isToken($0.name) })
        else { return nil }
        var options: [String] = []
        switch exchange.method {
        case "GET": break
        case "HEAD": options.append("--head")
        default: options.append("-X \(exchange.method)")
        }
        for field in exchange.requestHeaderFields {
            // A field without a value is written with a semicolon; with a colon, curl would leave it out.
            options.append("-H \(Self.quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"))")
        }
        // Brackets and braces in a URL mean something to curl unless it is told otherwise.
        let globoff = exchange.url.contains { "[]{}".contains($0) } ? "--globoff " : ""
        lines = ["curl \(globoff)\(Self.quoted(exchange.url))"] + options
    }

    /// One option on a line.
    var text: String { lines.joined(separator: " \\\n  ") }

    /// Between single quotation marks a POSIX shell leaves everything as it is (IEEE 1003.1, section 2.2.2).
    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }

    /// A method or the name of a field: RFC 9110, section 5.6.2. Nothing else, since curl gives `@file` a meaning.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789!#$%&*+-.^_|~".unicodeScalars.contains($0))
            }
    }
}
