/// What is kept of an error: who defines it, its code and name, and the errors behind it; its text only where the
/// manager was told to keep texts.
///
/// People see errors, count and find them by domain and name, where there is a name, else by domain and code: the code
/// of an enum's case changes when a case before it does, or when one gets a payload; its name does not.
public struct RecordedError: Hashable, Sendable {
    /// Who defines the code, e.g. `NSURLErrorDomain` or `MyApp.LoginError`; empty for a bare number.
    public var domain: String
    /// The number that says which error.
    public var code: Int64
    /// Which error in words, e.g. the case of an enum without its payload: `rejected`; nil where it has none.
    public var name: String?
    /// The errors behind it, from the nearest on; at most 4 are recorded.
    public var underlying: [Underlying]
    /// The error's own words, redacted; nil unless asked for.
    public var text: String?

    /// Makes a value to record.
    public init(
        domain: String = "", code: Int64, name: String? = nil, underlying: [Underlying] = [], text: String? = nil
    ) {
        self.domain = domain
        self.code = code
        self.name = name
        self.underlying = underlying
        self.text = text
    }

    /// An error that another one was made of.
    public struct Underlying: Hashable, Sendable {
        /// Who defines the code; empty for a bare number.
        public var domain: String
        /// The number that says which error.
        public var code: Int64
        /// Which error in words; nil where it has none.
        public var name: String?

        /// Makes a value to record.
        public init(domain: String = "", code: Int64, name: String? = nil) {
            self.domain = domain
            self.code = code
            self.name = name
        }
    }
}

extension RecordedError: Error {}

extension RecordedError {
    /// What errors are counted by: without its text, which may be worded differently each time, and what is behind it;
    /// by its name where it has one, since the code may differ between versions of an app.
    package var group: RecordedError { RecordedError(domain: domain, code: name == nil ? code : 0, name: name) }

    /// The error itself, and those behind it.
    package var chain: [Underlying] { [Underlying(domain: domain, code: code, name: name)] + underlying }
}

extension RecordedError: Codable {
    private enum CodingKeys: CodingKey { case domain, code, name, underlying, text }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        domain = try container.decodeIfPresent(String.self, forKey: .domain) ?? ""
        code = try container.decode(Int64.self, forKey: .code)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        underlying = try container.decodeIfPresent([Underlying].self, forKey: .underlying) ?? []
        text = try container.decodeIfPresent(String.self, forKey: .text)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(domain, forKey: .domain)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(name, forKey: .name)
        if !underlying.isEmpty { try container.encode(underlying, forKey: .underlying) }
        try container.encodeIfPresent(text, forKey: .text)
    }
}

extension RecordedError.Underlying: Codable {
    private enum CodingKeys: CodingKey { case domain, code, name }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        domain = try container.decodeIfPresent(String.self, forKey: .domain) ?? ""
        code = try container.decode(Int64.self, forKey: .code)
        name = try container.decodeIfPresent(String.self, forKey: .name)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(domain, forKey: .domain)
        try container.encode(code, forKey: .code)
        try container.encodeIfPresent(name, forKey: .name)
    }
}
