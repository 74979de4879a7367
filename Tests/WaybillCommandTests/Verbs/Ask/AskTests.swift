#if Collector
import Foundation
import TestSupport
import Testing
import WaybillQueries
import WaybillCore

/// `ask` on a store and through a collector.
@Suite(.timeLimit(.minutes(5))) struct AskTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    private var store: String { folder.url.path }

    private static let questions: [[String]] = [
        ["summary"], ["summary", "--certify"],
        ["duration", "--use-case", "login", "--from", "requestSent", "--by", "variant"],
        ["transitions", "--use-case", "login"],
        ["funnel", "--use-case", "login", "--steps", "^,requestSent,serverRejected,$"],
        ["dropoff", "--use-case", "login", "--outcome", "failed"], ["legs"],
        ["network", "--by", "method", "--status", "4xx"],
        ["network", "--by", "method", "--sort", "p99", "--limit", "1", "--template", "/{any}"],
    ]

    @Test(arguments: questions) func aFolderAFileAndACollectorAnswerAlike(question: [String]) async throws {
        let serve = try await ServeProcess.start(folder)
        for form in [[], ["--json"], ["--csv"]] {
            let words = ["ask", question[0], store] + question.dropFirst() + form
            let answer = try await Command.waybill(words)
            #expect(answer.status == 0, "\(words): \(answer.errors)")
            // The only message says which outcomes the times are about.
            #expect(answer.errors.isEmpty || answer.errors.hasPrefix("Times are of transactions with "))
            #expect(!answer.output.isEmpty)
            for place in ["\(store)/waybill.sqlite", serve.url] {
                let other = try await Command.waybill(["ask", question[0], place] + question.dropFirst() + form)
                #expect(other.output == answer.output, "\(other.errors)")
            }
        }
    }

    /// The parser alone would suggest `--csv`.
    @Test(arguments: ["summary", "transitions", "dropoff"]) func aQuestionThatTellsNothingApartSaysWhichOnesDo(
        question: String
    )
        async throws
    {
        let answer = try await Command.waybill("ask", question, store, "--by", "variant")
        #expect(answer.status == 64)
        #expect(
            answer.errors.hasPrefix(
                "Error: This question takes no --by. Ask duration, measure, funnel, legs or compare --by variant; or narrow this one with a filter, such as 'version:1.4'.\n"
            ))
        #expect(try await Command.waybill("ask", question, "--help").output.contains("--by") == false)
    }

    /// A filtered answer with the title “all use cases” would pass for an answer about all of them.
    @Test(arguments: [
        ([], "all use cases"), (["useCase:login attribute:variant=B"], "useCase:login attribute:variant=B"),
        (["error:*", "--use-case", "login"], "login error:*"),
    ]) func aTitleSaysWhatCounts(conditions: [String], title: String) async throws {
        let answer = try await Command.waybill(["ask", "duration", store] + conditions)
        #expect(answer.output.hasPrefix("\(title) from the beginning to the outcome"), "\(answer)")
    }

    @Test func jsonIsAnAnswer() async throws {
        let output = try await Command.waybill("ask", "duration", store, "--use-case", "login", "--json").output
        #expect(output.contains(#""question" : "duration""#) || output.contains(#""question":"duration""#))
        let answer = try JSONDecoder.waybill().decode(DurationAnswer.self, from: Data(output.utf8))
        #expect(answer.total.statistics.maximumMicroseconds == 15_000)
    }

    @Test func csvHasALineForEachSegment() async throws {
        let output = try await Command.waybill("ask", "duration", store, "--by", "variant", "--csv").output
        #expect(
            output.split(separator: "\r\n") == [
                "segment,count,min_us,p50_us,p75_us,p90_us,p95_us,p99_us,max_us,mean_us,without_end,reversed,open,succeeded,failed,cancelled,abandoned,interrupted,timed_out",
                "all,1,15000,15000,15000,15000,15000,15000,15000,15000,0,0,0,0,1,0,0,0,0",
                "B,1,15000,15000,15000,15000,15000,15000,15000,15000,0,0,0,0,1,0,0,0,0",
            ])
    }

    /// Breaks when bounds leave out facts that a source owes, or when a file of the answer lacks the bounds.
    @Test func aCertifiedAnswerBoundsItsNumbers() async throws {
        let folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(1...4), login.serverSet())
        let words = ["ask", "summary", folder.url.path, "--certify"]
        let text = try await Command.waybill(words).output
        // Two facts, and a transaction that its process may have left open.
        #expect(text.contains("1 source owes 2 facts, at most 3 transactions."))
        #expect(text.contains("Bounds for the missing facts"))
        let csv = try await Command.waybill(words + ["--csv"]).output.split(separator: "\r\n")
        #expect(csv.first == "subject,measure,unit,value,low,high,worst_low,worst_high,is_verdict_safe")
        #expect(csv.contains("login,failed,count,0.0,0.0,3.0,,,") || csv.contains("login,failed,count,0,0,3,,,"))
        let json = try await Command.waybill(words + ["--json"]).output
        let answer = try JSONDecoder.waybill().decode(SummaryAnswer.self, from: Data(json.utf8))
        let bounds = try #require(answer.bounds)
        #expect(bounds.transactionCount == 3)
        #expect(bounds.rows.first { $0.measure == "runs" }?.high == 4)
        let sample = try await Command.waybill(words + ["--sample", "1/10"])
        #expect(sample.errors == "Error: A sample can't be certified. Ask about all transactions.\n")
        let family = try await Command.waybill(words + ["parent:known"])
        #expect(family.errors.hasPrefix("Error: This can't be certified: "))
    }

    @Test(arguments: [
        (
            ["duration", "--use-case", "login", "--from", "requestSend"],
            "No event here is called “requestSend”: did you mean “requestSent”?"
        ),
        (["transitions", "--use-case", "logon"], "There is no use case “logon” here; did you mean “login”?"),
        (["dropoff"], "A last event is one of a use case; say of which."),
    ])
    func whatCannotBeAnsweredIsSaidAlikeEverywhere(question: [String], why: String) async throws {
        let serve = try await ServeProcess.start(folder)
        for place in [store, serve.url] {
            let answer = try await Command.waybill(["ask", question[0], place] + question.dropFirst())
            #expect(answer.status == 1)
            #expect(answer.output.isEmpty)
            #expect(answer.errors == "Error: \(why)\n")
        }
    }

    @Test func anEmptyAnswerIs1AndSaysWhy() async throws {
        let answer = try await Command.waybill("ask", "summary", store, "--outcome", "succeeded")
        #expect(answer.status == 1)
        #expect(answer.output.isEmpty)
        #expect(answer.errors == "The only transaction here is not succeeded.\n")
        let json = try await Command.waybill("ask", "summary", store, "--outcome", "succeeded", "--json")
        #expect(json.status == 1)
        #expect(json.output.contains(#""why_empty" : "The only"#))
    }

    @Test func withoutUTF8ItIsASCII() async throws {
        let words = ["ask", "transitions", store, "--use-case", "login"]
        let plain = try await Command.waybill(words, environment: ["LC_ALL": "C"])
        #expect(plain.output.utf8.allSatisfy { $0 < 0x80 })
        #expect(
            try await Command.waybill(words + ["--ascii"], environment: ["LC_ALL": "C.UTF-8"]).output == plain.output)
        #expect(try await Command.waybill(words, environment: ["LC_ALL": "C.UTF-8"]).output.contains("█"))
    }
}
#endif
