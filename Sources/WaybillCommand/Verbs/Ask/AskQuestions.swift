#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillQueries

extension Ask {
    struct Summary: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "How often each use case was run, how it ended, and with which errors.")

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        @Option(help: ArgumentHelp("The length of the steps of the small chart, at least 1m.", valueName: "time"))
        var every = StepArgument(.seconds(86_400))

        func validate() throws {
            guard every.length >= .seconds(60) else { throw ValidationError("--every is at least 1m.") }
        }

        func question() -> AnyQuestion { .summary(SummaryQuestion(step: every.length)) }
    }

    struct DurationBetween: AskCommand {
        static let configuration = CommandConfiguration(
            commandName: AnyQuestion.Word.duration.rawValue,
            abstract: "How long it takes, in all or from one event to another.")

        @OptionGroup var options: AskOptions

        @Option(help: ArgumentHelp("Where it starts.", valueName: "event"))
        var from = PointArgument(.begun)

        @Option(help: ArgumentHelp("Where it ends.", valueName: "event"))
        var to = PointArgument(.finished)

        @Flag(help: "Of an event that comes several times, take the last rather than the first.")
        var last = false

        @Option(help: ArgumentHelp("Tell transactions apart by this.", valueName: "segment"))
        var by: SegmentArgument?

        func question() -> AnyQuestion {
            .duration(
                DurationQuestion(
                    filter: TransactionFilter(), from: from.point, to: to.point, occurrence: last ? .last : .first,
                    segmentation: by?.segmentation))
        }
    }

    struct Measure: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "What a numeric attribute looks like: its percentiles, in all or by version.")

        @OptionGroup var options: AskOptions

        @Option(help: ArgumentHelp("The attribute's name.", valueName: "attribute"))
        var of: String

        @Option(help: ArgumentHelp("Tell transactions apart by this.", valueName: "segment"))
        var by: SegmentArgument?

        func question() -> AnyQuestion {
            .measure(MeasureQuestion(attribute: of, segmentation: by?.segmentation))
        }
    }

    struct Transitions: AskCommand {
        static let configuration = CommandConfiguration(abstract: "How long it takes from each event to the next.")

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        func question() -> AnyQuestion { .transitions(TransitionsQuestion(filter: TransactionFilter())) }
    }

    struct Funnel: AskCommand {
        static let configuration = CommandConfiguration(abstract: "How many get how far, step by step.")

        @OptionGroup var options: AskOptions

        @Option(
            help: ArgumentHelp("The events in order, separated by commas, e.g. '^,requestSent,$'.", valueName: "events")
        )
        var steps: String

        @Option(help: ArgumentHelp("The longest that it may take from the first step to any other.", valueName: "time"))
        var within: StepArgument?

        @Flag(help: "No other event may lie between two steps.")
        var strict = false

        @Option(help: ArgumentHelp("Tell transactions apart by this.", valueName: "segment"))
        var by: SegmentArgument?

        func question() -> AnyQuestion {
            .funnel(
                FunnelQuestion(
                    filter: TransactionFilter(),
                    steps: steps.split(separator: ",").map { TransactionPoint(String($0)) },
                    window: within?.length, isStrict: strict, segmentation: by?.segmentation))
        }
    }

    struct DropOff: AskCommand {
        static let configuration = CommandConfiguration(
            commandName: AnyQuestion.Word.dropOff.rawValue, abstract: "What those did last who did not finish.",
            discussion: "Those are the abandoned, interrupted and timed out, unless --outcome says others.")

        @OptionGroup var options: AskOptions

        @OptionGroup var noSegment: NoSegment

        func question() -> AnyQuestion { .dropOff(DropOffQuestion(filter: TransactionFilter())) }
    }

    struct Legs: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Where the time goes: client, network, server.",
            discussion:
                "Of each closed transaction with a request, all of its time is divided; clocks that differ are taken into account."
        )

        @OptionGroup var options: AskOptions

        @Option(help: ArgumentHelp("Tell transactions apart by this.", valueName: "segment"))
        var by: SegmentArgument?

        func question() -> AnyQuestion {
            .legs(LegsQuestion(filter: TransactionFilter(), segmentation: by?.segmentation))
        }
    }

    struct Network: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Which requests are made, how they end, and how long they take.",
            discussion: """
                IDs in paths are folded. --use-case and --outcome are those of a request's transaction, the times are when it was opened, and --text \
                is found in its method, URL, header fields, error or kept bodies; a FILTER is about exchanges, as that of waybill list --network. The \
                codes of the slowest and the failing go to waybill show.
                """)

        @OptionGroup var options: AskOptions

        @OptionGroup var exchanges: ExchangeOptions

        @Option(help: "What goes together: \(GroupingArgument.allCases.map(\.rawValue).joined(separator: ", ")).")
        var by = GroupingArgument.path

        func question() -> AnyQuestion { .network(NetworkQuestion(grouping: by.grouping)) }

        var request: ListRequest { exchanges.added(to: options.request) }

        static var subject: ListRequest.Subject { .exchanges }
    }
}

extension Ask {
    struct Compare: AskCommand {
        static let configuration = CommandConfiguration(
            abstract: "Whether one group of transactions does better than another, or whether it is noise.",
            discussion: """
                With --by the groups are those with the values --a and --b; an empty one stands for those that have none. Without it they are those \
                begun in two stretches of time, as 48h..24h and 24h..0h, or 2026-03-01..2026-03-02.
                """)

        @OptionGroup var options: AskOptions

        @Option(help: ArgumentHelp("What sets the groups apart.", valueName: "segment"))
        var by: SegmentArgument?

        @Option(help: ArgumentHelp("What is compared with.", valueName: "value"))
        var a: String

        @Option(help: ArgumentHelp("What is compared.", valueName: "value"))
        var b: String

        @Option(help: ArgumentHelp("Where the duration starts.", valueName: "event"))
        var from = PointArgument(.begun)

        @Option(help: ArgumentHelp("Where the duration ends.", valueName: "event"))
        var to = PointArgument(.finished)

        @Flag(help: "Of an event that comes several times, take the last rather than the first.")
        var last = false

        func validate() throws { _ = try groups(now: 0) }

        func question() throws -> AnyQuestion {
            .compare(
                CompareQuestion(
                    filter: TransactionFilter(), groups: try groups(now: CommandClock.current.wallMicroseconds()),
                    from: from.point,
                    to: to.point, occurrence: last ? .last : .first))
        }

        private func groups(now: Int64) throws -> CompareQuestion.Groups {
            if let by { return .values(of: by.segmentation, a.isEmpty ? nil : a, b.isEmpty ? nil : b) }
            return .windows(try Self.window(a, now: now), try Self.window(b, now: now))
        }

        private static func window(_ text: String, now: Int64) throws -> Range<Date> {
            guard let window = TimeExpression.window(text, now: now) else {
                throw ValidationError(
                    "“\(text)” is no stretch of time, as 48h..24h; or say with --by what has this value.")
            }
            return Range(microseconds: window)
        }
    }
}
#endif
