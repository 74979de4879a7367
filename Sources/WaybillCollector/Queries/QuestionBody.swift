#if Collector
import Foundation
import HTTPTypes
import WaybillQueries
import WaybillCore

/// An unknown or empty member is refused: without a condition, too much would match.
enum QuestionBody {
    static let mediaType = "application/json"
    static let byteLimit = 64 << 10
    /// The longest list of slow or failed exchanges in a group.
    static let exampleLimit = 100
    /// The shortest step of an answer in microseconds, which limits its size.
    static let shortestStep = 60_000_000

    static func decode(_ body: Data) throws(Problem) -> AnyQuestion {
        let question: AnyQuestion
        do {
            question = try JSONDecoder.waybill().decode(AnyQuestion.self, from: body)
        } catch let error as DecodingError {
            throw Problem(error)
        } catch {
            throw Problem.notJSON
        }
        if let pointer = stranger(in: body, understood: (try? JSONEncoder.waybill().encode(question)) ?? Data()) {
            throw Problem.question(
                "“\(pointer)” means nothing in this question; see Schemas/collector.openapi.yaml.", at: pointer)
        }
        try validate(question)
        return question
    }

    private static func validate(_ question: AnyQuestion) throws(Problem) {
        switch question {
        case .summary(let summary): try require(step: summary.stepMicroseconds, of: "a summary")
        case .errors(let errors):
            try require(step: errors.stepMicroseconds, of: "an answer about errors")
            try require(errors.limit, in: ErrorsQuestion.limits, "An answer names", "errors.")
        case .funnel(let funnel):
            let count = funnel.steps.count
            try require(
                count, in: 1...FunnelQuestion.stepLimit, "A funnel has", "steps, and this one \(count).", at: "/steps")
        case .network(let network): try validate(network)
        case .duration(let duration):
            if let step = duration.stepMicroseconds { try require(step: step, of: "an answer about durations") }
        case .why(let why): try require(why.limit, in: WhyQuestion.limits, "An answer names", "differences.")
        case .measure, .transitions, .dropOff, .legs, .compare: return
        }
    }

    private static func validate(_ network: NetworkQuestion) throws(Problem) {
        try require(network.exampleCount, in: 0...exampleLimit, "A group names", "examples.", at: "/example_count")
        try require(network.limit, in: 1...NetworkQuestion.groupLimit, "An answer has", "groups.")
        if let mistake = NetworkQuestion.mistake(in: network.templates) {
            throw Problem.question(mistake, at: "/templates")
        }
        guard let step = network.stepMicroseconds else { return }
        try require(step: step, of: "a group")
        guard network.group != nil else {
            throw Problem.question("Steps are of one group: name it as group, or leave out step_us.", at: "/step_us")
        }
    }

    private static func require(step microseconds: Int64, of answer: String) throws(Problem) {
        guard microseconds < shortestStep else { return }
        throw Problem.question("The steps of \(answer) are at least \(shortestStep) µs long.", at: "/step_us")
    }

    private static func require(
        _ count: Int, in range: ClosedRange<Int>, _ subject: String, _ object: String, at pointer: String = "/limit"
    ) throws(Problem) {
        guard !range.contains(count) else { return }
        throw Problem.question("\(subject) \(range.lowerBound) to \(range.upperBound) \(object)", at: pointer)
    }

    /// Returns the first member that is missing when the decoded question is encoded again.
    private static func stranger(in body: Data, understood: Data) -> String? {
        let values = [body, understood].map { try? JSONSerialization.jsonObject(with: $0) }
        guard let sent = values[0] as? [String: Any], let known = values[1] as? [String: Any] else { return "" }
        return stranger(in: sent, known)
    }

    private static func stranger(in sent: [String: Any], _ known: [String: Any]) -> String? {
        for (name, value) in sent.sorted(by: { $0.key < $1.key }) {
            let pointer = "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")  // RFC 6901, section 3
            guard known[name] != nil else { return pointer }
            if let value = value as? [String: Any],
                let below = stranger(in: value, known[name] as? [String: Any] ?? [:])
            {
                return pointer + below
            }
        }
        return nil
    }
}

extension Problem {
    static func question(_ detail: String, at pointer: String? = nil) -> Problem {
        Problem(.badRequest, detail, pointer: pointer)
    }

    fileprivate static var notJSON: Problem {
        question("A question is a JSON object with the member “question”.", at: "")
    }

    fileprivate init(_ error: DecodingError) {
        let (context, isMissing): (DecodingError.Context, String?) =
            switch error {
            case .keyNotFound(let key, let context): (context, key.stringValue.snakeCase)
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                (context, nil)
            @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), nil)
            }
        let path = context.codingPath.map { key in key.intValue.map(String.init) ?? key.stringValue.snakeCase }
        let pointer = path.map { "/" + $0 }.joined()
        if let isMissing {
            self = .question("“\(pointer)/\(isMissing)” is missing.", at: pointer)
        } else if path.isEmpty {
            self = .notJSON
        } else {
            self = .question("“\(pointer)” cannot be read: \(Self.sentence(context.debugDescription))", at: pointer)
        }
    }

    private static func sentence(_ text: String) -> String { text.hasSuffix(".") ? text : text + "." }
}
#endif
