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
            case .legs: .legs(try LegsQuery(from: decoder))
            case .network: .network(try NetworkQuery(from: decoder))
            case .compare: .compare(try CompareQuery(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .summary(let query): try Question.summary.encode(with: query, to: encoder)
        case .duration(let query): try Question.duration.encode(with: query, to: encoder)
        case .transitions(let query): try Question.transitions.encode(with: query, to: encoder)
        case .funnel(let query): try Question.funnel.encode(with: query, to: encoder)
        case .dropOff(let query): try Question.dropOff.encode(with: query, to: encoder)
        case .legs(let query): try Question.legs.encode(with: query, to: encoder)
        case .network(let query): try Question.network.encode(with: query, to: encoder)
        case .compare(let query): try Question.compare.encode(with: query, to: encoder)
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
            case .legs: .legs(try LegsAnswer(from: decoder))
            case .network: .network(try NetworkAnswer(from: decoder))
            case .compare: .compare(try CompareAnswer(from: decoder))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .summary(let answer): try Question.summary.encode(with: answer, to: encoder)
        case .duration(let answer): try Question.duration.encode(with: answer, to: encoder)
        case .transitions(let answer): try Question.transitions.encode(with: answer, to: encoder)
        case .funnel(let answer): try Question.funnel.encode(with: answer, to: encoder)
        case .dropOff(let answer): try Question.dropOff.encode(with: answer, to: encoder)
        case .legs(let answer): try Question.legs.encode(with: answer, to: encoder)
        case .network(let answer): try Question.network.encode(with: answer, to: encoder)
        case .compare(let answer): try Question.compare.encode(with: answer, to: encoder)
        }
    }
}

/// The word for a question, in JSON and on the command line.
package enum Question: String, CaseIterable, Sendable {
    case summary, duration, transitions, funnel
    case dropOff = "dropoff"
    case legs, network, compare

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
