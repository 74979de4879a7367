#if Collector
import ArgumentParser
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Ask: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask where the time goes, who gives up, and what fails.",
        discussion: """
            An event goes by its name; ^ is the beginning, $ the outcome. --by tells transactions apart: by version, app, device, os, osVersion, \
            hour, day, ended (how the process of an interrupted one did), parent.outcome or parent.useCase (of the transaction just above), or an \
            attribute. Quantiles are exact, by nearest rank. Exits with 1 where no \
            transaction counts.

            EXAMPLES
              waybill ask summary ./collected --since 7d
                  How often was what done, and how did it end?
              waybill ask duration ./collected --use-case login --by variant
                  How long does it take, with either variant?
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
              waybill ask network ./collected --since 24h
                  Which requests are slow, and which fail?
            """,
        subcommands: [
            Summary.self, DurationBetween.self, Measure.self, Transitions.self, Funnel.self, DropOff.self, Legs.self,
            Compare.self, Network.self,
        ])
}

protocol AskCommand: AsyncParsableCommand {
    var options: AskOptions { get }
    /// The question, about the transactions that ``request`` selects.
    func question() throws -> AnyQuestion
    var request: ListRequest { get }
    static var subject: ListRequest.Subject { get }
}

extension AskCommand {
    var request: ListRequest { options.request }

    static var subject: ListRequest.Subject { .transactions }

    func run() async throws {
        try options.filter.check(request, about: Self.subject)
        try await options.filter.marking { try await options.show(try question(), where: request.items) }
    }
}

struct AskOptions: ParsableArguments {
    @OptionGroup var place: StoreOptions

    @OptionGroup var filter: FilterOptions

    @Option(
        help: ArgumentHelp(
            "Ask about one in so many transactions, the same each time: 1/100. Counts are estimates, and it is said how far off they may be.",
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

    func show(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws {
        let store = try await place.opened()
        let answer = try await Progress.shown { try await store.answer(question, where: parameters) }
        let redacted = Redactor.command.redacted(answer)
        let said = [filter.useCase, filter.expression].compactMap { $0 }.joined(separator: " ")
        let subject = said.isEmpty ? "all use cases" : said
        if json {
            try Terminal.write(json: answer)
        } else if csv {
            try StandardOutput.write(redacted.csv)
        } else if !redacted.isEmpty {
            let width = Terminal.width() ?? Terminal.usualWidth
            text.write(redacted.lines(about: subject, .standardOutput(), width: width))
            if let counted = answer.outcomesSentence { Terminal.warn(counted) }
        }
        if !json, let weighed = answer.weighed { Terminal.warn(weighed.sentence) }
        guard redacted.isEmpty else { return }
        Terminal.warn(redacted.value.whyEmpty ?? "Nothing counts here.")
        throw ExitCode.failure
    }
}

/// A point of a transaction: `^`, `$`, or an event's name.
struct PointArgument: ExpressibleByArgument, CustomStringConvertible {
    let point: TransactionPoint

    init(_ point: TransactionPoint) { self.point = point }

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        point = TransactionPoint(argument)
    }

    var description: String { point.description }
    var defaultValueDescription: String { description }
}

struct SegmentArgument: ExpressibleByArgument {
    let segmentation: Segmentation

    init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        segmentation = Segmentation(argument)
    }
}

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

enum GroupingArgument: String, ExpressibleByArgument, CaseIterable {
    case host, path, method

    var grouping: NetworkQuestion.Grouping {
        switch self {
        case .host: .host
        case .path: .path
        case .method: .method
        }
    }
}

/// A sample, as `1/100`.
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
