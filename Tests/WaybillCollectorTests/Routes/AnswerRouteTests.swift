#if Collector
import Foundation
import TestSupport
import Testing
import WaybillQueries
import WaybillCollector
import WaybillCore
import WaybillStore

/// `POST /v1/answers`.
@Suite(.timeLimit(.minutes(5))) struct AnswerRouteTests {
    private let folder: TemporaryDirectory
    private let collector: Collector

    init() throws {
        folder = try TemporaryDirectory()
        collector = try Collector(folder: folder.url)
    }

    @Test(arguments: [
        #"{"question":"summary"}"#, #"{"question":"duration","filter":{"use_case":0},"from":"requestSent"}"#,
        #"{"question":"transitions","filter":{"use_case":0}}"#,
        #"{"question":"funnel","filter":{"use_case":0},"steps":["^","serverRejected","$"]}"#,
        #"{"question":"dropoff","filter":{"use_case":0,"outcomes":["failed"]}}"#,
    ])
    func theAnswerIsThatOfTheStore(question: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let login = LoginHistory()
            _ = try await server.post(login.clientSet())
            _ = try await server.post(login.serverSet())
            let answer = try await server.ask(question)
            #expect(answer.status == 200)
            #expect(answer.header("Content-Type") == "application/json")
            #expect(answer.header("Cache-Control") == "no-store")
            let query = try JSONDecoder.waybill().decode(AnyQuestion.self, from: Data(question.utf8))
            let expected = try await SQLiteStore(folder.url, clock: SystemClock()).answer(query, where: [])
            #expect(try query.answer(json: answer.body) == expected)
            #expect(answer.text.contains(#""question":""#))
        }
    }

    @Test(arguments: [("use_case=login", 1), ("outcome=succeeded", 0), ("since=1h", 0), ("text=LoginError", 1)])
    func parametersTakeThePlaceOfTheQuestionsFilter(parameters: String, runs: Int) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(LoginHistory().clientSet())
            let answer = try await server.ask(
                #"{"question":"summary","filter":{"use_case":7}}"#, parameters: "?" + parameters)
            let summary = try JSONDecoder.waybill().decode(SummaryAnswer.self, from: answer.body)
            #expect(summary.useCases.reduce(0) { $0 + $1.runs } == runs)
        }
    }

    @Test(arguments: [
        ("", "", "A question is a JSON object with the member “question”."),
        ("[]", "", "A question is a JSON object with the member “question”."),
        (#"{"filter":{}}"#, "", "“/question” is missing."),
        (#"{"question":"how"}"#, "/question", "“/question” cannot be read: “how” is no question. They are: "),
        (
            #"{"question":"summary","filter":{"usecase":0}}"#, "/filter/usecase",
            "“/filter/usecase” means nothing in this question; "
        ),
        (
            #"{"question":"summary","filter":{"use_case":null}}"#, "/filter/use_case",
            "“/filter/use_case” means nothing in this question; "
        ),
        (
            #"{"question":"summary","filter":{"use_case":"login"}}"#, "/filter/use_case",
            "“/filter/use_case” cannot be read: "
        ),
        (
            #"{"question":"summary","filter":{"outcomes":["failed","ok"]}}"#, "/filter/outcomes/1",
            "“/filter/outcomes/1” cannot be read: None of "
        ),
        (
            #"{"question":"duration","step_us":1}"#, "/step_us",
            "The steps of an answer about durations are at least 60000000 µs long."
        ),
        (#"{"question":"summary","step_us":1}"#, "/step_us", "The steps of a summary are at least 60000000 µs long."),
        (#"{"question":"funnel","steps":[]}"#, "/steps", "A funnel has 1 to 100 steps, and this one 0."),
    ])
    func aQuestionThatCannotBeReadIsA400ThatPointsAtIt(question: String, pointer: String, detail: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            let answer = try await server.ask(question)
            answer.expectProblem(400, "Bad Request")
            #expect(answer.json?["pointer"] as? String == pointer)
            let sentence = try #require(answer.json?["detail"] as? String)
            #expect(sentence.hasPrefix(detail), "\(sentence)")
        }
    }

    @Test(arguments: [
        (
            #"{"question":"duration","filter":{"use_case":0},"from":"paid"}"#,
            "No event here is called “paid”: there are requestSent, serverRejected."
        ),
        (#"{"question":"transitions"}"#, "Events follow each other within a use case; say which."),
    ])
    func aQuestionThatTheStoreCannotAnswerIsA400InItsWords(question: String, detail: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(LoginHistory().clientSet())
            let answer = try await server.ask(question)
            answer.expectProblem(400, "Bad Request")
            #expect(answer.json?["detail"] as? String == detail)
        }
    }

    @Test(arguments: ["usecase=0", "limit=5", "cursor=x", "use_case=purchase", "outcome=ok"])
    func aParameterThatCannotBeReadIsA400ThatNamesIt(parameter: String) async throws {
        try await CollectorServer.run(collector) { server async throws in
            _ = try await server.post(LoginHistory().clientSet())
            let answer = try await server.ask(#"{"question":"summary"}"#, parameters: "?" + parameter)
            answer.expectProblem(400, "Bad Request")
            #expect(answer.json?["parameter"] as? String == String(parameter.prefix { $0 != "=" }))
        }
    }

    @Test func whatIsNoJSONOrTooLongIsRefused() async throws {
        try await CollectorServer.run(collector) { server async throws in
            for type in ["text/plain", "", "application/json-seq"] {
                let answer = try await server.ask(#"{"question":"summary"}"#, type: type)
                answer.expectProblem(415, "Unsupported Media Type")
                #expect(answer.header("Accept") == "application/json")
            }
            #expect(
                try await server.ask(#"{"question":"summary"}"#, type: "Application/JSON; charset=utf-8").status == 200)
            let long = #"{"question":"summary","filter":{"text":"\#(String(repeating: "x", count: 70_000))"}}"#
            try await server.ask(long).expectProblem(413, "Content Too Large")
        }
    }
}

extension CollectorServer {
    func ask(
        _ question: String, parameters: String = "", type: String = "application/json", headers: [String: String] = [:]
    ) async throws -> RawClient.Response {
        var headers = headers
        if !type.isEmpty { headers["Content-Type"] = type }
        return try await RawClient.send(
            "POST", "/v1/answers\(parameters)", to: port, headers: headers, body: Data(question.utf8))
    }
}
#endif
