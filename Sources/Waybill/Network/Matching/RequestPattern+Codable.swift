extension RequestPattern: Codable {
    private enum Member: String, CodingKey {
        case method, url, host, path
        case headerFields = "headers"
        case body
    }

    /// Reads a pattern: an object with any of `method`, `url`, `host`, `path`, `headers` (an object of names and
    /// patterns) and `body`.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known: to ignore a condition would be to
    ///   match more.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.members(Member.self)
        self.init(
            method: try members.value(TextPattern.self, .method), url: try members.value(TextPattern.self, .url),
            host: try members.value(TextPattern.self, .host), path: try members.value(TextPattern.self, .path),
            headerFields: try members.value([String: TextPattern].self, .headerFields) ?? [:],
            body: try members.value(TextPattern.self, .body))
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encodeIfPresent(method, forKey: .method)
        try members.encodeIfPresent(url, forKey: .url)
        try members.encodeIfPresent(host, forKey: .host)
        try members.encodeIfPresent(path, forKey: .path)
        if !headerFields.isEmpty { try members.encode(headerFields, forKey: .headerFields) }
        try members.encodeIfPresent(body, forKey: .body)
    }
}
