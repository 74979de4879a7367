package import WaybillCore
package import WaybillQueries
import WaybillStore

/// The request of an exchange as a command for a POSIX shell and curl 7.55 or later.
///
/// It is pasted into a terminal: but for the ends of lines nothing in it is a control character, nor turns the direction
/// of text, which could end the paste and begin a command, or have a person read another command than the shell does.
package struct CurlCommand: Sendable {
    private let lines: [String]
    /// What the command does not repeat, in sentences; empty if it repeats the whole request.
    private let notes: [String]

    /// nil for what curl cannot send again: what a server received, a URL that is not HTTP, a method or the name of a
    /// field that is none.
    package init?(_ exchange: TransactionRecord.Exchange, body: ExchangeBody? = nil) {
        let url = exchange.url
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard exchange.role == .client, scheme == "http" || scheme == "https", Self.isToken(exchange.method),
            exchange.requestHeaderFields.allSatisfy({ Self.isToken($0.name) })
        else { return nil }
        let bytes = exchange.method == "HEAD" ? [] : body?.bytes ?? []
        // `--data-raw ''` rather than `-X POST` for a redirected request: see `method(_:hasBody:)`.
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

    /// One option per line.
    ///
    /// Notes come first, as arguments of `:`, which does nothing. An interactive zsh does not know comments, and a
    /// command behind the request would hide its exit status.
    package var text: String {
        (notes.map { ": \($0.shellQuoted)" } + [lines.joined(separator: " \\\n  ")]).joined(separator: "\n")
    }

    /// Methods whose requests usually have one (RFC 9110, section 9.3; RFC 5789).
    private static let methodsWithBody: Set<String> = ["POST", "PUT", "PATCH"]

    private static func flags(_ exchange: TransactionRecord.Exchange, _ url: String) -> String {
        var flags = ""
        // Brackets and braces in a URL mean something to curl unless it is told otherwise.
        if url.utf8.contains(where: "[]{}".utf8.contains) { flags += "--globoff " }
        if url.contains("/.") { flags += "--path-as-is " }
        if !exchange.transfer.redirects.isEmpty, stop(exchange) == nil {
            flags += "--location "
            // With another method than POST, the body goes along after a 301 or 302, too.
            if !["GET", "HEAD", "POST"].contains(exchange.method) { flags += "--post301 --post302 " }
        }
        if exchange.requestHeaderFields.value(for: "Accept-Encoding") != nil { flags += "--compressed " }
        return flags
    }

    /// A sentence if the command must stop at the first redirect; `nil` if it can follow all of them.
    ///
    /// A 303 turns every method but HEAD into GET (RFC 9110, section 15.4.4), which curl does not do with a method that
    /// `-X` names.
    private static func stop(_ exchange: TransactionRecord.Exchange) -> String? {
        guard !["GET", "HEAD", "POST"].contains(exchange.method),
            exchange.transfer.redirects.contains(where: { $0.status == 303 })
        else { return nil }
        return "This command does not follow redirects: curl would repeat \(exchange.method) after the 303."
    }

    /// No `-X` where curl chooses the method itself: with `-X POST` it would repeat POST after a 301, 302 or 303.
    private static func method(_ method: String, hasBody: Bool) -> [String] {
        switch method {
        case "HEAD": ["--head"]
        case "GET" where !hasBody: []
        case "POST" where hasBody: []
        default: ["-X \(method.allSatisfy { $0.isASCII && $0.isLetter } ? method : method.shellQuoted)"]
        }
    }

    private static func fields(_ fields: [HeaderField], hasBody: Bool) -> [String] {
        // Those that frame the message are for curl to write: with another length, a server would wait for what never
        // comes.
        let kept = fields.filter { !["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
        var options = kept.map { field in
            let value = field.value.withoutCommands.trimmingPrefix(while: { $0 == " " })
            // A field without a value is written with a semicolon; with a colon, curl would leave it out.
            return "-H \((value.isEmpty ? "\(field.name);" : "\(field.name): \(value)").shellQuoted)"
        }
        // Else curl calls every body a form.
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

    /// A method or the name of a field: RFC 9110, section 5.6.2. Nothing else, since curl gives `@file` a meaning.
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

/// The body of a request on a command line.
private struct CurlData {
    /// What stands before the command; empty where nothing has to.
    let source: String
    let option: String

    /// Linux takes no argument longer than 128 KiB.
    private static let longestArgument = 60_000

    init(_ bytes: [UInt8]) {
        // A text goes as it is: an argument is for the clipboard. Everything else comes from printf, which is part of
        // the shell and takes any length.
        if bytes.count <= Self.longestArgument, let text = String(utf8: bytes),
            text.unicodeScalars.allSatisfy({ !$0.isCommand || $0 == "\n" })
        {
            source = ""
            // Not --data-binary, which takes what begins with @ for the name of a file.
            option = "--data-raw \(text.shellQuoted)"
        } else {
            source = "printf '\(Self.escaped(bytes))' | "
            option = "--data-binary @-"
        }
    }

    /// As the format of `printf` (IEEE 1003.1), between single quotation marks.
    private static func escaped(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "%"): text += "%%".utf8
            // `printf` takes a first argument that begins with a hyphen for an option, and prints nothing.
            case UInt8(ascii: "-") where index == 0: text += "\\055".utf8
            case 0x20..<0x7F where byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "'"): text.append(byte)
            default: text += [UInt8(ascii: "\\")] + [6, 3, 0].map { UInt8(ascii: "0") + (byte >> $0) & 7 }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension String {
    /// Between single quotation marks a POSIX shell leaves everything as it is (IEEE 1003.1, section 2.2.2).
    fileprivate var shellQuoted: String {
        "'\(utf8.contains(UInt8(ascii: "'")) ? replacing("'", with: "'\\''") : self)'"
    }

    /// In the value of a field: a line's end would begin another field. No value may have any but the tabulator
    /// (RFC 9110, section 5.5), which is as good as a space.
    fileprivate var withoutCommands: String {
        guard unicodeScalars.contains(where: \.isCommand) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.isCommand ? " " : $0 }))
    }

    /// In a URL, as it may have them (RFC 3986, section 2.1).
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
