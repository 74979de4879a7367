package import WaybillCore
package import WaybillQueries
import WaybillStore

/// A request as a command for a POSIX shell and curl 7.55 or later. Apart from line feeds, it has no control
/// characters, which could start a command when pasted.
package struct CurlCommand: Sendable {
    private let lines: [String]
    private let notes: [String]

    /// Returns `nil` for a received request, a URL other than HTTP, and an invalid method or field name.
    package init?(_ exchange: TransactionRecord.Exchange, body: ExchangeBody? = nil) {
        let url = exchange.url
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard exchange.role == .client, scheme == "http" || scheme == "https", Self.isToken(exchange.method),
            exchange.requestHeaderFields.allSatisfy({ Self.isToken($0.name) })
        else { return nil }
        let bytes = exchange.method == "HEAD" ? [] : body?.bytes ?? []
        // `-X POST` would be wrong for redirects: see `method(_:hasBody:)`.
        let isEmptyPost = exchange.method == "POST" && !exchange.transfer.redirects.isEmpty
        let data = bytes.isEmpty && !isEmptyPost ? nil : CurlData(bytes)
        var options =
            Self.method(exchange.method, hasBody: data != nil)
            + Self.fields(exchange.requestHeaderFields, hasBody: data != nil)
        if let data { options.append(data.option) }
        lines =
            ["\(data?.source ?? "")curl \(Self.flags(exchange, url))\(url.encodingCommands.shellQuoted)"] + options
        notes = [Self.lack(exchange, body), Self.stop(exchange)].compactMap(\.self)
    }

    /// The notes, as arguments of the no-op `:`, then the command. Interactive zsh has no comments.
    package var text: String {
        (notes.map { ": \($0.shellQuoted)" } + [lines.joined(separator: " \\\n  ")]).joined(separator: "\n")
    }

    /// Methods that usually have a body (RFC 9110, section 9.3; RFC 5789).
    private static let methodsWithBody: Set<String> = ["POST", "PUT", "PATCH"]

    private static func flags(_ exchange: TransactionRecord.Exchange, _ url: String) -> String {
        var flags = ""
        // curl expands brackets and braces in a URL by default.
        if url.utf8.contains(where: "[]{}".utf8.contains) { flags += "--globoff " }
        if url.contains("/.") { flags += "--path-as-is " }
        if !exchange.transfer.redirects.isEmpty, stop(exchange) == nil {
            flags += "--location "
            // For methods other than POST, the body is also repeated after a 301 or 302.
            if !["GET", "HEAD", "POST"].contains(exchange.method) { flags += "--post301 --post302 " }
        }
        if exchange.requestHeaderFields.value(for: "Accept-Encoding") != nil { flags += "--compressed " }
        return flags
    }

    /// A 303 changes every method but HEAD to GET (RFC 9110, section 15.4.4), but curl keeps a method set by `-X`.
    private static func stop(_ exchange: TransactionRecord.Exchange) -> String? {
        guard !["GET", "HEAD", "POST"].contains(exchange.method),
            exchange.transfer.redirects.contains(where: { $0.status == 303 })
        else { return nil }
        return "This command does not follow redirects: curl would repeat \(exchange.method) after the 303."
    }

    /// Omits `-X` where curl selects the method. With `-X POST`, it would repeat POST after a 301, 302 or 303.
    private static func method(_ method: String, hasBody: Bool) -> [String] {
        switch method {
        case "HEAD": ["--head"]
        case "GET" where !hasBody: []
        case "POST" where hasBody: []
        default: ["-X \(method.allSatisfy { $0.isASCII && $0.isLetter } ? method : method.shellQuoted)"]
        }
    }

    private static func fields(_ fields: [HeaderField], hasBody: Bool) -> [String] {
        // curl writes these fields. With a wrong length, the server would wait for missing bytes.
        let kept = fields.filter { !["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
        var options = kept.map { field in
            let value = field.value.withoutCommands.trimmingPrefix(while: { $0 == " " })
            // curl omits a field without a value, unless it ends with a semicolon.
            return "-H \((value.isEmpty ? "\(field.name);" : "\(field.name): \(value)").shellQuoted)"
        }
        // Without this, curl would declare a form.
        if hasBody, kept.value(for: "Content-Type") == nil { options.append("-H 'Content-Type:'") }
        return options
    }

    private static func lack(_ exchange: TransactionRecord.Exchange, _ body: ExchangeBody?) -> String? {
        if let lack = body?.lack { return lack }
        guard body == nil else { return nil }
        switch exchange.sentByteCount {
        case 0: return nil
        case let count?: return "The body of \(Words.byteCount(count)) was not kept."
        case nil:
            return methodsWithBody.contains(exchange.method)
                ? "A body was not kept; whether there was one is not known." : nil
        }
    }

    /// A token according to RFC 9110, section 5.6.2. curl interprets other names, such as `@file`.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                default: "0123456789!#$%&*+-.^_|~".utf8.contains(byte)
                }
            }
    }
}

private struct CurlData {
    let source: String
    let option: String

    /// Linux limits an argument to 128 KiB.
    private static let longestArgument = 60_000

    init(_ bytes: [UInt8]) {
        // Text is an argument, which copies well. Other bodies use `printf`, a shell builtin without a length limit.
        if bytes.count <= Self.longestArgument, let text = String(utf8: bytes),
            text.unicodeScalars.allSatisfy({ !$0.isCommand || $0 == "\n" })
        {
            source = ""
            // `--data-binary` would read a file if the text begins with `@`.
            option = "--data-raw \(text.shellQuoted)"
        } else {
            source = "printf '\(Self.escaped(bytes))' | "
            option = "--data-binary @-"
        }
    }

    /// Escapes bytes for the format of `printf` (IEEE 1003.1) in single quotation marks.
    private static func escaped(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"): text += "%%".utf8
            // `printf` treats a leading hyphen as an option and prints nothing.
            case UInt8(ascii: "-") where index == 0: text += "\\055".utf8
            case 0x20..<0x7F where byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "'"): text.append(byte)
            default: text += [UInt8(ascii: "\\")] + [6, 3, 0].map { UInt8(ascii: "0") + (byte >> $0) & 7 }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension String {
    /// Quotes text for a POSIX shell (IEEE 1003.1, section 2.2.2).
    fileprivate var shellQuoted: String {
        "'\(utf8.contains(UInt8(ascii: "'")) ? replacing("'", with: "'\\''") : self)'"
    }

    /// A line end would begin another field (RFC 9110, section 5.5).
    fileprivate var withoutCommands: String {
        guard unicodeScalars.contains(where: \.isCommand) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isCommand ? " " : $0 }))
    }

    /// Percent-encodes control characters in a URL (RFC 3986, section 2.1).
    fileprivate var encodingCommands: String {
        guard unicodeScalars.contains(where: \.isCommand) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.isCommand else { return text.unicodeScalars.append(scalar) }
            for byte in String(scalar).utf8 {
                text += "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
