/// A question in JSON is one object: the member `question` says which it is, the others are those of its query, e.g.
/// `{"question": "duration", "filter": {"use_case": 0}, "from": "requestSent", "to": "responseReceived"}`.
///
/// What is left out is as by default.
extension Query: Codable {
    public init(from decoder: any Decoder) throws {
        self =
            switch try Question(of: decoder) {
            case .summary: .summary(try SummaryQuery(from: decoder))
            case .duration: .duration(try DurationQuery(from: decoder))
            case .transitions: .transitions(try TransitionsQuery(from: decoder))
            case .funnel: .funnel(try FunnelQuery(from: decoder))
            case .dropOff: .dropOff(try DropOffQuery(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .summary(let query): try Question.summary.encode(with: query, to: encoder)
        case .duration(let query): try Question.duration.encode(with: query, to: encoder)
        case .transitions(let query): try Question.transitions.encode(with: query, to: encoder)
        case .funnel(let query): try Question.funnel.encode(with: query, to: encoder)
        case .dropOff(let query): try Question.dropOff.encode(with: query, to: encoder)
        }
    }
}

/// An answer in JSON is one object: the member `question` says what was asked, the others are those of the answer.
extension Answer: Codable {
    public init(from decoder: any Decoder) throws {
        self =
            switch try Question(of: decoder) {
            case .summary: .summary(try SummaryAnswer(from: decoder))
            case .duration: .duration(try DurationAnswer(from: decoder))
            case .transitions: .transitions(try TransitionsAnswer(from: decoder))
            case .funnel: .funnel(try FunnelAnswer(from: decoder))
            case .dropOff: .dropOff(try DropOffAnswer(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .summary(let answer): try Question.summary.encode(with: answer, to: encoder)
        case .duration(let answer): try Question.duration.encode(with: answer, to: encoder)
        case .transitions(let answer): try Question.transitions.encode(with: answer, to: encoder)
        case .funnel(let answer): try Question.funnel.encode(with: answer, to: encoder)
        case .dropOff(let answer): try Question.dropOff.encode(with: answer, to: encoder)
        }
    }
}

/// The word for a question, in JSON and on the command line.
package enum Question: String, CaseIterable, Sendable {
    case summary, duration, transitions, funnel
    case dropOff = "dropoff"

    private enum Key: CodingKey { case question }

    fileprivate init(of decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let word = try container.decode(String.self, forKey: .question)
        guard let question = Question(rawValue: word) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                forKey: .question, in: container, debugDescription: "“\(word)” is no question. They are: \(words).")
        }
        self = question
    }

    fileprivate func encode(with content: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(rawValue, forKey: .question)
        try content.encode(to: encoder)
    }
}

extension Query {
    /// Which transactions count.
    package var filter: TransactionFilter {
        get {
            switch self {
            case .summary(let query): query.filter
            case .duration(let query): query.filter
            case .transitions(let query): query.filter
            case .funnel(let query): query.filter
            case .dropOff(let query): query.filter
            }
        }
        set {
            switch self {
            case .summary(var query):
                query.filter = newValue
                self = .summary(query)
            case .duration(var query):
                query.filter = newValue
                self = .duration(query)
            case .transitions(var query):
                query.filter = newValue
                self = .transitions(query)
            case .funnel(var query):
                query.filter = newValue
                self = .funnel(query)
            case .dropOff(var query):
                query.filter = newValue
                self = .dropOff(query)
            }
        }
    }
}
