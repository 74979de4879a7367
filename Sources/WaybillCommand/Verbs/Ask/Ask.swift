#if Collector
public import ArgumentParser
import WaybillCollector
import WaybillCore
import WaybillExport
public import WaybillQueries

struct Ask: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask where time goes, where users give up, and what fails.",
        discussion: """
            Events are identified by name; ^ is the beginning and $ the outcome. --by groups by version, app, device, os, osVersion, hour, day, \
            ended (how the process of an interrupted transaction ended), parent.outcome or parent.useCase (of the direct parent), or an attribute. Quantiles are \
            exact, by nearest rank. Exits with 1 if no transaction matches.

            EXAMPLES
              waybill ask summary ./collected --since 7d
                  How often was what done, and how did it end?
              waybill ask duration ./collected --use-case login --by variant
                  How long does it take, with either variant?
              waybill ask duration ./collected --use-case login --by version --every 1d
                  Did a new version make it slower?
              waybill ask measure ./collected --use-case login --of bytes --by version
                  How large is what was sent, in each version?
              waybill ask transitions ./collected --use-case login
                  Between which events does the time go?
              waybill ask funnel ./collected --use-case login --steps '^,requestSent,$'
                  How many get how far?
              waybill ask dropoff ./collected --use-case login
                  What did those do last who gave up?
              waybill ask legs ./collected --use-case login
                  Is it the client, the network or the server?
              waybill ask compare ./collected --by variant --a A --b B
                  Does variant B do better, or is it noise?
              waybill ask compare ./collected --by variant --a A --b B --certify
                  Does that hold for any content of the missing facts?
              waybill ask network ./collected --since 24h
                  Which requests are slow, and which fail?
              waybill ask network ./collected --by method --sort p99 --limit 20
                  Which endpoints are slow at p99?
              waybill ask errors ./collected --new-since 24h
                  Which errors are new since yesterday?
              waybill ask why ./collected --use-case checkout --outcome failed
                  What sets the failed ones apart from the others?
            """,
        subcommands: [
            Summary.self, DurationBetween.self, Measure.self, Transitions.self, Funnel.self, DropOff.self, Legs.self,
            Compare.self, Network.self, Errors.self, Why.self,
        ])
}

protocol AskCommand: AsyncParsableCommand {
    var options: AskOptions { get }
    func question() throws -> AnyQuestion
    var request: ListRequest { get }
    static var subject: ListRequest.Subject { get }
}

extension AskCommand {
    var request: ListRequest { options.request }

    static var subject: ListRequest.Subject { .transactions }

    func run() async throws {
        try check()
        try await options.filter.marking { try await options.show { store in try await answer(from: store) } }
    }

    func check() throws { try options.filter.check(request, about: Self.subject) }

    func answer(from store: any ExportingStore) async throws -> AnyAnswer {
        try await store.answer(try question(), where: request.items)
    }
}

struct AskOptions: ParsableArguments {
    @OptionGroup var place: StoreOptions

    @OptionGroup var filter: FilterOptions

    @Option(
        help: ArgumentHelp(
            "Ask about a sample, such as 1/100, which is the same each time. Counts are then estimates, with a margin of error.",
            valueName: "fraction"))
    var sample: SampleArgument?

    @Flag(help: "Print JSON, as a collector answers it.")
    var json = false

    @Flag(help: "Print CSV with a header line, times in microseconds.")
    var csv = false

    @OptionGroup var text: TextOptions

    var request: ListRequest {
        var request = filter.request
        guard let sample else { return request }
        request[.filter] = [filter.expression, sample.term].compactMap { $0 }.joined(separator: " ")
        return request
    }

    func validate() throws {
        guard !json || !csv else { throw ValidationError("Give either --json or --csv.") }
    }

    func show(_ ask: (any ExportingStore) async throws -> AnyAnswer) async throws {
        let store = try await place.opened()
        let answer = try await Progress.shown { try await ask(store) }
        let redacted = Redactor.command.redacted(answer)
        let said = [filter.useCase, filter.expression].compactMap { $0 }.joined(separator: " ")
        let subject = said.isEmpty ? "all use cases" : said
        if json {
            try Terminal.write(json: answer)
        } else if csv {
            try StandardOutput.write(redacted.csv)
        } else if !redacted.isEmpty {
            let width = Terminal.width() ?? Terminal.usualWidth
            try text.write(redacted.lines(about: subject, .standardOutput(), width: width))
            if let counted = answer.outcomesSentence { Terminal.warn(counted) }
        }
        if !json, let weighed = answer.weighed { Terminal.warn(weighed.sentence) }
        guard redacted.isEmpty else { return }
        Terminal.warn(redacted.value.whyEmpty ?? "Nothing counts here.")
        if !json, let owed = redacted.value.bounds?.sentences.first { Terminal.warn(owed) }
        throw ExitCode.failure
    }
}

/// The flag of questions whose answers can have bounds.
struct CertifyOptions: ParsableArguments {
    @Flag(help: "Bound each number by what the facts could say that sources owe, dropped or lost.")
    var certify = false

    /// `nil` leaves the member out of the question's JSON.
    var isCertified: Bool? { certify ? true : nil }
}

/// A point of a transaction: `^`, `$`, or an event's name.
extension TransactionPoint: ExpressibleByArgument {
    public init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }
}

extension Segmentation: ExpressibleByArgument {
    public init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        self.init(argument)
    }
}

extension NetworkQuestion.Grouping: ExpressibleByArgument {}
extension NetworkQuestion.Sort: ExpressibleByArgument {}
extension ErrorsQuestion.Order: ExpressibleByArgument {}

/// Catches `--by` for questions without it, which would otherwise look like a misspelt option.
struct NoSegment: ParsableArguments {
    @Option(help: .hidden)
    var by: String?

    func validate() throws {
        guard let by else { return }
        throw ValidationError(
            "This question takes no --by. Ask duration, measure, funnel, legs or compare --by \(by.isEmpty ? "version" : by); or narrow this one with a filter, such as 'version:1.4'."
        )
    }
}

struct SampleArgument: ExpressibleByArgument {
    let term: String

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "1", let count = Int(parts[1]),
            FilterCondition.sampleRange.contains(count)
        else { return nil }
        term = FilterCondition.oneIn(count).description
    }
}

/// A duration, as `30s`, `10m`, `1h` or `7d`.
struct StepArgument: ExpressibleByArgument {
    let length: Duration

    init(_ length: Duration) { self.length = length }

    init?(argument: String) {
        guard let microseconds = TimeExpression.length(argument), microseconds > 0 else { return nil }
        length = .microseconds(microseconds)
    }

    var defaultValueDescription: String { "1d" }
}
#endif
