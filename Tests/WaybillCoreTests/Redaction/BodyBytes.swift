import WaybillCore

/// Checks any bytes as a body with a secret in it. The fuzzer, the replay of its findings and the random tests share
/// this.
enum BodyBytes {
    /// A result that no input may cause.
    struct Failure: Error {
        var text: String
    }

    static let secret = "PLANTED-hunter2"
    private static let redactor = Redactor()
    private static let types: [String?] = [
        "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=B", "text/html",
        "application/xml",
        "text/plain", nil, "application/octet-stream",
    ]

    /// Redacts a body. The first byte selects the declared content type, the second the size of the pieces, and the
    /// third the position of the secret.
    ///
    /// - Throws: If the secret leaks, the pieces give another result than the whole, or redacting again reveals the
    ///   secret.
    static func check(_ bytes: [UInt8]) throws {
        guard bytes.count > 3 else { return }
        let type = types[Int(bytes[0]) % types.count]
        var body = Array(bytes[3...])
        // On its own line, this is a name and a value whatever precedes it.
        body.insert(contentsOf: "\npassword=\(secret)\n".utf8, at: body.count * Int(bytes[2]) / 255)
        let whole = redactor.body(body, contentType: type, keepsBinary: true)
        try expect(!contains(whole, secret), "the secret came out", type, body, whole)
        let pieces = inPieces(body, type, size: 1 + Int(bytes[1]) % 16)
        try expect(pieces == whole, "in pieces it is another", type, body, pieces)
        let again = redactor.body(whole, contentType: type, keepsBinary: true)
        try expect(!contains(again, secret), "the secret came out the second time", type, body, again)
        for cut in [body.count / 2, body.count - 1] {
            var head = BodyRedactor(contentType: type, redactor: redactor, keepsBinary: true)
            let kept = head.redact(Array(body[..<cut])) + head.finish(isWhole: false)
            try expect(!contains(kept, secret), "the secret came out of the first part", type, body, kept)
        }
    }

    static func inPieces(_ body: [UInt8], _ type: String?, size: Int) -> [UInt8] {
        var reader = BodyRedactor(contentType: type, redactor: redactor, keepsBinary: true)
        var result: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: size) {
            result += reader.redact(Array(body[start..<min(start + size, body.count)]))
        }
        return result + reader.finish()
    }

    static func contains(_ bytes: [UInt8], _ text: String) -> Bool {
        let text = Array(text.utf8)
        return bytes.count >= text.count
            && (0...bytes.count - text.count).contains { bytes[$0] == text[0] && bytes[$0...].starts(with: text) }
    }

    private static func expect(_ isTrue: Bool, _ words: String, _ type: String?, _ body: [UInt8], _ result: [UInt8])
        throws
    {
        guard !isTrue else { return }
        throw Failure(
            text:
                "\(words): \(type ?? "no type")\n\(String(decoding: body, as: UTF8.self))\n->\n\(String(decoding: result, as: UTF8.self))"
        )
    }
}
