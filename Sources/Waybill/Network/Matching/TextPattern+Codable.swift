extension TextPattern: Codable {
    private enum Member: String, CodingKey, CaseIterable {
        case exact, contains, glob, regex
        case ignoresCase = "ignores_case"
    }

    /// Reads a pattern: a string, which is an exact one, or an object with one of `exact`, `contains`, `glob` and `regex`.
    ///
    /// - Throws: `DecodingError` with where, also for a member that is not known, and for what has a ``problem``.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(.exact, text, ignoresCase: false)
        } else {
            let members = try decoder.members(Member.self, knowsAll: true)
            let ignoresCase = try members.value(Bool.self, .ignoresCase) ?? false
            let found = try Kind.allCases.compactMap { kind in
                try Member(rawValue: kind.rawValue).flatMap { try members.value(String.self, $0) }.map { (kind, $0) }
            }
            guard found.count == 1, let (kind, text) = found.first else {
                throw decoder.failure("one of exact, contains, glob and regex was expected")
            }
            self.init(kind, text, ignoresCase: ignoresCase)
        }
        if let problem { throw decoder.failure(problem.message) }
    }

    public func encode(to encoder: any Encoder) throws {
        if kind == .exact, !ignoresCase {
            var container = encoder.singleValueContainer()
            return try container.encode(text)
        }
        var members = encoder.container(keyedBy: Member.self)
        if let member = Member(rawValue: kind.rawValue) { try members.encode(text, forKey: member) }
        if ignoresCase { try members.encode(true, forKey: .ignoresCase) }
    }
}
