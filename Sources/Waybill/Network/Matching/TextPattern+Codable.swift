extension TextPattern: Codable {
    private enum Member: String, CodingKey {
        case exact, contains, glob, regex
        case ignoresCase = "ignores_case"

        init(_ kind: Kind) {
            self =
                switch kind {
                case .exact: .exact
                case .contains: .contains
                case .glob: .glob
                case .regex: .regex
                }
        }
    }

    /// Reads a pattern: a string, which is an exact one, or an object with one of `exact`, `contains`, `glob` and
    /// `regex`.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known, and for what has a ``problem``.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(.exact, text, ignoresCase: false)
            if problem != nil { throw decoder.failure(Self.expectation(of: .exact)) }
            return
        }
        let members = try decoder.members(Member.self)
        let found = try Kind.allCases.compactMap { kind in
            try members.value(String.self, Member(kind)).map { (kind, $0) }
        }
        guard found.count == 1, let (kind, text) = found.first else {
            throw decoder.failure("one of exact, contains, glob and regex was expected")
        }
        self.init(kind, text, ignoresCase: try members.value(Bool.self, .ignoresCase) ?? false)
        if problem != nil { throw members.failure(Member(kind), Self.expectation(of: kind)) }
    }

    private static func expectation(of kind: Kind) -> String {
        "\(kind == .regex ? "a regular expression" : "a text") of at most \(longestPattern) characters was expected"
    }

    public func encode(to encoder: any Encoder) throws {
        if kind == .exact, !ignoresCase {
            var container = encoder.singleValueContainer()
            return try container.encode(text)
        }
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(text, forKey: Member(kind))
        if ignoresCase { try members.encode(true, forKey: .ignoresCase) }
    }
}
